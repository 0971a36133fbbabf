/**
 * The optional fields of what clients send. A field that is left out, one that is `undefined`, and on the wire one that is
 * null, as many clients write what they do not set, all say nothing. (docs/decisions/records.md)
 */
import { Option, Predicate, Schema, SchemaTransformation } from "effect"

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

/** An optional field that may be null in code too. What null says is for the record to tell. */
export const nullableRequestField = <S extends Schema.Constraint>(schema: S) =>
  optional(Schema.NullOr(Schema.toType(schema)), Schema.NullOr(schema), Predicate.isNotUndefined)
