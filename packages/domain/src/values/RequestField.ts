/** Optional fields of requests: missing, `undefined` and null all mean not given. (docs/decisions/records.md) */
import { Option, Predicate, Schema, SchemaTransformation } from "effect"

/** Takes what a schema of branded texts takes, as the type of an input that any text compiles for. */
export const inputText = (schema: Schema.Codec<string>): Schema.Codec<string> => schema

const optional = <Type extends Schema.Constraint, Wire extends Schema.Constraint>(
  type: Type,
  wire: Wire,
  isGiven: (value: unknown) => boolean
) =>
  Schema.optionalKey(wire).pipe(
    Schema.decodeTo(
      Schema.optional(type),
      SchemaTransformation.transformOptional<Type["Type"] | undefined, Wire["Type"]>({
        decode: Option.filter(isGiven),
        encode: Option.filter(isGiven)
      })
    )
  )

/** An optional field that is never null in code. */
export const requestField = <S extends Schema.Constraint>(schema: S) =>
  optional(Schema.toType(schema), Schema.NullOr(schema), Predicate.isNotNullish)

/** An optional field that may be null in code too, with a meaning that the record defines. */
export const nullableRequestField = <S extends Schema.Constraint>(schema: S) =>
  optional(Schema.NullOr(Schema.toType(schema)), Schema.NullOr(schema), Predicate.isNotUndefined)

/** A field of a record that a request with it does not write: refused with this message rather than left out. */
export const refusedField = (message: string) =>
  Schema.optionalKey(Schema.NullOr(Schema.Never).annotate({ message })).pipe(
    Schema.decodeTo(
      Schema.optionalKey(Schema.UndefinedOr(Schema.Never).annotate({ message })),
      SchemaTransformation.transformOptional<undefined, null>({ decode: Option.none, encode: Option.none })
    )
  )
