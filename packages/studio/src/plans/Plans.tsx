/** What a person is about to do to contacts, and what was done, on whatever view. */
import { wanted } from "../contacts/ContactSelection.ts"
import { useAtom } from "../kit/Atoms.tsx"
import { PlanDialog } from "./PlanDialog.tsx"
import { PlanResult } from "./PlanResult.tsx"

export const Plans = () => {
  const [begun, want] = useAtom(wanted)
  return (
    <>
      <PlanResult />
      {begun === undefined ? null : <PlanDialog begun={begun} onClose={() => want(undefined)} />}
    </>
  )
}
