import { Schema } from "effect"

type WireNames<Fields, Others> = {
  readonly [Name in keyof Fields]: Name extends keyof Others ? Others[Name] & string : Capitalize<Name & string>
}

/**
 * The schema of a record whose fields have capitals on the wire: `firstName` is sent as `FirstName`. `others` has the wire
 * names that differ in more than that.
 */
export const wireRecord = <
  const Fields extends Schema.Struct.Fields,
  const Others extends { readonly [Name in keyof Fields]?: string } = {}
>(
  fields: Fields,
  others?: Others
) => {
  const names: Record<string, string> = {}
  for (const name of Object.keys(fields)) names[name] = name.charAt(0).toUpperCase() + name.slice(1)
  // The loop has named every field as the type says.
  const mapping = { ...names, ...others } as WireNames<Fields, Others>
  return Schema.encodeKeys<Schema.Struct<Fields>, WireNames<Fields, Others>>(mapping)(Schema.Struct(fields))
}
