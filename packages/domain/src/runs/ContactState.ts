/**
 * The state of a contact as a flat record, whose fields are compared, recorded and brought back one by one: `Status`,
 * `CustomFields.city`, `Consent.ConsentIP`, `Lists.news`. What a contact does not have is no field.
 */
import { DateTime, Effect, Schema } from "effect"
import * as ContactFields from "../contacts/ContactFields.ts"
import { type ContactContent, contentOf, ContactWrite } from "../contacts/ContactWrite.ts"
import { type InvalidInput, invalidInput } from "../errors/InvalidInput.ts"
import * as FieldNames from "../values/FieldNames.ts"
import { formatWireDate } from "../values/WireDate.ts"

/** The value of a field. */
export const FieldValue = Schema.Union([Schema.String, Schema.Finite])
export type FieldValue = typeof FieldValue.Type

/** The fields of a contact by their names. */
export const ContactState = Schema.Record(Schema.String, FieldValue)
export interface ContactState extends Schema.Schema.Type<typeof ContactState> {}

/** The fields in which two states differ: the old value and the new one, `null` where there is none. */
export const FieldChanges = Schema.Record(
  Schema.String,
  Schema.Tuple([Schema.NullOr(FieldValue), Schema.NullOr(FieldValue)])
)
export interface FieldChanges extends Schema.Schema.Type<typeof FieldChanges> {}

type Fields = Record<string, FieldValue>

const customField = "CustomFields."
const list = "Lists."

const metadataFields = ContactFields.allFields.filter(({ isAdded }) => isAdded !== true)
const metadata = new Set(["Id", ...metadataFields.map(({ path }) => path)])

/** Whether a field is metadata: the id, dates, the source and activity, which records of version 1 may have. */
export const isMetadata = (field: string): boolean => metadata.has(field)

/** Puts the fields that a contact has. */
const put = (to: Fields, contact: ContactContent & { readonly email: string }): void => {
  for (const { path, read } of ContactFields.addedFields) {
    const value = read(contact) ?? undefined
    if (value !== undefined) to[path] = DateTime.isDateTime(value) ? formatWireDate(value) : value
  }
  for (const [name, value] of Object.entries(contact.customFields ?? {})) to[customField + name] = value
}

/** The name of a field: that of a list is folded, since a list may be written in another spelling than it has. */
export const folded = (field: string): string =>
  field.startsWith(list) ? list + FieldNames.foldName(field.slice(list.length)) : field

/**
 * The state of a contact, on the lists that are known. What a run takes away is recorded with the names of lists as they are `spelled`, which an
 * undo needs to make them again.
 */
export const stateOf = (
  email: string,
  content: ContactContent,
  lists: ReadonlyArray<string> = [],
  { spelled = false }: { readonly spelled?: boolean } = {}
): ContactState => {
  const fields: Fields = {}
  // One form for equal contents, so that digests are equal too.
  put(fields, { ...contentOf(content), email })
  for (const name of lists) fields[folded(list + name)] = spelled ? name : ""
  return fields
}

const readWrite = Schema.decodeUnknownEffect(ContactWrite)

/**
 * The write that gives these fields their values, `null` for none. Fails for what only another service may hold, and
 * leaves out metadata.
 */
export const writeOf = (
  fields: { readonly [field: string]: FieldValue | null },
  options: Pick<ContactWrite, "resubscribe"> = {}
): Effect.Effect<ContactWrite, InvalidInput> => {
  const given = Object.entries(fields)
  const wire = ContactFields.wireRecordOf(
    given.filter(([field]) => field !== "Email" && !field.startsWith(list) && !isMetadata(field))
  )
  const lists = (isOn: boolean) =>
    given.flatMap(([field, value]) => (isList(field) && (value !== null) === isOn ? [listNameOf(field, value)] : []))
  const [on, off] = [lists(true), lists(false)]
  return Effect.mapBoth(readWrite(wire), {
    onFailure: (error) => invalidInput(error),
    onSuccess: (write) => ({
      ...write,
      ...options,
      ...(on.length === 0 ? {} : { addToLists: on }),
      ...(off.length === 0 ? {} : { removeFromLists: off })
    })
  })
}

/** Whether a field is a list that the contact is on. */
export const isList = (field: string): boolean => field.startsWith(list)

/** The name of a list: as it was spelled, if that was recorded. */
const listNameOf = (field: string, value: FieldValue | null): string =>
  typeof value === "string" && folded(list + value) === folded(field) ? value : field.slice(list.length)

/** Whether a field has the same value in two states: on a list is on a list, however that is spelled. */
export const isSame = (field: string, one: FieldValue | null, other: FieldValue | null): boolean =>
  isList(field) ? (one === null) === (other === null) : one === other

/** The address of a state. */
export const emailOf = (state: ContactState): string => String(state["Email"] ?? "")

