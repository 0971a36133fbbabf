import { Schema } from "effect"

/** An enumeration value that this version does not know, as the service sent it. */
export const UnknownValue = Schema.String.pipe(Schema.brand("UnknownValue"))
export type UnknownValue = typeof UnknownValue.Type

/**
 * The open form of a list of values, for received records: a page of contacts must not fail to decode because of a value
 * that the service has added. Such a value decodes as a branded string and encodes unchanged.
 */
export const openLiterals = <const L extends ReadonlyArray<string>>(closed: Schema.Literals<L>) =>
  Schema.Union([closed, UnknownValue])
