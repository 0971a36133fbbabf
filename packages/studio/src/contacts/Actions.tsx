/** Who is chosen, and what can be done with them: a status, lists, a field, an export, their deletion. */
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Icon } from "../kit/Icon.tsx"
import { missing } from "../session/Rights.tsx"
import { contactTexts } from "../texts/ContactTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import * as ContactAtoms from "./ContactAtoms.ts"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { type NewValue, wanted } from "./ContactSelection.ts"

const changes = [
  { field: "status", value: undefined, resubscribe: false },
  { field: "list", name: "", isOn: true, isMeant: false },
  { field: "custom", name: "", value: "" }
] as const satisfies ReadonlyArray<NewValue>

const chosenWords = ({ emails, isAll }: ContactAtoms.Choice, count: number): string =>
  count === 0 ? "" : isAll && emails.size === 0 ? contactTexts.allChosen(count) : contactTexts.chosen(count)

/** Begins a contact, beside the heading of the contacts: what is done first there, unless there are none to be seen. */
export const AddContact = ({ isFirst }: { readonly isFirst: boolean }) => {
  const want = useAtomSet(wanted)
  const reason = useAtomValue(missing("ModifyContacts"))
  return (
    <button
      type="button"
      className={isFirst ? "primary" : ""}
      disabled={reason !== undefined}
      title={reason}
      onClick={() => want({ _tag: "Add", contact: { email: "", firstName: "", lastName: "" } })}
    >
      <Icon name="add" />
      {contactTexts.add}
    </button>
  )
}

/** Shows the chosen contacts alone, wherever they stand among the others. */
const ChosenAlone = () => {
  const { size } = useAtomValue(ContactAtoms.chosen)
  const [isOnly, setOnly] = useAtom(ContactAtoms.onlyChosen)
  return size === 0 ? null : (
    <label className="choice">
      <input type="checkbox" checked={isOnly} onChange={({ currentTarget }) => setOnly(currentTarget.checked)} />
      {contactTexts.chosenAlone}
    </label>
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
    <div className={count === 0 ? "bar" : "bar chosen"}>
      <span role="status">{chosenWords(choice, count)}</span>
      {total <= count ? null : (
        <button type="button" onClick={() => setChoice({ isAll: true, emails: new Set() })}>
          {contactTexts.chooseAll(total)}
        </button>
      )}
      {count === 0 ? null : (
        <>
          <button type="button" className="link" onClick={() => setChoice(ContactAtoms.noChoice)}>
            {contactTexts.chooseNone}
          </button>
          {changes.map((to) => (
            <button key={to.field} type="button" disabled={isFixed} onClick={() => want({ _tag: "Change", meant, to })}>
              {contactTexts.changes[to.field]}
            </button>
          ))}
          {mayNotExport === undefined ? (
            <a className="button" href={`#${AppliedRule.exportAddress(rule)}`}>
              <Icon name="export" />
              {sharedTexts.export}
            </a>
          ) : (
            <button type="button" disabled>
              <Icon name="export" />
              {sharedTexts.export}
            </button>
          )}
          <button type="button" className="danger" disabled={isFixed} onClick={() => want({ _tag: "Delete", meant })}>
            <Icon name="delete" />
            {sharedTexts.delete}
          </button>
          <ChosenAlone />
        </>
      )}
      {isFixed ? <span>{mayNotChange}</span> : null}
      {count > 0 && mayNotExport !== undefined ? <span>{mayNotExport}</span> : null}
    </div>
  )
}
