/** Who is chosen, and what can be done with them: a status, lists, a field, an export, their deletion. */
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Icon } from "../kit/Icon.tsx"
import { missing } from "../session/Rights.tsx"
import * as ContactAtoms from "./ContactAtoms.ts"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { type NewValue, wanted } from "./ContactSelection.ts"

const changes = [
  ["Status…", { field: "status", value: undefined, resubscribe: false }],
  ["Lists…", { field: "list", name: "", isOn: true, isMeant: false }],
  ["Field…", { field: "custom", name: "", value: "" }]
] as const satisfies ReadonlyArray<readonly [string, NewValue]>

const chosenWords = ({ emails, isAll }: ContactAtoms.Choice, count: number): string =>
  count === 0
    ? ""
    : isAll && emails.size === 0
      ? `All ${count.toLocaleString()} chosen`
      : `${count.toLocaleString()} chosen`

/** Begins a contact, beside the heading of the contacts. */
export const AddContact = () => {
  const want = useAtomSet(wanted)
  const reason = useAtomValue(missing("ModifyContacts"))
  return (
    <button
      type="button"
      disabled={reason !== undefined}
      title={reason}
      onClick={() => want({ _tag: "Add", contact: { email: "", firstName: "", lastName: "" } })}
    >
      <Icon name="add" />
      Add a contact…
    </button>
  )
}

export const Actions = ({ rule, total }: { readonly rule: string; readonly total: number }) => {
  const [choice, setChoice] = useAtom(ContactAtoms.choice)
  const count = useAtomValue(ContactAtoms.numberChosen)
  const meant = useAtomValue(ContactAtoms.meant)
  const want = useAtomSet(wanted)
  const mayNotChange = useAtomValue(missing("ModifyContacts"))
  const mayNotExport = useAtomValue(missing("Export"))
  const isFixed = mayNotChange !== undefined
  return (
    <div className="bar">
      {total <= count ? null : (
        <button type="button" onClick={() => setChoice({ isAll: true, emails: new Set() })}>
          Choose all {total.toLocaleString()}
        </button>
      )}
      <span role="status">{chosenWords(choice, count)}</span>
      {count === 0 ? null : (
        <>
          <button type="button" className="quiet" onClick={() => setChoice(ContactAtoms.noChoice)}>
            Choose none
          </button>
          {changes.map(([title, to]) => (
            <button key={title} type="button" disabled={isFixed} onClick={() => want({ _tag: "Change", meant, to })}>
              {title}
            </button>
          ))}
          {mayNotExport === undefined ? (
            <a className="button" href={`#${AppliedRule.exportAddress(rule)}`}>
              <Icon name="export" />
              Export…
            </a>
          ) : (
            <button type="button" disabled>
              <Icon name="export" />
              Export…
            </button>
          )}
          <button type="button" className="danger" disabled={isFixed} onClick={() => want({ _tag: "Delete", meant })}>
            <Icon name="delete" />
            Delete…
          </button>
        </>
      )}
      {isFixed ? <span>{mayNotChange}</span> : null}
      {count > 0 && mayNotExport !== undefined ? <span>{mayNotExport}</span> : null}
    </div>
  )
}
