/** The name of a list that a person writes: one that is there, or a new one, of which a name that is nearly another's is asked about. */
import { useId } from "preact/compat"
import { useAtomValue } from "../kit/Atoms.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { listTexts } from "../texts/ListTexts.ts"
import { listQuestion, type NamedList } from "./ContactSelection.ts"
import { Near } from "./NearField.tsx"

export const ListName = ({
  isOn = true,
  label,
  list,
  onChange
}: {
  readonly label: string
  readonly list: NamedList
  readonly onChange: (list: NamedList) => void
  /** Whether contacts are put on it, so that it may be new (default: true). */
  readonly isOn?: boolean
}) => {
  const id = useId()
  const known = useAtomValue(AppliedRule.knownLists)
  const question = listQuestion(list, isOn, known)
  return (
    <>
      <label>
        {label}
        <input
          list={id}
          autoComplete="off"
          spellcheck={false}
          value={list.name}
          onChange={({ currentTarget }) => onChange({ name: currentTarget.value, isMeant: false })}
        />
        <datalist id={id}>
          {known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      {question._tag === "Near" ? (
        <Near near={question.near} onTake={(name) => onChange({ name, isMeant: false })} what={listTexts.near}>
          <button type="button" onClick={() => onChange({ ...list, isMeant: true })}>
            {listTexts.makeNew}
          </button>
        </Near>
      ) : null}
      {question._tag === "New" ? (
        <p className="note" role="status">
          {listTexts.makesNew}
        </p>
      ) : null}
      {question._tag === "Unknown" ? (
        <p className="note" role="status">
          {listTexts.noSuch}
        </p>
      ) : null}
    </>
  )
}
