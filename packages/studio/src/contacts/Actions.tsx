/** What can be done with the contacts that are chosen, or that the rule selects. */
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { missing } from "../session/Rights.tsx"
import * as ContactAtoms from "./ContactAtoms.ts"
import { type Meant, wanted } from "./ContactSelection.ts"

export const Actions = ({ rule, total }: { readonly rule: string; readonly total: number }) => {
  const [chosen, setChosen] = useAtom(ContactAtoms.chosen)
  const want = useAtomSet(wanted)
  const reason = useAtomValue(missing("ModifyContacts"))
  const isFixed = reason !== undefined
  const isByRule = chosen.size === 0
  const meant: Meant = isByRule ? { _tag: "ByRule", rule } : { _tag: "Chosen", emails: chosen }
  const of = isByRule ? ` all ${total.toLocaleString()}` : ""
  return (
    <>
      <button
        type="button"
        disabled={isFixed}
        onClick={() => want({ _tag: "Add", contact: { email: "", firstName: "", lastName: "" } })}
      >
        Add a contact…
      </button>
      {isByRule && (rule === "" || total === 0) ? null : (
        <>
          {isByRule ? null : <span aria-live="polite">{chosen.size.toLocaleString()} chosen</span>}
          <button
            type="button"
            disabled={isFixed}
            onClick={() => want({ _tag: "Change", meant, to: { field: "custom", name: "", value: "" } })}
          >
            Change{of}…
          </button>
          {isByRule ? (
            <a className="button" href="#export">
              Export{of}
            </a>
          ) : null}
          <button type="button" className="danger" disabled={isFixed} onClick={() => want({ _tag: "Delete", meant })}>
            Delete{of}…
          </button>
          {isByRule ? null : (
            <button type="button" onClick={() => setChosen(new Set<string>())}>
              Choose none
            </button>
          )}
        </>
      )}
      {isFixed ? <span>{reason}</span> : null}
    </>
  )
}
