/**
 * Requests whose size is in one piece: for each place of each operation that takes a text, an object or an array, the longest
 * of each kind that still arrives, found in the description of the interface.
 */
import { gzipSync } from "node:zlib"
import { bodyLimits } from "../../../server/src/http/RequestBody.ts"

/** What a case sends. */
export interface Sent {
  readonly name: string
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly body?: () => string | Uint8Array
}

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly items?: JsonSchema
  readonly required?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: boolean | JsonSchema
  readonly examples?: ReadonlyArray<Json>
}

interface Described {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{ readonly in: string; readonly name: string; readonly schema: JsonSchema }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> }
}

/** What is read of the description of the interface. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

/** Texts by what they are made of. The end is another character, so that what looks for an end of its own fails late. */
const texts: ReadonlyArray<readonly [name: string, text: (length: number) => string]> = [
  ["one word", (length) => "x".repeat(length)],
  ...Object.entries({
    blanks: " ",
    dots: ".",
    commas: ",",
    semicolons: ";",
    quotes: '"',
    apostrophes: "'",
    at: "@",
    brackets: "[",
    angles: "<",
    parentheses: "(",
    slashes: "/",
    hyphens: "-",
    digits: "1",
    percents: "%",
    equals: "=",
    lines: "\n",
    colons: ":",
    accents: "e\u0301",
    invisible: "\u200b"
  }).map(
    ([name, character]) =>
      [name, (length: number) => `a${character.repeat(Math.max(0, length - 2) / character.length)}b`] as const
  )
]

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }
type Variant = readonly [place: string, value: () => Json]

const names = (count: number, of: (index: number) => string, value: Json = "v") =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [of(index), value]))

/** The values of a schema that have one place of a shape, and are the smallest valid ones besides. */
const variantsBy = ({ components }: Description, bytes: number, values: number) => {
  const resolved = (schema: JsonSchema): JsonSchema => {
    const { $ref, anyOf } = schema
    if ($ref !== undefined) return resolved(components.schemas[$ref.split("/").at(-1) ?? ""] ?? {})
    return anyOf === undefined ? schema : resolved(anyOf.find(({ type }) => type !== "null") ?? {})
  }
  const smallest = (schema: JsonSchema, name = ""): Json => {
    const { enum: [first] = [], examples = [], items = {}, properties = {}, required = [], type } = resolved(schema)
    if (first !== undefined) return String(first)
    if (type === "integer" || type === "number") return 1
    if (type === "boolean") return true
    if (type === "array") return [smallest(items, name)]
    if (type !== "object") return /email|from/i.test(name) ? "a@example.com" : "x"
    return examples[0] ?? Object.fromEntries(required.map((name) => [name, smallest(properties[name] ?? {}, name)]))
  }
  function* variants(schema: JsonSchema, name = ""): Generator<Variant> {
    const { additionalProperties, items = {}, properties = {}, type, ...own } = resolved(schema)
    if (own.enum !== undefined) return
    if (type === "string") for (const [kind, text] of texts) yield [` of ${kind}`, () => text(bytes / 2)]
    if (type === "array") {
      yield ["[] of many", () => Array.from({ length: values - 1000 }, () => smallest(items, name))]
      for (const [place, value] of variants(items, name)) yield [`[0]${place}`, () => [value()]]
    }
    if (type !== "object") return
    const base = smallest(schema)
    const given = typeof base === "object" && base !== null ? base : {}
    for (const [name, property] of Object.entries(properties)) {
      for (const [place, value] of variants(property, name)) {
        yield [`.${name}${place}`, () => ({ ...given, [name]: value() })]
      }
    }
    const most = Math.min(values - 1000, Math.floor(bytes / 16))
    yield [" of many names", () => ({ ...given, ...names(most, (index) => `n${index}`) })]
    yield [" of numbers as names", () => ({ ...given, ...names(most, (index) => `${index * 7}`) })]
    if (typeof additionalProperties !== "object") return
    for (const [kind, text] of texts) {
      yield [`{} named by ${kind}`, () => ({ [text(bytes / 2)]: "v" })]
      yield [`{} of ${kind}`, () => ({ n: text(bytes / 2) })]
    }
  }
  return variants
}

/** Texts of JSON that no schema describes. */
const bodies = (bytes: number): ReadonlyArray<readonly [string, () => string]> => [
  ["depth", () => "[".repeat(bytes)],
  ["objects within each other", () => '{"a":'.repeat(bytes / 5)],
  ["empty objects", () => `[${"{},".repeat(bytes / 3)}{}]`],
  ["blanks", () => `${" ".repeat(bytes - 2)}[]`],
  ["an open string", () => `["${"x".repeat(bytes)}`],
  ["backslashes", () => `["${"\\\\".repeat(bytes / 2)}"]`],
  ["escaped quotes", () => `["${'\\"'.repeat(bytes / 2)}"]`],
  ["digits", () => `[${"9".repeat(bytes)}]`]
]

/** A path has at most 16 KiB with the rest of the head. */
const longestPath = 14_000

const boundary = "pieces"

