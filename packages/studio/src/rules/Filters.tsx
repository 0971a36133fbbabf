/** The conditions of the rule by clicks: each that is shown can be removed, and the usual ones are set without writing. */
import { ContactStatus, Rule } from "@roster/domain"
import { ContactFields, RuleDate, RuleFields, RuleFilters } from "@roster/domain/internal"
import { DateTime } from "effect"
import { type FormEvent, useId, useState } from "preact/compat"
import { useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { localDay, localTime } from "../texts/Language.ts"
import { ruleTexts } from "../texts/RuleTexts.ts"
import { fieldTitle, sharedTexts, shortened, statusWords, valueWords } from "../texts/SharedTexts.ts"
import * as AppliedRule from "./AppliedRule.ts"
import { dayOf, startOfDay } from "./LocalDays.ts"
import * as RuleDraft from "./RuleDraft.ts"

/** The name of a field of rules for people. */
const titleOf = ({ _tag, name }: Rule.Field): string =>
  _tag === "CustomField"
    ? name
    : fieldTitle(ContactFields.allFields.find(({ wire }) => wire.toLowerCase() === name)?.wire ?? name)

/** A value of a field for people. */
const textOf = ({ _tag, name }: Rule.Field, value: string): string =>
  value === "" ? ruleTexts.empty : _tag === "CustomField" ? value : valueWords(name, value)

/** A day or instant of a rule, as the reader has it. */
const sinceWords = (text: string): string => {
  const date = RuleDate.parseDate(text)
  if (date === undefined || date.precision === "day") return text
  const start = new Date(date.start)
  return start.getHours() + start.getMinutes() + start.getSeconds() === 0
    ? localDay(start)
    : localTime(DateTime.makeUnsafe(date.start))
}

/** What a condition says to people; one that no click sets says so as the text of a rule. */
const wordsOf = (condition: Rule.Condition): string => {
  const filter = RuleFilters.filterOf(condition)
  switch (filter?._tag) {
    case undefined:
      return Rule.printUnchecked(condition)
    case "Word":
      return ruleTexts.word(filter.word)
    case "Values":
      return ruleTexts.values(
        titleOf(filter.field),
        filter.values.map((value) => textOf(filter.field, value))
      )
    case "OnList":
      return filter.isOn ? sharedTexts.onList(filter.list) : ruleTexts.isNotOnList(filter.list)
    case "AddedSince":
      return ruleTexts.isAddedSince(sinceWords(filter.date))
  }
}

/** The conditions of the rule that is shown. One that is a choice between others has no part to remove. */
export const Conditions = () => {
  const conditions = useAtomValue(RuleDraft.conditions)
  const remove = useAtomSet(RuleDraft.removeCondition)
  const [only] = conditions
  const isTextAlone = conditions.length === 1 && only?._tag === "Or" && RuleFilters.filterOf(only) === undefined
  if (conditions.length === 0 || isTextAlone) return null
  return (
    <ul className="conditions" aria-label={ruleTexts.filters}>
      {conditions.map((condition, place) => {
        const words = shortened(wordsOf(condition))
        return (
          <li key={place}>
            <bdi>{words}</bdi>
            <button type="button" className="link" aria-label={ruleTexts.remove(words)} onClick={() => remove(place)}>
              ×
            </button>
          </li>
        )
      })}
    </ul>
  )
}

const status = Rule.recordField("status")

/** The values that the rule has for a field. */
const valuesIn = (conditions: ReadonlyArray<Rule.Condition>, field: Rule.Field): ReadonlyArray<string> =>
  conditions.flatMap((condition) => {
    const filter = RuleFilters.filterOf(condition)
    return filter?._tag === "Values" && filter.field._tag === field._tag && filter.field.name === field.name
      ? filter.values
      : []
  })

const Statuses = () => {
  const conditions = useAtomValue(RuleDraft.conditions)
  const set = useAtomSet(RuleDraft.setFilter)
  const values = valuesIn(conditions, status)
  const toggle = (value: string, isWanted: boolean): void =>
    set({
      _tag: "Values",
      field: status,
      values: isWanted ? [...values, value] : values.filter((other) => other !== value)
    })
  return (
    <fieldset>
      <legend>{fieldTitle("Status")}</legend>
      <div className="choices">
        {ContactStatus.literals.map((value) => (
          <label key={value} className="choice">
            <input
              type="checkbox"
              checked={values.includes(value)}
              onChange={({ currentTarget }) => toggle(value, currentTarget.checked)}
            />
            {statusWords(value)}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

const Lists = () => {
  const lists = useAtomValue(AppliedRule.knownLists)
  const set = useAtomSet(RuleDraft.setFilter)
  return lists.length === 0 ? null : (
    <label>
      {ruleTexts.onList}
      <select
        value=""
        onChange={({ currentTarget: { value } }) =>
          value === "" ? undefined : set({ _tag: "OnList", list: value, isOn: true })
        }
      >
        <option value="">{ruleTexts.chooseList}</option>
        {lists.map((list) => (
          <option key={list} value={list}>
            {list}
          </option>
        ))}
      </select>
    </label>
  )
}

const Added = () => {
  const conditions = useAtomValue(RuleDraft.conditions)
  const set = useAtomSet(RuleDraft.setFilter)
  const since = conditions.map(RuleFilters.filterOf).find((filter) => filter?._tag === "AddedSince")
  return (
    <label>
      {ruleTexts.addedSince}
      <input
        type="date"
        value={since?._tag === "AddedSince" ? dayOf(since.date) : ""}
        onChange={({ currentTarget: { value } }) => {
          const date = startOfDay(value)
          if (date !== undefined) set({ _tag: "AddedSince", date })
        }}
      />
    </label>
  )
}

/** The field of the record that has a name in files, if it has no filter of its own and values that a person types. */
const typedField = (name: string): Rule.Field | undefined => {
  const own = name.toLowerCase()
  if (!RuleFields.isRecordFieldName(own) || own === "email" || own === "status") return undefined
  const { kind } = RuleFields.recordFieldInfo(own)
  return kind === "text" || kind === "enumeration" ? Rule.recordField(own) : undefined
}

const Field = () => {
  const inUse = useAtomValue(AppliedRule.knownFields)
  const set = useAtomSet(RuleDraft.setFilter)
  const [name, setName] = useState("")
  const [value, setValue] = useState("")
  const list = useId()
  const fields = (inUse?.fields ?? []).flatMap(({ examples, isCustom, name }) => {
    const field = isCustom ? Rule.customField(name) : typedField(name)
    return field === undefined ? [] : [{ examples, field, name, title: titleOf(field) }]
  })
  const chosen = fields.find((field) => field.name === name)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (chosen === undefined) return
    set({ _tag: "Values", field: chosen.field, values: [value] })
    setValue("")
  }
  return (
    <form className="choices" onSubmit={submit}>
      <label>
        {sharedTexts.field}
        <select value={name} onChange={({ currentTarget }) => setName(currentTarget.value)}>
          <option value="">{sharedTexts.chooseField}</option>
          {fields.map((field) => (
            <option key={field.name} value={field.name}>
              {field.title}
            </option>
          ))}
        </select>
      </label>
      <label>
        {ruleTexts.itsValue}
        <input
          list={list}
          value={value}
          autoComplete="off"
          disabled={chosen === undefined}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
        />
        <datalist id={list}>
          {chosen?.examples.map((example) => (
            <option key={example} value={example} />
          ))}
        </datalist>
      </label>
      <button type="submit" disabled={chosen === undefined}>
        {value === "" && chosen !== undefined ? ruleTexts.showEmpty : ruleTexts.add}
      </button>
    </form>
  )
}

/** Sets filters by clicks. It is rendered once a person asks for them, since what there is to choose from costs a scan. */
export const FilterChoice = () => (
  <div className="filter-choices">
    <Statuses />
    <div className="choices">
      <Lists />
      <Added />
      <Field />
    </div>
  </div>
)
