/**
 * Structs whose names are camel case in code and capitalised on the wire: records that are read, and payloads, which
 * refuse names that they do not know.
 */
import { Effect, Schema, SchemaIssue, SchemaParser } from "effect"
import { type KnownNames, unknownName } from "./UnknownNames.ts"

/**
 * A union that an editor shows by the name that `type Name = Named<...>` gives it. Without this it shows all members, since
 * the type of a schema has no name.
 */
export type Named<Union> = Union extends unknown ? Union : never

type WireNames<Fields, Others> = {
  readonly [Name in keyof Fields]: Name extends keyof Others ? Others[Name] & string : Capitalize<Name & string>
}

/** Refuses records with unknown names, which a struct would drop silently. Unknown names of the wire are dropped before. */
const withKnownNames = <Fields extends Schema.Struct.Fields>(
  struct: Schema.Struct<Fields>,
  known: KnownNames
): Schema.Struct<Fields> => {
  const closed = Schema.declareConstructor<unknown>()([struct], ([fields]) => {
    const parse = SchemaParser.decodeUnknownEffect(fields)
    return (record, _, options) => {
      const unknown = unknownName(record, known)
      if (unknown === undefined) return parse(record, options)
      const { ast } = Schema.Never.annotate({ messageUnexpectedKey: unknown.issue })
      return Effect.fail(new SchemaIssue.Pointer([unknown.name], new SchemaIssue.UnexpectedKey(ast)))
    }
  })
  // It parses and makes what the struct does.
  return Object.assign(closed, { fields: struct.fields }) as unknown as Schema.Struct<Fields>
}

/** A struct with capitalised names on the wire. */
const onWire = <
  const Fields extends Schema.Struct.Fields,
  const Others extends { readonly [Name in keyof Fields]?: string } = {}
>(
  struct: Schema.Struct<Fields>,
  others?: Others
) => {
  const names: Record<string, string> = {}
  for (const name of Object.keys(struct.fields)) names[name] = name.charAt(0).toUpperCase() + name.slice(1)
  // The loop has named every field as the type says.
  const mapping = { ...names, ...others } as WireNames<Fields, Others>
  return Schema.encodeKeys<Schema.Struct<Fields>, WireNames<Fields, Others>>(mapping)(struct)
}

/** A record with capitalised names on the wire (`firstName` is `FirstName`); `others` has the exceptions. */
export const wireRecord = <
  const Fields extends Schema.Struct.Fields,
  const Others extends { readonly [Name in keyof Fields]?: string } = {}
>(
  fields: Fields,
  others?: Others
) => onWire(Schema.Struct(fields), others)

/** A record that callers write: like `wireRecord`, but one in code that has any other name is refused. */
export const payloadRecord = <
  const Fields extends Schema.Struct.Fields,
  const Others extends { readonly [Name in keyof Fields]?: string } = {}
>(
  ofWhat: string,
  fields: Fields,
  { others, ...known }: Omit<KnownNames, "ofWhat" | "names"> & { readonly others?: Others } = {}
) => onWire(withKnownNames(Schema.Struct(fields), { ofWhat, names: Object.keys(fields), ...known }), others)

/** A value of an enumeration that this version does not know, as the service sent it. */
export const UnknownValue = Schema.String.pipe(Schema.brand("UnknownValue"))
export type UnknownValue = typeof UnknownValue.Type

/** The open form of a list of values: received records must still decode when the service adds a value. */
export const openLiterals = <const L extends ReadonlyArray<string>>(closed: Schema.Literals<L>) =>
  Schema.Union([closed, UnknownValue])
