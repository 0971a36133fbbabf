/**
 * Query parameters as clients spell them: in any letter case, in snake case, with brackets for arrays. Unknown names
 * are refused, because an ignored filter selects all contacts. (docs/decisions/records.md)
 */
import { InvalidInput } from "@roster/domain"
import { didYouMean } from "@roster/domain/DidYouMean"
import { Effect, Predicate, Schema } from "effect"
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

/** The fields of the bodies of an operation. */
const bodyFieldsOf = ({ payload }: HttpApiEndpoint.Top): ReadonlyMap<string, Field> =>
  new Map([...payload.values()].flatMap(({ schemas }) => schemas.flatMap((schema) => [...fieldsOf(schema)])))

/** The names of the query parameters of an operation. */
export const queryNames = ({ query }: HttpApiEndpoint.Top): ReadonlyArray<string> =>
  Array.from(fieldsOf(query).values(), ({ name }) => name)

/** Makes the function that refuses a body with the name of a parameter, which would be left out of it as an unknown one. */
export const misplacedParameter = (endpoint: HttpApiEndpoint.Top) => {
  const parameters = fieldsOf(endpoint.query)
  const own = bodyFieldsOf(endpoint)
  return (value: unknown): InvalidInput | undefined => {
    if (!Predicate.isObject(value)) return undefined
    for (const name of Object.keys(value)) {
      const parameter = parameters.get(nameKey(name))
      if (parameter === undefined || own.has(nameKey(name))) continue
      return new InvalidInput({ field: parameter.name, issue: "here it is a parameter of the query" })
    }
    return undefined
  }
}

/** Makes the function that decodes the query of an operation. */
export const queryReader = (
  endpoint: HttpApiEndpoint.Top
): ((query: string) => Effect.Effect<unknown, Schema.SchemaError | InvalidInput>) => {
  const fields = fieldsOf(endpoint.query)
  const names = queryNames(endpoint)
  const bodyFields = bodyFieldsOf(endpoint)
  const refuseUnknown = (name: string) => {
    const inBody = bodyFields.get(nameKey(name))
    return inBody === undefined || !isRepeatable(name)
      ? unknownName(name, "query", names)
      : new InvalidInput({ field: name, issue: `here it is the field ${inBody.name} of the body` })
  }
  const { query: schema } = endpoint
  // No schema of the contract needs a service to decode.
  const decode = schema && Schema.decodeUnknownEffect(Schema.toCodecArrayFromSingle(schema) as Schema.Codec<unknown>)
  return (query) => {
    const given: Record<string, string | ReadonlyArray<string>> = {}
    for (const [spelling, value] of query === "" ? [] : new URLSearchParams(query)) {
      const field = fields.get(nameKey(spelling))
      if (field === undefined) return Effect.fail(refuseUnknown(spelling))
      const before = given[field.name]
      if (before !== undefined && !field.isArray) {
        return Effect.fail(new InvalidInput({ field: field.name, issue: "it is given more than once" }))
      }
      given[field.name] = before === undefined ? value : [before, value].flat()
    }
    return decode === undefined ? Effect.undefined : decode(given)
  }
}
