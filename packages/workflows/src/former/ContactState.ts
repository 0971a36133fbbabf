/**
 * The state of a contact as a flat record, whose fields are compared, recorded and brought back one by one: `Status`,
 * `CustomFields.city`, `Consent.ConsentIP`, `Lists.News`. What a contact does not have is no field.
 */
import {
  Contact,
  ContactFields,
  ContactPayload,
  FieldNames,
  formatWireDate,
  type InvalidInput,
  invalidInput,
  statusKept,
  type StoredContact
} from "@roster/domain"
import { DateTime, Effect, Schema } from "effect"

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
/** The id of a contact in its store. */
export const idField = "Id"

const metadataFields = ContactFields.allFields.filter(({ isAdded }) => isAdded !== true)
const metadata = new Set([idField, ...metadataFields.map(({ path }) => path)])

/**
 * Whether a field is metadata: the id, dates, the source and activity, which only a store in this process can bring
 * back.
 */
export const isMetadata = (field: string): boolean => metadata.has(field)

const settable = new Set(ContactFields.addedFields.filter(ContactFields.isOwn).map(({ path }) => path))

/** Whether an add sets a field, and to an empty text where there was none. */
export const isSettable = (field: string): boolean =>
  field !== "Email" && (settable.has(field) || field.startsWith(customField))

type Given = Omit<ContactPayload, "email"> & { readonly email?: string | undefined }

/** Puts these fields as far as a contact has them or an add gives them. */
const put = (to: Fields, fields: ReadonlyArray<ContactFields.ContactField>, contact: Given | Contact): void => {
  for (const { kind, path, read } of fields) {
    const value = read(contact) ?? undefined
    if (DateTime.isDateTime(value)) to[path] = formatWireDate(value)
    // A contact that a caller made may hold anything, and is refused by the service.
    else if (value !== undefined && kind !== "date") to[path] = value
  }
}

/** Puts the fields that a contact has or an add gives. */
const putContent = (to: Fields, contact: Given | Contact): void => {
  put(to, ContactFields.addedFields, contact)
  const { customFields } = contact
  for (const name in customFields) {
    const value = customFields[name] ?? undefined
    if (value !== undefined) to[customField + name] = value
  }
}

/** The state of a contact without metadata, on the lists that are known. */
export const contentOf = (contact: Contact, lists: ReadonlyArray<string> = []): ContactState => {
  const fields: Fields = {}
  putContent(fields, contact)
  for (const name of lists) fields[list + name] = ""
  return fields
}

/** The whole state of a contact in a store. */
export const stateOf = ({ contact, id, lists }: StoredContact): ContactState => {
  const fields: Fields = { [idField]: id }
  putContent(fields, contact)
  put(fields, metadataFields, contact)
  for (const name of lists) fields[list + name] = ""
  return fields
}

/** The wire form of a state, whose fields are nested again. */
const wireOf = (state: ContactState): Record<string, unknown> => ContactFields.wireRecordOf(Object.entries(state))

const decodeContact = Schema.decodeUnknownSync(Contact)
const readContact = Schema.decodeUnknownEffect(Contact)

/** The contact of a whole state, as a store writes it. */
export const storedOf = (state: ContactState): StoredContact => ({
  id: Number(state[idField] ?? 0),
  contact: decodeContact(wireOf(state)),
  lists: Object.keys(state).flatMap((field) => (field.startsWith(list) ? [field.slice(list.length)] : []))
})

/** The contact to add that brings back a state over the interface. Fails for what only another service may hold. */
export const payloadOf = (state: ContactState): Effect.Effect<ContactPayload, InvalidInput> =>
  Effect.flatMap(
    Effect.mapError(readContact(wireOf(state)), (error) => invalidInput(error)),
    ContactPayload.fromContact
  )

/** The address of a state. */
export const emailOf = (state: ContactState): string => String(state["Email"] ?? "")

/** Whether a state has all of these lists. */
export const onLists = (state: ContactState, names: ReadonlyArray<string>): boolean =>
  names.every((name) => state[list + name] !== undefined)

/** How a payload is merged. */
interface MergeOptions {
  /** The lists that the contact is put on; `undefined` where lists cannot be read. */
  readonly lists?: ReadonlyArray<string> | undefined
  /** Whether a contact that receives no mail may be made one that does. */
  readonly resubscribe?: boolean | undefined
}

/** The fields that a contact to add or a change gives. */
export const givenBy = (payload: Given): ContactState => {
  const fields: Fields = {}
  putContent(fields, payload)
  return fields
}

/** Merges given fields into a contact, or into none, and says whether they would resubscribe it. */
export const merged = (
  before: ContactState | undefined,
  given: ContactState,
  { lists = [], resubscribe = false }: MergeOptions = {}
): { readonly after: ContactState; readonly wouldResubscribe: boolean } => {
  const wouldResubscribe = statusKept(before?.["Status"], given["Status"]) !== undefined
  const after: Fields = before === undefined ? { Email: emailOf(given).trim(), Status: "Active" } : { ...before }
  const spelled = FieldNames.spellingsOf(after)
  for (const [name, value] of Object.entries(given)) {
    if (name === "Email") continue
    const field = name.startsWith(customField) ? spelled(name) : name
    // An empty text removes a custom field.
    if (value === "" && field.startsWith(customField)) delete after[field]
    else if (field !== "Status" || resubscribe || !wouldResubscribe) after[field] = value
  }
  for (const name of lists) after[list + name] = ""
  return { after, wouldResubscribe }
}

/** The fields in which two states differ. */
export const changesOf = (before: ContactState, after: ContactState): FieldChanges => {
  const changes: Record<string, [FieldValue | null, FieldValue | null]> = {}
  for (const field in after) {
    const old = before[field]
    const value = after[field]
    if (value !== undefined && old !== value) changes[field] = [old ?? null, value]
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

/** Two numbers of 32 bits from texts and their ends, as in MurmurHash3: for finding changes, not for secrets. */
const digest = (state: ContactState, fields: ReadonlyArray<string>): string => {
  // Of 32 bits from the start: a larger number would make both of them floating.
  let h1 = 0xdeadbeef | 0
  let h2 = 0x41c6ce57
  for (const field of fields) {
    for (let text = field, isValue = false; ; text = String(state[field]), isValue = true) {
      for (let index = 0; index <= text.length; index++) {
        // No UTF-16 unit is equal to the end.
        const unit = index < text.length ? text.charCodeAt(index) : 0x10000
        h1 = Math.imul(h1 ^ unit, 2654435761)
        h2 = Math.imul(h2 ^ unit, 1597334677)
      }
      if (isValue) break
    }
  }
  const one = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909)
  const other = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909)
  return (one >>> 0).toString(36) + (other >>> 0).toString(36).padStart(7, "0")
}

const orderOfAll = makeOrder(() => true)
const orderOfContent = makeOrder((field) => !isMetadata(field))

/** A short text that two states share only if they are the same, but for one case in 10¹⁹. */
export const digestOf = (state: ContactState): string => digest(state, orderOfAll(state))

/** The same without metadata; empty for no contact. */
export const contentDigestOf = (state: ContactState | undefined): string =>
  state === undefined ? "" : digest(state, orderOfContent(state))
