import { Effect, Schema, SchemaIssue, SchemaParser } from "effect"
import { didYouMean, quoted } from "./DidYouMean.ts"

type WireNames<Fields, Others> = {
  readonly [Name in keyof Fields]: Name extends keyof Others ? Others[Name] & string : Capitalize<Name & string>
}

/**
 * Refuses records with names that are not among the known ones, which a struct would drop without a word. Those of the wire
 * are dropped before. The known names may be more than the fields; only fields are suggested.
 */
const withKnownNames = <Fields extends Schema.Struct.Fields>(
  struct: Schema.Struct<Fields>,
  known: ReadonlySet<string>,
  ofWhat: string
): Schema.Struct<Fields> => {
  const names = Object.keys(struct.fields)
  const closed = Schema.declareConstructor<unknown>()([struct], ([fields]) => {
    const parse = SchemaParser.decodeUnknownEffect(fields)
    return (record, _, options) => {
      if (typeof record === "object" && record !== null && !Array.isArray(record)) {
        for (const name of Object.keys(record)) {
          if (known.has(name)) continue
          const meant = didYouMean(name, names)
          const messageUnexpectedKey = `${ofWhat} has no field ${quoted(name)}${meant === undefined ? "" : `; ${meant}`}`
          const { ast } = Schema.Never.annotate({ messageUnexpectedKey })
          return Effect.fail(new SchemaIssue.Pointer([name], new SchemaIssue.UnexpectedKey(ast)))
        }
      }
      return parse(record, options)
    }
  })
  // It parses and makes what the struct does.
  return Object.assign(closed, { fields: struct.fields }) as unknown as Schema.Struct<Fields>
}

/**
 * A record with capitalised names on the wire (`firstName` is `FirstName`); `others` has the exceptions. With `closed`, a
 * record in code that has any other name is refused.
 */
export const wireRecord = <
  const Fields extends Schema.Struct.Fields,
  const Others extends { readonly [Name in keyof Fields]?: string } = {}
>(
  fields: Fields,
  others?: Others,
  closed?: { readonly ofWhat: string; readonly known?: ReadonlySet<string> | undefined }
) => {
  const names: Record<string, string> = {}
  for (const name of Object.keys(fields)) names[name] = name.charAt(0).toUpperCase() + name.slice(1)
  // The loop has named every field as the type says.
  const mapping = { ...names, ...others } as WireNames<Fields, Others>
  const struct = Schema.Struct(fields)
  return Schema.encodeKeys<Schema.Struct<Fields>, WireNames<Fields, Others>>(mapping)(
    closed === undefined ? struct : withKnownNames(struct, closed.known ?? new Set(Object.keys(fields)), closed.ofWhat)
  )
}
