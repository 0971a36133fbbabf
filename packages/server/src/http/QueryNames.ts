/**
 * Query parameters as clients spell them: in any letter case, in snake case, with brackets for arrays. Unknown names
 * are refused, because an ignored filter selects all contacts. (docs/decisions/records.md)
 */
import { InvalidInput } from "@roster/domain"
import { didYouMean } from "@roster/domain/DidYouMean"
import { Effect, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"

/** The key that all spellings of a name share. */
export const nameKey = (name: string): string => name.replace(/\[\]$/, "").replaceAll("_", "").toLowerCase()

/** Whether a message may repeat a name. Others may be an address or a key in the wrong place. */
const isRepeatable = (name: string): boolean => /^[\w.[\]-]{1,40}$/.test(name)

export const unknownName = (name: string, place: string, taken: ReadonlyArray<string>): InvalidInput => {
  if (!isRepeatable(name)) {
    return new InvalidInput({
      field: place,
      issue: `it has a name that is none of its parameters; it takes ${listed(taken)}`
    })
  }
  const meant = didYouMean(name, taken)
  const hint = meant === undefined ? "" : ` (${meant})`
  return new InvalidInput({ field: name, issue: `the ${place} does not take it${hint}; it takes ${listed(taken)}` })
}

const listed = (names: ReadonlyArray<string>): string => (names.length === 0 ? "no parameters" : names.join(", "))

interface Field {
  readonly name: string
  readonly isArray: boolean
}

/** The fields of the encoded side of a schema, by the key of their names. */
const fieldsOf = (schema: Schema.Top | undefined): ReadonlyMap<string, Field> => {
  const fields = new Map<string, Field>()
  const ast = schema === undefined ? undefined : Schema.toEncoded(schema).ast
  for (const { name, type } of ast?._tag === "Objects" ? ast.propertySignatures : []) {
    const isArray = Schema.is(Schema.make(type))([])
    fields.set(nameKey(String(name)), { name: String(name), isArray })
  }
  return fields
}

/** The names of the query parameters of an operation. */
export const queryNames = ({ query }: HttpApiEndpoint.Top): ReadonlyArray<string> =>
  Array.from(fieldsOf(query).values(), ({ name }) => name)

/** The decoded parameters of a query. One that is given more than once has a list of values. */
export type SearchParams = Readonly<Record<string, string | ReadonlyArray<string>>>

const noSearchParams: SearchParams = {}

/** Reads a query. */
export const readSearchParams = (query: string): SearchParams => {
  if (query === "") return noSearchParams
  const values = new Map<string, Array<string>>()
  for (const [name, value] of new URLSearchParams(query)) {
    const before = values.get(name)
    if (before === undefined) values.set(name, [value])
    else before.push(value)
  }
  return Object.fromEntries(
    Array.from(values, ([name, [first = "", ...others]]) => [name, others.length === 0 ? first : [first, ...others]])
  )
}

/** Makes the function that decodes the query of an operation. */
export const queryReader = (
  endpoint: HttpApiEndpoint.Top
): ((given: SearchParams) => Effect.Effect<unknown, Schema.SchemaError | InvalidInput>) => {
  const fields = fieldsOf(endpoint.query)
  const names = queryNames(endpoint)
  const bodyFields = new Map(
    [...endpoint.payload.values()].flatMap(({ schemas }) => schemas.flatMap((schema) => [...fieldsOf(schema)]))
  )
  const refuseUnknown = (name: string) => {
    const inBody = bodyFields.get(nameKey(name))
    return inBody === undefined || !isRepeatable(name)
      ? unknownName(name, "query", names)
      : new InvalidInput({ field: name, issue: `here it is the field ${inBody.name} of the body` })
  }
  if (endpoint.query === undefined) {
    return (given) => {
      for (const name in given) return Effect.fail(refuseUnknown(name))
      return Effect.undefined
    }
  }
  // No schema of the contract needs a service to decode.
  const decode = Schema.decodeUnknownEffect(Schema.toCodecArrayFromSingle(endpoint.query) as Schema.Codec<unknown>)
  return (given) => {
    const query: Record<string, string | ReadonlyArray<string>> = {}
    for (const spelling in given) {
      const field = fields.get(nameKey(spelling))
      if (field === undefined) return Effect.fail(refuseUnknown(spelling))
      const before = query[field.name]
      const value = given[spelling] ?? ""
      const all = before === undefined ? value : [before, value].flat()
      if (Array.isArray(all) && !field.isArray) {
        return Effect.fail(new InvalidInput({ field: field.name, issue: "it is given more than once" }))
      }
      query[field.name] = all
    }
    return decode(query)
  }
}
