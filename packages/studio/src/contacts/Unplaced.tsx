/** What a person is told of the contacts that the rule leaves out, since it cannot compare a value of theirs. */
import { unplacedText } from "@roster/domain/internal"
import { useAtomValue } from "../kit/Atoms.tsx"
import * as ContactAtoms from "./ContactAtoms.ts"

export const Unplaced = () => {
  const unplaced = useAtomValue(ContactAtoms.unplaced)
  return unplaced === undefined ? null : (
    <p className="note" role="status">
      {unplacedText(unplaced)}
    </p>
  )
}
