import { Schema } from "effect"

type WireNames<Fields, Others> = {
  readonly [Name in keyof Fields]: Name extends keyof Others ? Others[Name] & string : Capitalize<Name & string>
}

/** A record with capitalised names on the wire (`firstName` is `FirstName`); `others` has the exceptions. */
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
