/** The form in which a person says what contacts get: a status, a place on a list, or a text in a field. */
import { ContactStatus } from "@roster/domain"
import { Schema } from "effect"
import { useAtomValue } from "../kit/Atoms.tsx"
import type { NewValue } from "../contacts/ContactSelection.ts"
import { ListName } from "../contacts/ListName.tsx"
import { NearField } from "../contacts/NearField.tsx"
import { statusWords } from "../kit/Mark.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"

type Of<Field extends NewValue["field"]> = Extract<NewValue, { readonly field: Field }>

interface Props<Value extends NewValue> {
  readonly to: Value
  readonly onChange: (to: NewValue) => void
}

const isStatus = Schema.is(ContactStatus)

const StatusField = ({ onChange, to }: Props<Of<"status">>) => (
  <label>
    New status
    <select
      value={to.value}
      onChange={({ currentTarget: { value } }) =>
        isStatus(value) ? onChange({ ...to, value, resubscribe: false }) : undefined
      }
    >
      {ContactStatus.literals.map((status) => (
        <option key={status} value={status}>
          {statusWords(status)}
        </option>
      ))}
    </select>
  </label>
)

const places = [
  [true, "Put them on a list"],
  [false, "Take them off a list"]
] as const

const ListFields = ({ onChange, to }: Props<Of<"list">>) => (
  <>
    <div className="kinds" role="radiogroup" aria-label="What to do">
      {places.map(([isOn, words]) => (
        <label key={words} className="choice">
          <input type="radio" name="place" checked={to.isOn === isOn} onChange={() => onChange({ ...to, isOn })} />
          {words}
        </label>
      ))}
    </div>
    <ListName label="Name of the list" isOn={to.isOn} list={to} onChange={(list) => onChange({ ...to, ...list })} />
  </>
)

/** What a field begins with. */
const fields = {
  custom: ["a custom field", { field: "custom", name: "", value: "" }],
  firstName: ["First name", { field: "firstName", value: "" }],
  lastName: ["Last name", { field: "lastName", value: "" }]
} as const satisfies Record<string, readonly [string, NewValue]>

const isField = (text: string): text is keyof typeof fields => Object.hasOwn(fields, text)

const TextFields = ({ onChange, to }: Props<Of<"custom" | "firstName" | "lastName">>) => {
  const fieldsInUse = useAtomValue(AppliedRule.knownFields)
  return (
    <>
      <label>
        Field
        <select
          value={to.field}
          onChange={({ currentTarget: { value } }) => (isField(value) ? onChange(fields[value][1]) : undefined)}
        >
          {Object.entries(fields).map(([field, [title]]) => (
            <option key={field} value={field}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {to.field === "custom" ? (
        <>
          <label>
            Its name
            <input
              list="fields-in-use"
              autoComplete="off"
              value={to.name}
              onChange={({ currentTarget }) => onChange({ ...to, name: currentTarget.value })}
            />
            <datalist id="fields-in-use">
              {fieldsInUse?.fields.flatMap(({ isCustom, name }) =>
                isCustom ? [<option key={name} value={name} />] : []
              )}
            </datalist>
          </label>
          <NearField name={to.name} onTake={(name) => onChange({ ...to, name })} />
        </>
      ) : null}
      <label>
        New value; empty removes the field
        <input value={to.value} onChange={({ currentTarget }) => onChange({ ...to, value: currentTarget.value })} />
      </label>
    </>
  )
}

export const NewValueFields = ({ onChange, to }: Props<NewValue>) =>
  to.field === "status" ? (
    <StatusField to={to} onChange={onChange} />
  ) : to.field === "list" ? (
    <ListFields to={to} onChange={onChange} />
  ) : (
    <TextFields to={to} onChange={onChange} />
  )