/** The fields in which two states differ. */
export const changesOf = (before: ContactState, after: ContactState): FieldChanges => {
  const changes: Record<string, [FieldValue | null, FieldValue | null]> = {}
  for (const field in after) {
    const old = before[field]
    const value = after[field]
    if (value !== undefined && !isSame(field, old ?? null, value)) changes[field] = [old ?? null, value]
  }
  for (const field in before) {
    const value = before[field]
    if (value !== undefined && after[field] === undefined) changes[field] = [value, null]
  }
  return changes
}

/** The names of the fields of a state, in order. Contacts that come together have the same ones. */
const makeOrder = (isCounted: (field: string) => boolean) => {
  let last: ReadonlyArray<string> = []
  let order: ReadonlyArray<string> = []
  return (state: ContactState): ReadonlyArray<string> => {
    const fields = Object.keys(state)
    if (fields.length !== last.length || fields.some((field, index) => field !== last[index])) {
      last = fields
      order = fields.filter(isCounted).sort()
    }
    return order
  }
}

/** Mixes numbers into two of 32 bits, as in MurmurHash3: for finding changes, not for secrets. */
export const makeMixer = () => {
  // Of 32 bits from the start: a larger number would make both of them floating.
  let h1 = 0xdeadbeef | 0
  let h2 = 0x41c6ce57
  return {
    add: (unit: number): void => {
      h1 = Math.imul(h1 ^ unit, 2654435761)
      h2 = Math.imul(h2 ^ unit, 1597334677)
    },
    value: (): string => {
      const one = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909)
      const other = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909)
      return (one >>> 0).toString(36) + (other >>> 0).toString(36).padStart(7, "0")
    }
  }
}

/** The end of a text, to which no UTF-16 unit is equal. */
const endOfText = 0x10000

const digest = (state: ContactState, fields: ReadonlyArray<string>): string => {
  const { add, value } = makeMixer()
  for (const field of fields) {
    for (const text of [field, isList(field) ? "" : String(state[field])]) {
      for (let index = 0; index < text.length; index++) add(text.charCodeAt(index))
      add(endOfText)
    }
  }
  return value()
}

const orderOfContent = makeOrder((field) => !isMetadata(field))

/** Whether a digest is that of a state; one of an earlier version has the names of these lists as they are spelled. */
export const isDigestOf = (
  recorded: string | undefined,
  state: ContactState,
  lists: ReadonlyArray<string> = []
): boolean => {
  if (digestOf(state) === recorded) return true
  const others = Object.entries(state).filter(([field]) => !isList(field))
  const spelled = [...others, ...lists.map((name) => [list + name, ""] as const)]
  return lists.length > 0 && digestOf(Object.fromEntries(spelled)) === recorded
}

/** A short text that two states share only if their content and lists are the same, but for one case in 10¹⁹. */
export const digestOf = (state: ContactState | undefined): string =>
  state === undefined ? "" : digest(state, orderOfContent(state))

/** The length of the digest of one field. */
const partLength = 6

/** Half of the mixer: an import makes a digest of each field, and each takes a third of the time so. */
const mix = (hash: number, text: string): number => {
  let mixed = hash
  for (let index = 0; index < text.length; index++) mixed = Math.imul(mixed ^ text.charCodeAt(index), 2654435761)
  return Math.imul(mixed ^ endOfText, 2654435761)
}

const partOf = (field: string, value: FieldValue): string => {
  let hash = mix(mix(0xdeadbeef | 0, field), `${value}`)
  hash = Math.imul(hash ^ (hash >>> 16), 2246822507)
  hash = Math.imul(hash ^ (hash >>> 13), 3266489909)
  return ((hash ^ (hash >>> 16)) >>> 1).toString(36).padStart(partLength, "0")
}

/** The digest of the date on which a contact was added, by the second. */
const addedPart = (date: DateTime.Utc): string => partOf("DateAdded", Math.floor(DateTime.toEpochMillis(date) / 1000))

const isAmong = (parts: string, part: string): boolean => {
  for (let place = parts.indexOf(part); place !== -1; place = parts.indexOf(part, place + 1)) {
    if (place % partLength === 0) return true
  }
  return false
}

/**
 * The digests of the fields of a new contact one after the other, and of the date of its adding if that is known, by which an undo
 * tells what of the contact it still has from the run. The address is none of them.
 */
export const partsOf = (state: ContactState, dateAdded?: DateTime.Utc): string => {
  let parts = dateAdded === undefined ? "" : addedPart(dateAdded)
  for (const field in state) {
    const value = state[field]
    if (field !== "Email" && value !== undefined) parts += partOf(field, value)
  }
  return parts
}

/** Whether a new contact was added at that time. */
export const isAddedAt = (parts: string, date: DateTime.Utc): boolean => isAmong(parts, addedPart(date))

/** Whether a new contact had a value of a field: wrongly so for one value in 10⁹ that it did not have. */
export const hasPart = (parts: string, field: string, value: FieldValue): boolean =>
  isAmong(parts, partOf(field, value))
