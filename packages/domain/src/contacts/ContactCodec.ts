/**
 * Fast path: one loop over the table of fields reads and writes the records of contacts, of those to add and of changes, in
 * a fraction of the schema's time. Everything else is left to the schema, such as null for what is not given in a change; a
 * property test proves that both agree. (docs/decisions/performance.md)
 */
import { withheldStatuses } from "../values/AddMode.ts"
import type { RecordField } from "./ContactField.ts"
import { everyField, nameInCode } from "./ContactFields.ts"
import { ContactRecord } from "./ContactRecord.ts"
import {
  address,
  count,
  type FastCodec,
  makeEmptyRecord,
  oneOf,
  open,
  orNull,
  plain,
  readDate,
  refuse,
  text,
  textList,
  texts,
  uniqueTexts,
  uniqueTextsOrNull,
  writeDate
} from "./FastContactCodec.ts"

type Values = Record<string, unknown>

/** A field of a record, or a record in it: its names, and what reads and writes its value. */
interface Part extends FastCodec {
  readonly name: string
  readonly wire: string
  readonly isRequired: boolean
  /** Whether null on the wire is a value, and does not stand for a missing field. */
  readonly keepsNull: boolean
}

/** All parts have the same shape, which the loops are compiled for. */
const partOf = (
  wire: string,
  { decode, encode }: FastCodec,
  { isRequired = false, keepsNull = false, name = nameInCode(wire) } = {}
): Part => ({ name, wire, decode, encode, isRequired, keepsNull })

/** A record of parts; `names` are all that it may have in code. */
const record = (parts: ReadonlyArray<Part>, names?: ReadonlySet<string>) => {
  const emptyValue = makeEmptyRecord()
  const emptyWire = makeEmptyRecord()
  const decode = (value: unknown) => {
    const from = plain<Values>(value)
    const to = emptyValue()
    for (const part of parts) {
      const value = from[part.wire]
      if ((value === undefined || (value === null && !part.keepsNull)) && !part.isRequired) continue
      to[part.name] = part.decode(value)
    }
    return to
  }
  const encode = (value: unknown) => {
    const from = plain<Values>(value, names)
    const to = emptyWire()
    for (const part of parts) {
      const value = from[part.name]
      if (value !== undefined || part.isRequired) to[part.wire] = part.encode(value)
    }
    return to
  }
  return { decode, encode }
}

const same = (part: FastCodec["decode"]): FastCodec => ({ decode: part, encode: part })
const nullable = ({ decode, encode }: FastCodec): FastCodec => ({ decode: orNull(decode), encode: orNull(encode) })

/** What a record says of fields. */
interface Form {
  readonly fields: ReadonlyArray<RecordField>
  readonly codecOf: (field: RecordField) => FastCodec
  readonly keepsNull: (field: RecordField) => boolean
  /** The names that the record may have in code, besides those of its fields, if it refuses others. */
  readonly others?: ReadonlyArray<string> | undefined
  /** Whether null is a value of a record in it. */
  readonly groupsKeepNull?: boolean
  /** The parts behind those of the fields. */
  readonly more?: ReadonlyArray<Part>
  /** Whether the records in it refuse other names too. */
  readonly areGroupsClosed?: boolean
}

const recordOf = ({ areGroupsClosed, codecOf, fields, groupsKeepNull, keepsNull, more = [], others }: Form) => {
  const parts: Array<Part> = []
  const groups = new Map<string, Array<Part>>()
  for (const field of fields) {
    const { group, name, wire } = field
    const codec = codecOf(field)
    const part = partOf(wire, keepsNull(field) ? nullable(codec) : codec, {
      name,
      isRequired: wire === "Email",
      keepsNull: keepsNull(field)
    })
    const inside = group === undefined ? parts : groups.get(group)
    if (inside !== undefined) inside.push(part)
    else if (group !== undefined) {
      const members = [part]
      groups.set(group, members)
      // The loop adds the other fields before the first record is read.
      const names = new Set(fields.flatMap((other) => (other.group === group ? [other.name] : [])))
      const codec = record(members, areGroupsClosed === true ? names : undefined)
      parts.push(
        partOf(group, groupsKeepNull === true ? nullable(codec) : codec, { keepsNull: groupsKeepNull === true })
      )
    }
  }
  parts.push(...more)
  return record(parts, others === undefined ? undefined : new Set([...parts.map(({ name }) => name), ...others]))
}

/** How a contact that is read holds a field: an enumeration has values that this version does not know. */
const read = (field: RecordField): FastCodec => {
  switch (field.kind) {
    case "text":
      return same(text)
    case "number":
      return same(count)
    case "date":
      return { decode: readDate, encode: writeDate }
    case "enumeration":
      return { decode: open, encode: text }
    case "texts":
      return same(texts)
  }
}

/** How a contact that is given holds a field. */
const inputCodec = (field: RecordField): FastCodec => {
  if (field.wire === "Email") return same(address)
  if (field.kind === "enumeration") return same(oneOf(field.values))
  return field.kind === "texts" ? same(uniqueTexts) : read(field)
}

const isNullable = (field: RecordField): boolean => field.isNullable === true

const added = everyField.filter(({ isAdded }) => isAdded)
const changed = added.filter(({ wire }) => wire !== "Email")

/** The fast path of `Contact`. */
export const contactCodec: FastCodec = recordOf({
  fields: everyField,
  codecOf: read,
  keepsNull: isNullable,
  more: [partOf("Lists", same(textList))]
})

/** The fast path of `ContactPayload`. */
export const payloadCodec: FastCodec = recordOf({
  fields: added,
  codecOf: inputCodec,
  keepsNull: isNullable,
  others: [],
  areGroupsClosed: true
})

const content = recordOf({
  fields: changed,
  codecOf: (field) => (field.kind === "texts" ? same(uniqueTexts) : read(field)),
  keepsNull: isNullable,
  others: Object.keys(ContactRecord.to.fields)
})

const liftedStatus = oneOf(withheldStatuses)

const write = recordOf({
  fields: changed,
  codecOf: (field) => (field.kind === "texts" ? same(uniqueTextsOrNull) : inputCodec(field)),
  // Null removes these.
  keepsNull: ({ group, kind }) => group !== undefined || kind === "text",
  others: [],
  groupsKeepNull: true,
  areGroupsClosed: true,
  more: [
    partOf("AddToLists", same(textList)),
    partOf("RemoveFromLists", same(textList)),
    partOf(
      "Resubscribe",
      same((value) =>
        Array.isArray(value) ? Array.from(value, liftedStatus) : typeof value === "boolean" ? value : refuse()
      )
    )
  ]
})

const change = record(
  [
    partOf("Email", same(address), { isRequired: true }),
    partOf("Seen", nullable(content), { isRequired: true, keepsNull: true }),
    partOf("Write", write),
    partOf(
      "Delete",
      same((value) => (value === true ? value : refuse()))
    )
  ],
  new Set(["email", "seen", "write", "delete"])
)

/** Leaves a change that is none to the schema, which says why: it has an address, what was seen, and one thing to do. */
const whole =
  (part: (value: unknown) => Values) =>
  (value: unknown): Values => {
    const record = part(value)
    return Object.keys(record).length === 3 ? record : refuse()
  }

/** The fast path of `ContactChange`. */
export const changeCodec: FastCodec = { decode: whole(change.decode), encode: whole(change.encode) }
