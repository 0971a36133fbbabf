/** Refuses values that an address would change, or that would lead elsewhere, before anything is sent. */
import { InvalidInput } from "@roster/domain"
import { isAddressable, notAddressable } from "@roster/domain/internal"
import { Effect } from "effect"

/** Checks a segment of the path. */
export const inPath = (field: string, value: string): Effect.Effect<void, InvalidInput> =>
  isAddressable(value) ? Effect.void : Effect.fail(notAddressable(field))

const isWellFormed = (value: unknown): boolean => typeof value === "string" && value.isWellFormed()

/** Checks values of the query. */
export const inQuery = (field: string, values: ReadonlyArray<string> = []): Effect.Effect<void, InvalidInput> =>
  Array.isArray(values) && values.every(isWellFormed)
    ? Effect.void
    : Effect.fail(new InvalidInput({ field, issue: "it is not text, or has unpaired surrogates" }))

/**
 * What values of a query may have as the text of an address, in bytes: servers and proxies refuse a line of more than 8 KiB, of which the
 * rest of a request needs a part.
 */
const mostInQuery = 6 * 1024

/** Whether values are too long for an address. */
export const exceedsQuery = (values: ReadonlyArray<string> = []): boolean => {
  let most = mostInQuery
  for (const value of values) if ((most -= encodeURIComponent(value).length + 1) < 0) return true
  return false
}

/** Checks an optional value of the query. */
export const oneInQuery = (field: string, value: string | undefined): Effect.Effect<void, InvalidInput> =>
  value === undefined ? Effect.void : inQuery(field, [value])
