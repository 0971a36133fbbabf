/**
 * Values that become part of an address. What cannot be is refused before anything is sent: an address would carry it
 * changed, or lead elsewhere.
 */
import { InvalidInput, isAddressable, notAddressable } from "@roster/domain"
import { Effect } from "effect"

/** A segment of the path. */
export const inPath = (field: string, value: string): Effect.Effect<void, InvalidInput> =>
  isAddressable(value) ? Effect.void : Effect.fail(notAddressable(field))

const isWellFormed = (value: unknown): boolean => typeof value === "string" && value.isWellFormed()

/** Values of the query. */
export const inQuery = (field: string, values: ReadonlyArray<string> = []): Effect.Effect<void, InvalidInput> =>
  Array.isArray(values) && values.every(isWellFormed)
    ? Effect.void
    : Effect.fail(new InvalidInput({ field, issue: "it is no text, or holds broken characters (lone surrogates)" }))

/** A value of the query that may be left out. */
export const oneInQuery = (field: string, value: string | undefined): Effect.Effect<void, InvalidInput> =>
  value === undefined ? Effect.void : inQuery(field, [value])
