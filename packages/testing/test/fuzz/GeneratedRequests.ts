/** Requests made from the served OpenAPI document: as it says, nearly so, and not at all. */
import { Predicate } from "effect"
import type { Dice } from "./Dice.ts"
import type { JsonSchema, ServedContract, ServedOperation } from "./ServedContract.ts"

/** What is sent, without the key. */
export interface Sent {
  readonly method: string
  /** Below the base address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Known values by the name of their field or parameter, and in a path by the operation, so that requests meet what there is. */
export type Words = (name: string, operation?: string) => ReadonlyArray<unknown>

const deep = JSON.parse(`${"[".repeat(70)}${"]".repeat(70)}`) as unknown

const hostileValues: ReadonlyArray<unknown> = [
  null,
  "",
  " ",
  "a\0b",
  "\ud800",
  "\u202e\ufeff",
  "' OR '1'='1",
  "../../etc/passwd",
  "%00%ff",
  "x".repeat(300),
  "=cmd()",
  "\r\nX-Evil: 1",
  0,
  -1,
  1.5,
  1e21,
  true,
  [],
  {},
  [[]],
  { "": "" },
  JSON.parse('{"__proto__":{"x":"y"},"toString":"x"}'),
  deep
]

const hostileTexts = hostileValues.filter(Predicate.isString)

const hostilePathValues = [
  "",
  ".",
  "%",
  "%zz",
  "%00",
  "%2e%2e",
  "%ff",
  "a%2Fb",
  "a/b",
  ";a=b",
  "%F0%9F%98%80",
  "%C3%A9",
  "a%09b",
  "a".repeat(5000)
]

const boundary = "border-of-the-fuzz"

export const formOf = (parts: ReadonlyArray<readonly [disposition: string, content: string]>) => ({
  headers: { "Content-Type": `multipart/form-data; boundary=${boundary}` },
  body: Buffer.from(
    `${parts
      .map(
        ([disposition, content]) =>
          `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`
      )
      .join("")}--${boundary}--\r\n`
  )
})

export const jsonBody = (value: unknown) => ({
  headers: { "Content-Type": "application/json" },
  body: Buffer.from(JSON.stringify(value) ?? "")
})

const nodeOf = (value: unknown): JsonSchema => (Predicate.isObject(value) ? value : {})
const nodesOf = (value: unknown) => (Array.isArray(value) ? value.map(nodeOf) : [])

export const makeGenerator = ({ operations, schemas }: ServedContract, dice: Dice, words: Words) => {
  const { below, chance, pick } = dice

  /** A value of a schema. Texts are mostly known ones. */
  const valueOf = (schema: JsonSchema, name: string): unknown => {
    const { $ref, additionalProperties, anyOf, enum: values, items, oneOf, properties, required, type } = schema
    if (typeof $ref === "string") return valueOf(schemas[$ref.slice($ref.lastIndexOf("/") + 1)] ?? {}, name)
    if (Array.isArray(values) && values.length > 0) return pick(values)
    const either = [...nodesOf(anyOf), ...nodesOf(oneOf)]
    if (either.length > 0) return valueOf(pick(either), name)
    if (type === "array") return Array.from({ length: below(4) }, () => valueOf(nodeOf(items), name))
    if (type === "object") {
      const must = new Set<unknown>(Array.isArray(required) ? required : [])
      const fields = Object.entries(nodeOf(properties)).flatMap(([field, of]) =>
        must.has(field) || chance(0.5) ? [[field, valueOf(nodeOf(of), field)] as const] : []
      )
      const others = Predicate.isObject(additionalProperties)
        ? Array.from(
            { length: below(3) },
            (_, index) => [`x${index}`, valueOf(nodeOf(additionalProperties), "")] as const
          )
        : []
      return Object.fromEntries([...fields, ...others])
    }
    if (type === "integer" || type === "number") return pick([0, 1, 2, 20, 1000, 1001, -1, 2 ** 53])
    if (type === "boolean") return chance(0.5)
    if (type === "null") return null
    const known = words(name)
    return known.length > 0 && chance(0.8) ? pick(known) : pick(hostileTexts)
  }

  /** The same value with one part that is not as it was: replaced, removed, or of a name that nobody knows. */
  const spoiled = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      if (value.length === 0 || chance(0.2)) return pick(hostileValues)
      const at = below(value.length)
      return value.map((item, index) => (index === at ? spoiled(item) : item))
    }
    if (!Predicate.isObject(value) || chance(0.15)) return pick(hostileValues)
    const entries = Object.entries(value)
    if (entries.length === 0 || chance(0.15))
      return Object.fromEntries([...entries, [`Unknown${below(3)}`, pick(hostileValues)]])
    const at = below(entries.length)
    return Object.fromEntries(
      entries.flatMap(([name, item], index) =>
        index !== at ? [[name, item]] : chance(0.25) ? [] : [[name, spoiled(item)]]
      )
    )
  }

  const jsonOf = (schema: JsonSchema): Pick<Sent, "headers" | "body"> => {
    const value = valueOf(schema, "")
    const { body, headers } = jsonBody(chance(0.5) ? spoiled(value) : value)
    const text = body.toString()
    return dice.weighted<Pick<Sent, "headers" | "body">>([
      [80, { headers, body }],
      [2, { headers, body: body.subarray(0, below(body.length + 1)) }],
      [2, { headers, body: Buffer.concat([body, Buffer.from([0xff])]) }],
      [2, { headers, body: Buffer.from(text.replace(/\{("[^"]*":)/, "{$1null,$1")) }],
      [2, { headers, body: Buffer.from(`\ufeff${text}`) }],
      [2, { headers: {}, body }],
      [2, { headers: { "Content-Type": "text/plain" }, body }],
      [2, { headers: { ...headers, "Content-Encoding": "gzip" }, body }],
      [1, { headers, body: Buffer.alloc(0) }],
      [1, { headers, body: Buffer.from(`${text}${" ".repeat(2 * 1024 * 1024)}`) }]
    ])
  }

  const form = (): Pick<Sent, "headers" | "body"> => {
    const row = () => `${String(pick(words("Email")))},${pick(["", "Ann", '"', "a,b"])}`
    const content = pick([
      () => `Email,FirstName\r\n${row()}\r\n${row()}`,
      () => `Email;City\n${row()}`,
      () => "Name\r\nAnn",
      () => "",
      () => "\0\0\0",
      () => "PK\u0003\u0004"
    ])()
    const file = ['name="file"; filename="a.csv"', content] as const
    const sent = formOf(
      pick([
        [file],
        [file, ['name="listName"', String(pick(words("listName")))]],
        [file, file],
        [['name="x"', "y"], file],
        []
      ])
    )
    return dice.weighted<Pick<Sent, "headers" | "body">>([
      [8, sent],
      [1, { ...sent, body: sent.body.subarray(0, below(sent.body.length)) }],
      [1, { ...sent, headers: { "Content-Type": "multipart/form-data" } }],
      [1, { ...sent, headers: { ...sent.headers, "Content-Encoding": "gzip" } }]
    ])
  }

  const queryOf = ({ query }: ServedOperation): string => {
    const given = dice.some(query, 0.4).map(({ name, schema }) => {
      const value = valueOf(schema, name)
      return [chance(0.1) ? name.toUpperCase() : name, Array.isArray(value) ? value.join(",") : String(value)] as const
    })
    const [first] = given
    if (first !== undefined && chance(0.05)) given.push(first)
    if (chance(0.05)) given.push([pick(["unknown", "__proto__", "limit[]", ""]), "1"])
    const text = given.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`)
    if (chance(0.02)) text.push(pick(["%", "%ff=%ff", "limit=%zz", "&&=&"]))
    return text.length === 0 ? "" : `?${text.join("&")}`
  }

  const pathOf = ({ id, path }: ServedOperation): string =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const known = words(name, id)
      return known.length === 0 || chance(0.2)
        ? pick(hostilePathValues)
        : encodeURIComponent(String(pick(known)).toWellFormed())
    })

  const all = [...operations.values()]

  /** A request of an operation; `undefined` for one that no operation is asked by. */
  const generate = (): { readonly operation: ServedOperation | undefined; readonly sent: Sent } => {
    const operation = pick(all)
    const { body, isForm, method } = operation
    const path = `${pathOf(operation)}${queryOf(operation)}`
    if (chance(0.03)) {
      const other = pick(["PATCH", "OPTIONS", "PURGE", "DELETE", "PUT"])
      return {
        operation: undefined,
        sent: { method: other, path: `/contacts/export${path}`, headers: {}, body: Buffer.alloc(0) }
      }
    }
    const empty = { headers: {}, body: Buffer.alloc(0) }
    const content = isForm
      ? form()
      : body === undefined
        ? chance(0.05)
          ? jsonBody(pick(hostileValues))
          : empty
        : jsonOf(body)
    return { operation, sent: { method: method === "GET" && chance(0.03) ? "HEAD" : method, path, ...content } }
  }

  return { generate }
}
