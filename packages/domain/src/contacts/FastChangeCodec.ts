/**
 * Fast path: decodes and encodes ordinary changes of contacts in a tenth of the schema's time. Everything else is left to
 * the schema; a property test proves that both agree. (docs/decisions/performance.md)
 */
import { Predicate } from "effect"
import { ConsentTracking, ContactRecord, ContactStatus } from "./ContactRecord.ts"
import {
  address,
  type FastCodec,
  fieldsOf,
  oneOf,
  open,
  plain,
  readDate,
  readDateOrNull,
  refuse,
  text,
  textList,
  uniqueTexts,
  uniqueTextsOrNull,
  writeDate,
  writeDateOrNull
} from "./FastContactCodec.ts"

type Part = (value: unknown) => unknown

interface Field {
  /** Its name in code, and on the wire. */
  readonly name: string
  readonly wire: string
  readonly read: Part
  readonly write: Part
  /** Whether null on the wire means that it is not given. */
  readonly dropsNull: boolean
}

const exact = (name: string, wire: string, read: Part, write: Part = read): Field => ({
  name,
  wire,
  read,
  write,
  dropsNull: false
})

/** A field as `requestField` has it, and one as `nullableRequestField` has it. */
const given = (name: string, wire: string, read: Part, write: Part = read): Field => ({
  ...exact(name, wire, read, write),
  dropsNull: true
})
const nullable = (name: string, wire: string, read: Part, write: Part = read): Field =>
  exact(
    name,
    wire,
    (value) => (value === null ? null : read(value)),
    (value) => (value === null ? null : write(value))
  )

/** The optional fields of a record; in code it has no other names but these, if they are given. */
const record = (fields: ReadonlyArray<Field>, others?: ReadonlyArray<string>) => {
  const names = others && new Set([...others, ...fields.map(({ name }) => name)])
  return {
    decode: (value: unknown) => {
      const from = plain<Record<string, unknown>>(value)
      const to: Record<string, unknown> = {}
      for (const { dropsNull, name, read, wire } of fields) {
        const given = from[wire]
        if (given !== undefined && !(dropsNull && given === null)) to[name] = read(given)
      }
      return to
    },
    encode: (value: unknown) => {
      const from = names === undefined ? plain<Record<string, unknown>>(value) : fieldsOf(value, names)
      const to: Record<string, unknown> = {}
      for (const { name, wire, write } of fields) {
        const given = from[name]
        if (given !== undefined) to[wire] = write(given)
      }
      return to
    }
  } satisfies FastCodec
}

const consent = record([
  exact("ip", "ConsentIP", text),
  exact("date", "ConsentDate", readDateOrNull, writeDateOrNull),
  exact("tracking", "ConsentTracking", open, text)
])

const content = record(
  [
    given("status", "Status", open, text),
    given("firstName", "FirstName", text),
    given("lastName", "LastName", text),
    given("customFields", "CustomFields", uniqueTexts),
    given("consent", "Consent", consent.decode, consent.encode)
  ],
  Object.keys(ContactRecord.to.fields)
)

const writtenConsent = record(
  [
    nullable("ip", "ConsentIP", text),
    nullable("date", "ConsentDate", readDate, writeDate),
    nullable("tracking", "ConsentTracking", oneOf(ConsentTracking.literals))
  ],
  []
)

const write = record(
  [
    given("status", "Status", oneOf(ContactStatus.literals)),
    nullable("firstName", "FirstName", text),
    nullable("lastName", "LastName", text),
    given("customFields", "CustomFields", uniqueTextsOrNull),
    nullable("consent", "Consent", writtenConsent.decode, writtenConsent.encode),
    given("addToLists", "AddToLists", textList),
    given("removeFromLists", "RemoveFromLists", textList),
    given("resubscribe", "Resubscribe", (value) => (Predicate.isBoolean(value) ? value : refuse()))
  ],
  []
)

const isTrue: Part = (value) => (value === true ? value : refuse())

const change = record(
  [
    exact("email", "Email", address),
    nullable("seen", "Seen", content.decode, content.encode),
    given("write", "Write", write.decode, write.encode),
    given("delete", "Delete", isTrue)
  ],
  []
)

/** Leaves a change that is none to the schema, which says why. */
const whole =
  (part: Part, email: string, seen: string): Part =>
  (value) => {
    const made = part(value)
    return Predicate.hasProperty(made, email) && Predicate.hasProperty(made, seen) && Object.keys(made).length === 3
      ? made
      : refuse()
  }

/** The fast path of `ContactChange`. */
export const changeCodec: FastCodec = {
  decode: whole(change.decode, "email", "seen"),
  encode: whole(change.encode, "Email", "Seen")
}
