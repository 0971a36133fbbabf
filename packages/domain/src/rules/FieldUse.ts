/** Which fields contacts have, and what kinds of values, as rules compare them. (docs/decisions/reads.md) */
import { type DateTime, Schema, type Types } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import { allFields } from "../contacts/ContactFields.ts"
import { formatWireDate } from "../values/WireDate.ts"
import { wireRecord } from "../values/WireRecord.ts"
import { foldText, numberOf } from "./Rule.ts"
import { parseDate } from "./RuleDate.ts"

/** The use of a field by contacts. */
export class FieldUse extends Schema.Opaque<FieldUse>()(
  wireRecord({
    /** The name as the wire and exports have it; of a custom field in its first spelling. */
    name: Schema.String,
    /** Whether it is a custom field. */
    isCustom: Schema.Boolean,
    /** The number of contacts that have a value in it. */
    contacts: Schema.Int,
    /** The number of values that rules compare as numbers. */
    numbers: Schema.Int,
    /** The number of values that rules compare as dates. */
    dates: Schema.Int,
    /** The first different values, at most 3 of at most 100 characters. */
    examples: Schema.Array(Schema.String)
  }).annotate({ identifier: "FieldUse" })
) {}

/** The fields that contacts have. */
export class FieldsInUse extends Schema.Opaque<FieldsInUse>()(
  wireRecord({
    /** The number of contacts that were counted. */
    contacts: Schema.Int,
    /** Whether all contacts and fields were counted. Otherwise there are at least so many. */
    exact: Schema.Boolean,
    /** The fields of the record in its order, then custom ones by name. */
    fields: Schema.Array(FieldUse)
  }).annotate({ identifier: "FieldsInUse" })
) {}

/** The maximum number of custom fields that are counted. */
export const maximumFieldsInUse = 1000

const maximumExamples = 3
const longestExample = 100

/** The spellings whose field is remembered. */
const maximumSpellings = 10 * maximumFieldsInUse

const unused = (name: string, isCustom: boolean): Types.Mutable<FieldUse> & { examples: Array<string> } => ({
  name,
  isCustom,
  contacts: 0,
  numbers: 0,
  dates: 0,
  examples: []
})

/** The beginning of a value, as an example. */
export const exampleOf = (value: string): string =>
  Array.from(value.slice(0, 2 * longestExample))
    .slice(0, longestExample)
    .join("")

type Counted = ReturnType<typeof unused>

const note = (use: Counted, value: string | number | DateTime.Utc): void => {
  use.contacts++
  if (typeof value === "number" || (typeof value === "string" && numberOf(value) !== undefined)) use.numbers++
  else if (typeof value === "object" || parseDate(value) !== undefined) use.dates++
  if (use.examples.length === maximumExamples) return
  const example = exampleOf(typeof value === "object" ? formatWireDate(value) : String(value))
  if (!use.examples.includes(example)) use.examples.push(example)
}

/** Counts the fields of contacts, which are added one after the other. */
export const makeFieldCount = () => {
  const ofRecord = allFields.map(({ read, wire }) => ({ read, use: unused(wire, false) }))
  const custom = new Map<string, Counted>()
  const bySpelling = new Map<string, Counted>()
  let contacts = 0
  let isWhole = true

  const customUse = (name: string): Counted | undefined => {
    const known = bySpelling.get(name)
    if (known !== undefined) return known
    const folded = foldText(name)
    const use = custom.get(folded) ?? (custom.size < maximumFieldsInUse ? unused(name, true) : undefined)
    if (use === undefined) {
      isWhole = false
      return undefined
    }
    custom.set(folded, use)
    if (bySpelling.size < maximumSpellings) bySpelling.set(name, use)
    return use
  }

  return {
    add: (contact: Contact): void => {
      contacts++
      for (const { read, use } of ofRecord) {
        const value = read(contact) ?? ""
        if (value !== "") note(use, value)
      }
      for (const [name, value] of Object.entries(contact.customFields ?? {})) {
        const use = value === "" ? undefined : customUse(name)
        if (use !== undefined) note(use, value)
      }
    },
    /** The use of what was added; `isAll` says whether these are all contacts. */
    result: (isAll: boolean): FieldsInUse => ({
      contacts,
      exact: isAll && isWhole,
      fields: [
        ...ofRecord.map(({ use }) => use).filter((use) => use.contacts > 0),
        ...[...custom.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
      ]
    })
  }
}
