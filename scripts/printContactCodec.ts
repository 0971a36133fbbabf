/**
 * Writes the code that names every field of a contact, from the schemas of `ContactRecord`: `pnpm docs:contacts`. So no
 * field is forgotten, and each is read and written where it is named; a loop over a table takes 1.3 of the time.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { format } from "oxfmt"
import { columnName } from "../packages/domain/src/contacts/ContactField.ts"
import * as records from "../packages/domain/src/contacts/ContactRecord.ts"
import { type RecordField, type RecordShape, recordShape } from "./RecordShape.ts"

const contact = recordShape(records.ContactRecord)
const payload = recordShape(records.PayloadRecord)

type Lines = ReadonlyArray<string>

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
const quotedList = (texts: ReadonlyArray<string>): string => texts.map((text) => JSON.stringify(text)).join(", ")

/** The exported lists of values, each with its name. */
const lists = Object.entries(records).flatMap(([name, schema]) =>
  "literals" in schema ? [[name, quotedList(schema.literals)] as const] : []
)

const listOf = (values: ReadonlyArray<string>): string => {
  const [name] = lists.find(([, listed]) => listed === quotedList(values)) ?? []
  if (name === undefined) throw new Error(`Export the list of ${quotedList(values)} from ContactRecord.`)
  return name
}

// Fields that hold one value.

/** A field that holds one value, with the group that it is in, the record `Consent` or `Activity`. */
type Leaf = Exclude<RecordField, { readonly kind: "group" }> & { readonly group?: RecordField | undefined }

const leavesOf = ({ fields }: RecordShape, group?: RecordField): ReadonlyArray<Leaf> =>
  fields.flatMap((field) => (field.kind === "group" ? leavesOf(field.shape, field) : [{ ...field, group }]))

const leaves = leavesOf(contact)

/** The name of a field behind that of its group, as in `Consent.ConsentIP`. */
const pathOf = ({ group, wire }: Leaf): string => (group === undefined ? wire : `${group.wire}.${wire}`)

const columnOf = ({ wire }: Leaf): string => columnName(wire)

const camelColumnOf = (leaf: Leaf): string =>
  columnOf(leaf).replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

if (new Set(leaves.map(columnOf)).size < leaves.length) throw new Error("Two fields have one column.")

const pathsIn = (shape: RecordShape): ReadonlySet<string> => new Set(leavesOf(shape).map(pathOf))
const added = pathsIn(payload)

/** What a store writes for a field that no contact in it lacks. Every count is one, at first 0. */
const stored: Readonly<Record<string, string>> = {
  Status: `"Active"`,
  CustomFields: `"{}"`,
  Source: `"ContactApi"`,
  DateAdded: "0"
}

const defaultOf = (leaf: Leaf): string | undefined =>
  leaf.kind === "count" && !leaf.isNullable ? "0" : stored[pathOf(leaf)]

const isStored = (leaf: Leaf): boolean => !leaf.isOptional || defaultOf(leaf) !== undefined

// The codec: `ContactCodec.generated.ts`.

/** A record that functions read and write, itself or in another. */
interface Codec {
  /** The end of the names of its functions. */
  readonly title: string
  /** The type of the record in code, and on the wire. */
  readonly type: string
  readonly encoded: string
  readonly shape: RecordShape
}

const codecsOf = (title: string, type: string, shape: RecordShape): ReadonlyArray<Codec> => [
  ...shape.fields.flatMap((field) =>
    field.kind === "group"
      ? [
          {
            title: `${title}${capital(field.name)}`,
            type: `NonNullable<${type}["${field.name}"]>`,
            encoded: `NonNullable<typeof ${type}.Encoded["${field.wire}"]>`,
            shape: field.shape
          }
        ]
      : []
  ),
  { title, type, encoded: `typeof ${type}.Encoded`, shape }
]

/** The function that reads or writes the value of a field, or throws. */
const partOf = (verb: "read" | "write", title: string, field: RecordField): string => {
  const { isNullable, kind, name } = field
  if (kind === "group") return `${verb}${title}${capital(name)}`
  if (kind === "texts") return field.hasUniqueNames ? "uniqueTexts" : kind
  if (kind === "closed") return `one${listOf(field.values)}`
  // A value of an open list is written as it came.
  const part = kind === "date" ? `${verb}Date` : kind === "open" && verb === "write" ? "text" : kind
  return isNullable ? `${part}OrNull` : part
}

