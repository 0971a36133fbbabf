/**
 * Optional fields. In requests, missing, `undefined` and null all mean not given. In answers, a service may leave out every one of
 * them or send null, and a value that this version does not know never fails a page of records. (docs/decisions/records.md)
 */
import { Option, Predicate, Schema, SchemaTransformation } from "effect"
import { WireDate } from "./WireDate.ts"

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

/** A field that a request cannot write: it is refused with this message and not ignored. */
export const refusedField = (message: string) =>
  Schema.optionalKey(Schema.NullOr(Schema.Never).annotate({ message })).pipe(
    Schema.decodeTo(
      Schema.optionalKey(Schema.UndefinedOr(Schema.Never).annotate({ message })),
      SchemaTransformation.transformOptional<undefined, null>({ decode: Option.none, encode: Option.none })
    )
  )

/** Marks what is read of other services and never sent by ours, so the OpenAPI document leaves it out. */
export const toleratedText = "Read, and never sent."

const toleratedNull = Schema.Null.annotate({ description: toleratedText })

/** A text, for which a number or a boolean stands too. */
export const AnswerText = Schema.Union([
  Schema.String,
  Schema.Finite.annotate({ description: toleratedText }),
  Schema.Boolean.annotate({ description: toleratedText })
]).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform<string, string | number | boolean>({ decode: String, encode: (text) => text })
  )
)

/** An optional field that is never null in code. */
export const answerField = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.Union([schema, toleratedNull])).pipe(
    Schema.decodeTo(
      Schema.optionalKey(Schema.toType(schema)),
      SchemaTransformation.transformOptional<S["Type"], S["Type"] | null>({
        decode: Option.filter((value) => value !== null),
        encode: (value) => value
      })
    )
  )

/** A field that code always has: where a service does not tell it, it is `untold`. */
export const answerFieldOr = <S extends Schema.Constraint>(schema: S, untold: S["Type"]) =>
  Schema.optionalKey(Schema.Union([schema, toleratedNull])).pipe(
    Schema.decodeTo(
      Schema.toType(schema),
      SchemaTransformation.transformOptional<S["Type"], S["Type"] | null>({
        decode: (told) => Option.some(Option.getOrUndefined(told) ?? untold),
        encode: (value) => value
      })
    )
  )

/** An optional date that is never null in code. An empty text is none. */
export const answerDate = Schema.optionalKey(Schema.Union([Schema.String, toleratedNull])).pipe(
  Schema.decodeTo(
    Schema.optionalKey(WireDate),
    SchemaTransformation.transformOptional<string, string | null>({
      decode: Option.filter((text): text is string => text !== null && text !== ""),
      encode: (text) => text
    })
  )
)

/** An optional date. Null in code means that the service says there is none; an empty text is left out. */
export const nullableAnswerDate = Schema.optionalKey(Schema.NullOr(Schema.String)).pipe(
  Schema.decodeTo(
    Schema.optionalKey(Schema.NullOr(WireDate)),
    SchemaTransformation.transformOptional<string | null, string | null>({
      decode: Option.filter((text) => text !== ""),
      encode: (text) => text
    })
  )
)

const ReadTexts = Schema.Record(Schema.String, Schema.Union([AnswerText, toleratedNull])).pipe(
  Schema.decodeTo(
    Schema.Record(Schema.String, Schema.String),
    SchemaTransformation.transform<Readonly<Record<string, string>>, Readonly<Record<string, string | null>>>({
      // An entry may be named `__proto__`, which an assignment would not keep.
      decode: (texts) =>
        Object.fromEntries(Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== null)),
      encode: (texts) => texts
    })
  )
)

/** Optional texts by name, of which those that are null are left out. */
export const answerTexts = answerField(ReadTexts)
