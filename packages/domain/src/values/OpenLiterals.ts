/**
 * Enumerations of a service that grows: what it sends may hold a value that it added yesterday, and a page of a thousand
 * contacts must not fail for it. A value outside the list decodes as a branded string and encodes as it came.
 */
import { Schema } from "effect"

/** A value that this version does not know, as the service sent it. */
export const UnknownValue = Schema.String.pipe(Schema.brand("UnknownValue"))
export type UnknownValue = typeof UnknownValue.Type

/** The open form of a closed list of values: for what is read. What is sent uses the closed list itself. */
export const openLiterals = <const L extends ReadonlyArray<string>>(closed: Schema.Literals<L>) =>
  Schema.Union([closed, UnknownValue])
