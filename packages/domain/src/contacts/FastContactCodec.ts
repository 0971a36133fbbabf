/**
 * Fast path: what reads and writes ordinary values, of which `ContactCodec` makes codecs of records. Everything else is left
 * to the schema. (Claims `decode` and `stream` of benchmarks/RESULTS.md)
 */
import { type Schema, SchemaAST, SchemaParser } from "effect"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import { type EmailAddress, emailAddressIssue } from "./EmailAddress.ts"
import { hasEqualNames, hasManyNames } from "../values/FieldNames.ts"
import type { UnknownValue } from "../values/WireRecord.ts"
import { isInstant, printPlain } from "../values/FastWireDate.ts"
import { parseWireDate } from "../values/WireDate.ts"

/** The names of a record with unknown values. */
type Fields<A> = { readonly [K in keyof A]?: unknown }

/** Thrown when a value is left to the schema; one instance, since making stacks is slow. */
const notPlain = new Error("This value is left to the schema.")

export const refuse = (): never => {
  throw notPlain
}

/** Whether an error says that a value is left to the schema. */
export const isRefusal = (error: unknown): boolean => error === notPlain

/** Excludes objects with getters or inherited names. */
const isPlain = <A extends object>(value: unknown): value is Fields<A> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Whether a record has no undefined properties, and none but these names, where they are given. */
const isWhole = (value: { readonly [name: string]: unknown }, names?: ReadonlySet<string>): boolean => {
  for (const name in value) if (value[name] === undefined || names?.has(name) === false) return false
  return true
}
/** Records that are not whole are left to the schema. */
export const plain = <A extends object>(value: unknown, names?: ReadonlySet<string>): Fields<A> =>
  isPlain<A>(value) && isWhole(value, names) ? value : refuse()

const areTexts = (value: unknown): value is { readonly [name: string]: string } => {
  if (!isPlain<{ readonly [name: string]: unknown }>(value)) return false
  for (const name in value) if (typeof value[name] !== "string") return false
  return true
}
/** An open list accepts every text, known or unknown. */
const isOpen = (value: unknown): value is UnknownValue => typeof value === "string"
const isAddress = (value: unknown): value is EmailAddress =>
  typeof value === "string" && emailAddressIssue(value) === undefined

/**
 * Makes a function that makes empty objects, for records of one kind. V8 gives `{}` room for four properties and makes room
 * for a few more each time that they do not suffice; what a constructor makes soon has room for all. Nothing else differs.
 */
export const makeEmptyRecord = <A = unknown>(): (() => Record<string, A>) => {
  // A constructor function with the prototype of objects makes plain ones.
  const Empty = function () {} as unknown as new () => Record<string, A>
  Empty.prototype = Object.prototype
  return () => new Empty()
}

// Each of these gives the value of a field, or throws `notPlain`.

export const text = (value: unknown): string => (typeof value === "string" ? value : refuse())
export const texts = (value: unknown) => (areTexts(value) ? { ...value } : refuse())
export const uniqueTexts = (value: unknown) =>
  areTexts(value) && !hasManyNames(value) && !hasEqualNames(value) ? { ...value } : refuse()
/** Null removes these texts. */
export const uniqueTextsOrNull = (value: unknown) => {
  if (!isPlain<{ readonly [name: string]: unknown }>(value) || hasManyNames(value) || hasEqualNames(value))
    return refuse()
  for (const name in value) if (value[name] !== null) text(value[name])
  return { ...value }
}
export const textList = (value: unknown) => (Array.isArray(value) ? Array.from(value, text) : refuse())
export const open = (value: unknown): UnknownValue => (isOpen(value) ? value : refuse())
export const count = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : refuse()
export const readDate = (value: unknown) => parseWireDate(text(value)) ?? refuse()
export const writeDate = (value: unknown) => (isInstant(value) ? (printPlain(value) ?? refuse()) : refuse())
export const address = (value: unknown): EmailAddress => (isAddress(value) ? value : refuse())
export const oneOf = <const A extends string>(values: ReadonlyArray<A>) => {
  const byValue = new Map<unknown, A>(values.map((value) => [value, value]))
  return (value: unknown): A => byValue.get(value) ?? refuse()
}

export const orNull =
  (part: (value: unknown) => unknown) =>
  (value: unknown): unknown =>
    value === null ? null : part(value)

/** Functions that throw `notPlain` for values that they leave to the schema. */
export interface FastCodec {
  readonly decode: (wire: unknown) => unknown
  readonly encode: (value: unknown) => unknown
}

/** Options other than the usual ones are left to the schema. */
const isUsual = ({ disableChecks, onExcessProperty }: SchemaAST.ParseOptions): boolean =>
  disableChecks !== true && onExcessProperty !== "error"

const attempt =
  (fast: FastCodec["decode"]) =>
  (value: unknown, options: SchemaAST.ParseOptions): unknown => {
    if (!isUsual(options)) return SchemaCompiler.invalid
    try {
      return fast(value)
    } catch (error) {
      if (error === notPlain) return SchemaCompiler.invalid
      throw error
    }
  }

/** A copy of a schema that tries the fast path first, also inside other schemas. */
export const withFastCodec = <S extends Schema.Codec<unknown, unknown>>(exact: S, { decode, encode }: FastCodec) => {
  const schema = exact.annotate({})
  SchemaCompiler.set(schema.ast, {
    decode: attempt(decode),
    decodeEffect: SchemaParser.decodeUnknownEffect(exact)
  })
  SchemaCompiler.set(SchemaAST.flip(schema.ast), {
    decode: attempt(encode),
    decodeEffect: SchemaParser.encodeUnknownEffect(exact)
  })
  return schema
}
