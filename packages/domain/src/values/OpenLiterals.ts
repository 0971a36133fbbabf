/** Enumerations of received records, which also take a value that this version does not know. */
import { Schema } from "effect"

/** An enumeration value that this version does not know, as the service sent it. */
export const UnknownValue = Schema.String.pipe(Schema.brand("UnknownValue"))
export type UnknownValue = typeof UnknownValue.Type

/** The open form of a list of values: received records must still decode when the service adds a value. */
export const openLiterals = <const L extends ReadonlyArray<string>>(closed: Schema.Literals<L>) =>
  Schema.Union([closed, UnknownValue])