const readLines = ({ encoded, shape, title, type }: Codec): Lines => [
  `const read${title} = (wire: unknown) => {`,
  `const from = plain<${encoded}>(wire)`,
  `const to: Types.Mutable<${type}> = {`,
  ...shape.fields.flatMap((field) =>
    field.isOptional ? [] : [`${field.name}: ${partOf("read", title, field)}(from.${field.wire}),`]
  ),
  `}`,
  ...shape.fields.flatMap((field) => {
    const { dropsNull, isOptional, name, wire } = field
    const isGiven = `from.${wire} ${dropsNull ? "!= null" : "!== undefined"}`
    return isOptional ? [`if (${isGiven}) to.${name} = ${partOf("read", title, field)}(from.${wire})`] : []
  }),
  `return to`,
  `}`
]

const writeLines = ({ encoded, shape, title, type }: Codec): Lines => [
  ...(shape.isClosed ? [`const namesOf${title} = new Set([${quotedList(shape.fields.map(({ name }) => name))}])`] : []),
  `const write${title} = (value: unknown) => {`,
  `const from = plain<${type}>(value${shape.isClosed ? `, namesOf${title}` : ""})`,
  `const to: Types.Mutable<${encoded}> = {`,
  ...shape.fields.flatMap((field) =>
    field.isOptional ? [] : [`${field.wire}: ${partOf("write", title, field)}(from.${field.name}),`]
  ),
  `}`,
  ...shape.fields.flatMap((field) => {
    const { isOptional, name, wire } = field
    return isOptional
      ? [`if (from.${name} !== undefined) to.${wire} = ${partOf("write", title, field)}(from.${name})`]
      : []
  }),
  `return to`,
  `}`
]