/** A file in a form. */
const fileForm = (content: () => string | Uint8Array): Required<Pick<Sent, "type" | "body">> => ({
  type: `multipart/form-data; boundary=${boundary}`,
  body: () =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\n\r\n`),
      Buffer.from(content()),
      Buffer.from(`\r\n--${boundary}--\r\n`)
    ])
})

const MiB = 1024 * 1024

/** Files of contacts, by what is in one piece. */
const files: ReadonlyArray<readonly [name: string, content: () => string]> = [
  ["a header of empty cells", () => `Email${",".repeat(8 * MiB - 100)}\na@example.com\n`],
  ["a header of short cells", () => `Email${Array.from({ length: 900_000 }, (_, at) => `,c${at}`).join("")}\n`],
  ["a header of quoted cells", () => `Email${',""'.repeat(2 * MiB)}\na@example.com\n`],
  ["a row of empty cells", () => `Email,A\na@example.com${",".repeat(8 * MiB - 100)}\n`],
  ["a row of quoted cells", () => `Email,A\na@example.com${',""'.repeat(2 * MiB)}\n`],
  ["rows of many cells", () => `Email,A\n${`a@example.com${",".repeat(16_000)}\n`.repeat(1000)}`],
  ["empty lines", () => `${"\n".repeat(8 * MiB)}Email\na@example.com\n`],
  ["a title and short lines", () => `title\n${"x\n".repeat(4 * MiB)}`],
  ["open quotes", () => `Email,A\n${'"x\n'.repeat(2 * MiB)}`],
  ["quotes within cells", () => `Email,A\n${'"a"b\n'.repeat(MiB)}`],
  ["one array", () => `[${'{"Email":"a@example.com"},'.repeat(300_000)}{"Email":"b@example.com"}]`],
  [
    "one object",
    () => `{"Email":"a@example.com"${Array.from({ length: 500_000 }, (_, at) => `,"n${at}":""`).join("")}}`
  ],
  ["depth", () => `[${'{"a":'.repeat(MiB)}`],
  ["an array of blanks", () => `[${" ".repeat(8 * MiB)}`],
  ["a rejected object of blanks", () => `{"Email":"a@example.com"}\n{"Email":"x"${" ".repeat(200_000)},"A":""}\n`],
  ...texts.flatMap(([kind, text]): ReadonlyArray<readonly [string, () => string]> => [
    [`a heading of ${kind}`, () => `Email,${text(8 * MiB - 100)}\na@example.com,x\n`],
    [`a line of ${kind} before the header`, () => `${text(MiB - 100)}\nEmail\na@example.com\n`],
    [`an address of ${kind}`, () => `Email,A\n${text(8 * MiB - 100)},x\n`],
    [`a cell of ${kind}`, () => `Email,A\na@example.com,${text(8 * MiB - 100)}\n`],
    [`an object with a value of ${kind}`, () => `{"Email":"a@example.com","A":${JSON.stringify(text(3 * MiB))}}`],
    [`an object with a name of ${kind}`, () => `{"Email":"a@example.com",${JSON.stringify(text(3 * MiB))}:"x"}`]
  ])
]

/** Those that once stopped the service, and are sent in each run. */
export const worst: ReadonlyArray<string> = [
  "contactsImportPost a header of empty cells, gzipped",
  "contactsImportPost a row of empty cells, gzipped",
  "contactsChangesPost [0].Seen.CustomFields of many names",
  "contactsChangesPost [0].Seen.CustomFields{} named by quotes",
  "contactsExportPost fileName of dots",
  "emailsPost .Content.Headers of many names"
]

/** All requests of the description, largest of their kind, in its order, a file also compressed. */
export function* requestsOf(description: Description): Generator<Sent> {
  const values = texts.map(([kind, text]) => {
    const length = Math.floor((longestPath * 2) / encodeURIComponent(text(2)).length)
    return { kind, value: encodeURIComponent(text(length)).slice(0, longestPath) }
  })
  for (const [template, methods] of Object.entries(description.paths)) {
    for (const [method, { operationId: operation, parameters = [], requestBody }] of Object.entries(methods)) {
      const path = template
        .replace("{id}", "3fa85f64-5717-4562-b3fc-2c963f66afa6")
        .replaceAll(/\{\w+\}/g, "x@example.com")
      const content = requestBody?.content ?? {}
      const shared = { operation, method: method.toUpperCase() }
      const smallBody =
        content["multipart/form-data"] !== undefined
          ? fileForm(() => "Email\na@example.com\n")
          : content["application/json"] === undefined
            ? {}
            : { body: () => "[]" }
      for (const { in: place, name } of parameters) {
        if (place === "header") continue
        for (const { kind, value } of values) {
          const whole = place === "path" ? template.replace(`{${name}}`, value) : `${path}?${name}=${value}`
          yield { ...shared, ...smallBody, name: `${operation} ${name} of ${kind}`, path: whole }
        }
        if (place === "query") {
          const many = Array.from({ length: 1000 }, (_, index) => `${name}=${index}`).join("&")
          yield { ...shared, ...smallBody, name: `${operation} many ${name}`, path: `${path}?${many}` }
        }
      }
      const schema = content["application/json"]?.schema
      if (schema !== undefined) {
        const { mebibytes, values } = bodyLimits(operation)
        const bytes = mebibytes * MiB - 1000
        for (const [place, value] of variantsBy(description, bytes, values)(schema)) {
          yield { ...shared, name: `${operation} ${place}`, path, body: () => JSON.stringify(value()) }
        }
        for (const [kind, body] of bodies(bytes)) yield { ...shared, name: `${operation} ${kind}`, path, body }
      }
      if (content["multipart/form-data"] === undefined) continue
      for (const [kind, file] of files) {
        yield { ...shared, name: `${operation} ${kind}`, path, ...fileForm(file) }
        yield { ...shared, name: `${operation} ${kind}, gzipped`, path, ...fileForm(() => gzipSync(file())) }
      }
    }
  }
}
