/**
 * Enumerations that a service may extend: a page of contacts must not fail to decode because of a new value. A value outside
 * the list decodes as a branded string and encodes unchanged.
 */
import { Schema } from "effect"

/** An enumeration value that this version does not know, as the service sent it. */
export const UnknownValue = Schema.String.pipe(Schema.brand("UnknownValue"))
export type UnknownValue = typeof UnknownValue.Type

/** Makes the open form of a list of values, for what is received. What is sent uses the closed list. */
export const openLiterals = <const L extends ReadonlyArray<string>>(closed: Schema.Literals<L>) =>
  Schema.Union([closed, UnknownValue])