const codec = (): Lines => {
  const codecs = [...codecsOf("Contact", "ContactRecord", contact), ...codecsOf("Payload", "PayloadRecord", payload)]
  const closed = new Set(
    codecs.flatMap(({ shape }) =>
      shape.fields.flatMap((field) => (field.kind === "closed" ? [listOf(field.values)] : []))
    )
  )
  const body = codecs.flatMap((codec) => ["", ...readLines(codec), "", ...writeLines(codec)])
  const called = new Set(Array.from(body.join("\n").matchAll(/[= ](\w+)\(from\./g), ([, name = ""]) => name))
  const own = body.filter((line) => line.startsWith("const ")).map((line) => line.split(" ")[1])
  const helpers = [...called].filter((name) => !own.includes(name) && !closed.has(name.slice(3)))
  return [
    `import type { Types } from "effect"`,
    `import { ${[...closed, "type ContactRecord", "type PayloadRecord"].join(", ")} } from "./ContactRecord.ts"`,
    `import { ${["type FastCodec", "oneOf", "plain", ...helpers].toSorted().join(", ")} } from "./FastContactCodec.ts"`,
    "",
    ...Array.from(closed, (name) => `const one${name} = oneOf(${name}.literals)`),
    ...body,
    "",
    "/** The fast path of `Contact`. */",
    "export const contactCodec: FastCodec = { decode: readContact, encode: writeContact }",
    "",
    "/** The fast path of `ContactPayload`. */",
    "export const payloadCodec: FastCodec = { decode: readPayload, encode: writePayload }"
  ]
}

// The JSON of a contact: `ContactJson.generated.ts`.

const jsonParts: Readonly<Record<Leaf["kind"], string>> = {
  text: "writeText",
  address: "writeText",
  open: "writeText",
  closed: "writeText",
  count: "writeNumber",
  date: "writeDate",
  texts: "writeTexts"
}

const jsonLines = ({ shape, title, type }: Codec): Lines => [
  `${title === "Contact" ? "/** Writes the JSON of a contact. */\nexport " : ""}const write${title} = (to: ` +
    `JsonBuffer, from: ${type}): void => {`,
  `const start = to.length`,
  ...shape.fields.flatMap((field) => {
    const { kind, name, wire } = field
    if (kind !== "group") return [`${jsonParts[kind]}(to, names.${wire}, from.${name})`]
    return [
      `if (from.${name} !== undefined) {`,
      `to.bytes(names.${wire})`,
      `write${title}${capital(name)}(to, from.${name})`,
      `}`
    ]
  }),
  `to.object(start)`,
  `}`
]

const json = (): Lines => {
  const codecs = codecsOf("Contact", "ContactRecord", contact)
  const names = codecs.flatMap(({ shape }) => shape.fields.map(({ wire }) => wire))
  return [
    `import { fieldName, type JsonBuffer, ${[...new Set(leaves.map(({ kind }) => jsonParts[kind]))].toSorted().join(", ")} } ` +
      `from "../values/JsonBuffer.ts"`,
    `import type { ContactRecord } from "./ContactRecord.ts"`,
    "",
    `const names = {`,
    ...names.map((name) => `${name}: fieldName("${name}"),`),
    `}`,
    ...codecs.flatMap((codec) => ["", ...jsonLines(codec)])
  ]
}

// The table of fields: `ContactFields.generated.ts`.

const ruleKinds = {
  text: "text",
  address: "text",
  count: "number",
  date: "date",
  open: "enumeration",
  closed: "enumeration"
}

const fields = (): Lines => [
  `import type { FieldEntry } from "./ContactField.ts"`,
  "import { " +
    `${[...new Set(leaves.flatMap((leaf) => ("values" in leaf ? [listOf(leaf.values)] : [])))].join(", ")} } ` +
    `from "./ContactRecord.ts"`,
  "",
  "/** Every stored field but the custom ones by its name in rules, in the order of the columns of an export. */",
  "export const contactFields = {",
  ...leaves.flatMap((leaf) => {
    const { group, kind, name, wire } = leaf
    if (kind === "texts") return []
    const path = pathOf(leaf)
    return [
      `${wire.toLowerCase()}: {`,
      `path: "${path}", kind: "${ruleKinds[kind]}",`,
      ...("values" in leaf ? [`values: ${listOf(leaf.values)}.literals,`] : []),
      ...(added.has(path) ? ["isAdded: true,"] : []),
      ...(isStored(leaf) ? ["isStored: true,"] : []),
      `read: (of) => of${group === undefined ? "" : `.${group.name}?`}.${name}`,
      `},`
    ]
  }),
  "} as const satisfies Readonly<Record<string, FieldEntry>>"
]

// A row of the table of contacts: `ContactRow.generated.ts`.

const rowTypes: Readonly<Record<Leaf["kind"], string>> = {
  text: "string",
  address: "string",
  open: "",
  closed: "",
  count: "number",
  date: "number",
  texts: "string"
}

const typeOf = ({ group, name }: Leaf): string =>
  group === undefined ? `Contact["${name}"]` : `NonNullable<Contact["${group.name}"]>["${name}"]`

const rowType = (leaf: Leaf): string => {
  const type = rowTypes[leaf.kind] || `NonNullable<${typeOf(leaf)}>`
  return `${camelColumnOf(leaf)}: ${type}${isStored(leaf) ? "" : " | null"}`
}

/** Whether a contact has the field even without a value: what a caller did not give is left out. */
const keepsNull = (leaf: Leaf): boolean => leaf.isNullable && !added.has(pathOf(leaf))

const valueOf = (leaf: Leaf): string => {
  const value = camelColumnOf(leaf)
  if (leaf.kind === "texts") return `JsonParser.parse(${value}) as CustomFields`
  return leaf.kind === "date" ? `${keepsNull(leaf) ? "nullableDate" : "sharedDate"}(${value})` : value
}

/** The lines that make a record: first the fields that every contact has, in one object, then the others in their order. */
const recordLines = (name: string, type: string, shape: RecordShape, group?: RecordField): Lines => {
  const leavesHere = new Map(
    shape.fields.flatMap((field) => (field.kind === "group" ? [] : [[field.name, { ...field, group }]]))
  )
  const isAlways = (field: RecordField): boolean => {
    const leaf = leavesHere.get(field.name)
    return leaf !== undefined && (isStored(leaf) || keepsNull(leaf))
  }
  const other = shape.fields.findIndex((field) => !isAlways(field))
  return [
    `const ${name}: Types.Mutable<${type}> = {`,
    ...shape.fields.slice(0, other).flatMap((field) => {
      const leaf = leavesHere.get(field.name)
      if (leaf === undefined) return []
      return [valueOf(leaf) === field.name ? `${field.name},` : `${field.name}: ${valueOf(leaf)},`]
    }),
    `}`,
    ...shape.fields.slice(other).flatMap((field) => {
      if (field.kind === "group") return groupLines(name, field, field.shape)
      const leaf = { ...field, group }
      const set = `${name}.${field.name} = ${valueOf(leaf)}`
      return [
        ...(field.kind === "texts" ? ["// This module wrote it: an object of texts."] : []),
        isAlways(field) ? set : `if (${camelColumnOf(leaf)} !== null) ${set}`
      ]
    })
  ]
}

const groupLines = (record: string, group: RecordField, shape: RecordShape): Lines => {
  const lines = [
    ...recordLines(group.name, `NonNullable<Contact["${group.name}"]>`, shape, group),
    `${record}.${group.name} = ${group.name}`
  ]
  const inside = leavesOf(shape, group)
  if (inside.some(isStored)) return lines
  // A group without a value is left out.
  return [`if (${inside.map((leaf) => `${camelColumnOf(leaf)} !== null`).join(" || ")}) {`, ...lines, "}"]
}

const row = (): Lines => [
  `import { type Contact, type CustomFields, JsonParser, type RuleFields } from "@roster/domain"`,
  `import type { Types } from "effect"`,
  `import { nullableDate, nullableSeconds, sharedDate } from "../store/StoreClock.ts"`,
  "",
  "/** The columns that make a contact, in the order of `ContactValues`. */",
  `export const contactColumns: ReadonlyArray<string> = ["id", ${quotedList(leaves.map(columnOf))}]`,
  "",
  "/** The values of `contactColumns`, which SQLite returns in half the time of an object. */",
  `type ContactValues = readonly [id: number, ${leaves.map(rowType).join(", ")}]`,
  "",
  "/**",
  " * Decodes a row of `contactColumns`. Assigning properties in the order of the record is faster than " +
    "spreading, and reading",
  " * values by their positions than iterating over them.",
  " */",
  "export const toContact = (values: ReadonlyArray<unknown>): Contact => {",
  `const { ${leaves.map((leaf, index) => `${index + 1}: ${camelColumnOf(leaf)}`).join(", ")}`,
  "// A statement knows the columns of its rows, the client does not.",
  "} = values as ContactValues",
  ...recordLines("contact", "Contact", contact),
  "return contact",
  "}",
  "",
  "/** The columns of a contact but its id, as `toContact` reads them. */",
  "export const toColumns = (contact: RuleFields.RuleSubject): Readonly<Record<string, string | number | null>> => {",
  ...contact.fields.flatMap(({ kind, name }) => (kind === "group" ? [`const ${name} = contact.${name} ?? {}`] : [])),
  "return {",
  ...leaves.map((leaf) => {
    const { group, isOptional, kind, name } = leaf
    const value = `${group === undefined ? "contact" : group.name}.${name}`
    const otherwise = defaultOf(leaf) ?? "null"
    if (kind === "texts") return `${columnOf(leaf)}: JSON.stringify(${value} ?? {}),`
    if (kind === "date")
      return `${columnOf(leaf)}: nullableSeconds(${value})${otherwise === "null" ? "" : ` ?? ${otherwise}`},`
    return `${columnOf(leaf)}: ${value}${isOptional ? ` ?? ${otherwise}` : ""},`
  }),
  "}",
  "}"
]

const written: ReadonlyArray<readonly [file: string, about: string, lines: () => Lines]> = [
  [
    "packages/domain/src/contacts/ContactCodec.generated.ts",
    "The fast codec of contacts, for `FastContactCodec`.",
    codec
  ],
  ["packages/domain/src/contacts/ContactFields.generated.ts", "The fields of contacts.", fields],
  ["packages/domain/src/contacts/ContactJson.generated.ts", "The JSON of a contact, for `ContactJson`.", json],
  ["packages/server/src/contacts/ContactRow.generated.ts", "The rows of contacts.", row]
]

const style = JSON.parse(readFileSync(".oxfmtrc.json", "utf8"))

/** The generated files, each with its text. */
export const files = (): Promise<ReadonlyArray<readonly [file: string, text: string]>> =>
  Promise.all(
    written.map(async ([file, about, lines]) => {
      const text = [`/** ${about} Written by \`pnpm docs:contacts\` from \`ContactRecord\`. */`, ...lines()]
      const { code, errors } = await format(file, text.join("\n"), style)
      if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join(", ")}`)
      return [file, code] as const
    })
  )

if (import.meta.main) for (const [file, text] of await files()) writeFileSync(file, text)
