/** The form in which a person says what contacts get: a status, a place on a list, or a text in a field. */
import { ContactStatus } from "@roster/domain"
import { Schema } from "effect"
import { useState } from "preact/compat"
import { useAtomValue } from "../kit/Atoms.tsx"
import type { NewValue } from "../contacts/ContactSelection.ts"
import { ListName } from "../contacts/ListName.tsx"
import { NearField } from "../contacts/NearField.tsx"
import { Choices } from "../kit/Mark.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { planTexts } from "../texts/PlanTexts.ts"
import { fieldTitle, sharedTexts } from "../texts/SharedTexts.ts"

type Of<Field extends NewValue["field"]> = Extract<NewValue, { readonly field: Field }>

interface Props<Value extends NewValue> {
  readonly to: Value
  readonly onChange: (to: NewValue) => void
}

const isStatus = Schema.is(ContactStatus)

const StatusField = ({ onChange, to }: Props<Of<"status">>) => (
  <label>
    {planTexts.newStatus}
    <select
      value={to.value ?? ""}
      onChange={({ currentTarget: { value } }) =>
        isStatus(value) ? onChange({ ...to, value, resubscribe: false }) : undefined
      }
    >
      <option value="" disabled>
        {planTexts.chooseOne}
      </option>
      <Choices of={ContactStatus.literals} />
    </select>
  </label>
)

const places = [
  [true, planTexts.putOnList],
  [false, planTexts.takeOffList]
] as const

const ListFields = ({ onChange, to }: Props<Of<"list">>) => (
  <>
    <div className="kinds" role="radiogroup" aria-label={sharedTexts.whatToDo}>
      {places.map(([isOn, words]) => (
        <label key={words} className="choice">
          <input type="radio" name="place" checked={to.isOn === isOn} onChange={() => onChange({ ...to, isOn })} />
          {words}
        </label>
      ))}
    </div>
    <ListName
      label={sharedTexts.fieldsOfErrors.listName}
      isOn={to.isOn}
      list={to}
      onChange={(list) => onChange({ ...to, ...list })}
    />
  </>
)

/** The fields that every contact has, as the choice begins with them. */
const ownFields = {
  firstName: [fieldTitle("FirstName"), { field: "firstName", value: "" }],
  lastName: [fieldTitle("LastName"), { field: "lastName", value: "" }]
} as const satisfies Record<string, readonly [string, NewValue]>

const isOwnField = (text: string): text is keyof typeof ownFields => Object.hasOwn(ownFields, text)

/** How the choice calls a custom field in use, whatever its name is. */
const inUse = "used:"

const TextFields = ({ onChange, to }: Props<Of<"custom" | "firstName" | "lastName">>) => {
  const fieldsInUse = useAtomValue(AppliedRule.knownFields)
  const known = (fieldsInUse?.fields ?? []).flatMap(({ isCustom, name }) => (isCustom ? [name] : []))
  const [isNew, setNew] = useState(false)
  const choose = (chosen: string): void => {
    setNew(chosen === "new")
    onChange(
      isOwnField(chosen)
        ? { ...ownFields[chosen][1], value: to.value }
        : { field: "custom", name: chosen.startsWith(inUse) ? chosen.slice(inUse.length) : "", value: to.value }
    )
  }
  const isUnnamed = to.field === "custom" && to.name === ""
  return (
    <>
      <label>
        {sharedTexts.field}
        <select
          value={to.field !== "custom" ? to.field : isNew ? "new" : isUnnamed ? "" : `${inUse}${to.name}`}
          onChange={({ currentTarget: { value } }) => choose(value)}
        >
          {isUnnamed && !isNew ? <option value="">{sharedTexts.chooseField}</option> : null}
          {known.map((name) => (
            <option key={name} value={`${inUse}${name}`}>
              {name}
            </option>
          ))}
          {Object.entries(ownFields).map(([field, [title]]) => (
            <option key={field} value={field}>
              {title}
            </option>
          ))}
          <option value="new">{planTexts.newField}</option>
        </select>
      </label>
      {isNew && to.field === "custom" ? (
        <>
          <label>
            {planTexts.nameOfField}
            <input
              autoComplete="off"
              value={to.name}
              onChange={({ currentTarget }) => onChange({ ...to, name: currentTarget.value })}
            />
          </label>
          <NearField name={to.name} onTake={(name) => onChange({ ...to, name })} />
        </>
      ) : null}
      <label>
        {planTexts.newValue} <small>{planTexts.emptyRemoves}</small>
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
