/**
 * Fast path: decodes and encodes ordinary changes of contacts in a tenth of the schema's time. Everything else is left to
 * the schema, such as null for what is not given; a property test proves that both agree. (docs/decisions/performance.md)
 */
import { ConsentTracking, ContactRecord, ContactStatus } from "./ContactRecord.ts"
import {
  address,
  type FastCodec,
  oneOf,
  open,
  plain,
  readDateOrNull,
  refuse,
  text,
  textList,
  uniqueTexts,
  uniqueTextsOrNull,
  writeDateOrNull
} from "./FastContactCodec.ts"

type Part = (value: unknown) => unknown

const orNull =
  (part: Part): Part =>
  (value) =>
    value === null ? null : part(value)

type Values = Record<string, unknown>

/** A field of a record by its name in code: what reads it, and what writes it if that is another. */
type Field = readonly [decode: Part, encode?: Part]

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** The optional fields of a record, which has no other names in code but those that are not written. */
const record = (
  fields: { readonly [name: string]: Field },
  wireOf = capital,
  notWritten: ReadonlyArray<string> = []
) => {
  const parts = Object.entries(fields).map(([name, [decode, encode = decode]]) => ({
    name,
    wire: wireOf(name),
    decode,
    encode
  }))
  const names = new Set([...notWritten, ...Object.keys(fields)])
  const decode = (value: unknown) => {
    const from = plain<Values>(value)
    const to: Values = {}
    for (const { decode, name, wire } of parts) if (from[wire] !== undefined) to[name] = decode(from[wire])
    return to
  }
  const encode = (value: unknown) => {
    const from = plain<Values>(value, names)
    const to: Values = {}
    for (const { encode, name, wire } of parts) if (from[name] !== undefined) to[wire] = encode(from[name])
    return to
  }
  return [decode, encode] as const
}

/** The consent of a contact and of a write, as far as they are alike. */
const consent = record(
  {
    ip: [text],
    date: [readDateOrNull, writeDateOrNull],
    tracking: [oneOf(ConsentTracking.literals)]
  },
  (name) => `Consent${name === "ip" ? "IP" : capital(name)}`
)

const content = record(
  { status: [open, text], firstName: [text], lastName: [text], customFields: [uniqueTexts], consent },
  capital,
  Object.keys(ContactRecord.to.fields)
)

const write = record({
  status: [oneOf(ContactStatus.literals)],
  firstName: [orNull(text)],
  lastName: [orNull(text)],
  customFields: [uniqueTextsOrNull],
  consent,
  addToLists: [textList],
  removeFromLists: [textList],
  resubscribe: [(value) => (typeof value === "boolean" ? value : refuse())]
})

const [decode, encode] = record({
  email: [address],
  seen: [orNull(content[0]), orNull(content[1])],
  write,
  delete: [(value) => (value === true ? value : refuse())]
})

/** Leaves a change that is none to the schema, which says why: it has an address, what was seen, and one thing to do. */
const whole =
  (part: (value: unknown) => Values): Part =>
  (value) => {
    const made = part(value)
    const names = Object.keys(made)
    return names.length === 3 && names[1]?.toLowerCase() === "seen" ? made : refuse()
  }

/** The fast path of `ContactChange`. */
export const changeCodec: FastCodec = { decode: whole(decode), encode: whole(encode) }
