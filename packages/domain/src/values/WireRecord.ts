/**
 * Structs whose names are camel case in code and capitalised on the wire: records that are read, and payloads, which
 * refuse names that they do not know. Payloads tell their names as they are defined, so that a path of fields such as
 * `[3].customFields.City` can be translated, and no list of names can forget one.
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

// Names

/** A parameter of the query. All others have the same name on both sides. */
const parameters = [["listNames", "listnames"]] as const

const wireNames = new Map<string, string>(parameters)
const codeNames = new Map<string, string>(parameters.map(([code, wire]) => [wire, code]))

/** The name of a field in code. A name that no field has stays as it is. */
export const codeName = (name: string): string => codeNames.get(name) ?? name

/** The name of a field on the wire. A name that no field has stays as it is. */
export const wireName = (name: string): string => wireNames.get(name) ?? name

/** Tells the names of a payload. A name in code has one name on the wire, which is that of no other name in code. */
const nameFields = (mapping: Readonly<Record<string, string>>): void => {
  for (const [code, wire] of Object.entries(mapping)) {
    if (wireName(code) !== wire && wireNames.has(code))
      throw new Error(`The field ${code} is ${wireName(code)} elsewhere.`)
    if (codeName(wire) !== code && codeNames.has(wire))
      throw new Error(`The field ${codeName(wire)} is ${wire} already.`)
    wireNames.set(code, wire)
    codeNames.set(wire, code)
  }
}

/** Fields that hold custom names, by their names in code. */
const maps = new Set(["customFields", "fields", "merge", "headers"])

/** Whether a field holds custom names, which stay as they are given. */
export const holdsCustomNames = (name: string): boolean => maps.has(codeName(name))

/** Translates the names of a path, up to the field that holds custom names. */
const translated = (path: string, translate: (name: string) => string): string => {
  let isCustom = false
  return path.replaceAll(/[^.[\]]+/g, (name) => {
    if (isCustom) return name
    isCustom = holdsCustomNames(name)
    return translate(name)
  })
}

/** A path of fields as it is written on the wire: `[0].Email` for `[0].email`. */
export const wireField = (field: string): string => translated(field, wireName)

/** A path of fields as it is written in code: `[0].email` for `[0].Email`. */
export const codeField = (field: string): string => translated(field, codeName)

// Records

/** Refuses records with unknown names, which a struct would drop silently. Unknown names of the wire are dropped before. */
const withKnownNames = <Fields extends Schema.Struct.Fields>(
  struct: Schema.Struct<Fields>,
  nameRules: KnownNames
): Schema.Struct<Fields> => {
  const closed = Schema.declareConstructor<unknown>()([struct], ([fields]) => {
    const parse = SchemaParser.decodeUnknownEffect(fields)
    return (record, _, options) => {
      const unknown = unknownName(record, nameRules)
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
  others: Others | undefined,
  isWritten: boolean
) => {
  const names: Record<string, string> = {}
  for (const name of Object.keys(struct.fields)) names[name] = name.charAt(0).toUpperCase() + name.slice(1)
  // The loop has named every field as the type says.
  const mapping = { ...names, ...others } as WireNames<Fields, Others>
  if (isWritten) nameFields(mapping)
  return Schema.encodeKeys<Schema.Struct<Fields>, WireNames<Fields, Others>>(mapping)(struct)
}

/** A record with capitalised names on the wire (`firstName` is `FirstName`); `others` has the exceptions. */
export const wireRecord = <
  const Fields extends Schema.Struct.Fields,
  const Others extends { readonly [Name in keyof Fields]?: string } = {}
>(
  fields: Fields,
  others?: Others
) => onWire(Schema.Struct(fields), others, false)

/** A record that callers write: like `wireRecord`, but one in code that has any other name is refused. */
export const payloadRecord = <
  const Fields extends Schema.Struct.Fields,
  const Others extends { readonly [Name in keyof Fields]?: string } = {}
>(
  ofWhat: string,
  fields: Fields,
  { others, ...known }: Omit<KnownNames, "ofWhat" | "names"> & { readonly others?: Others } = {}
) => onWire(withKnownNames(Schema.Struct(fields), { ofWhat, names: Object.keys(fields), ...known }), others, true)

/** A value of an enumeration that this version does not know, as the service sent it. */
export const UnknownValue = Schema.String.pipe(Schema.brand("UnknownValue"))
export type UnknownValue = typeof UnknownValue.Type

/** The open form of a list of values: received records must still decode when the service adds a value. */
export const openLiterals = <const L extends ReadonlyArray<string>>(closed: Schema.Literals<L>) =>
  Schema.Union([closed, UnknownValue])
