/**
 * Values that become part of an address. What cannot be is refused before anything is sent: an address would carry it
 * changed, or lead elsewhere.
 */
import { InvalidInput, isAddressable, notAddressable } from "@roster/domain"
import { Effect } from "effect"

/**
 * A segment of the path.
 *
 * @internal
 */
export const inPath = (field: string, value: string): Effect.Effect<void, InvalidInput> =>
  isAddressable(value) ? Effect.void : Effect.fail(notAddressable(field))

/**
 * Values of the query.
 *
 * @internal
 */
export const inQuery = (
  field: string,
  values: ReadonlyArray<string | undefined> = []
): Effect.Effect<void, InvalidInput> =>
  values.every((value) => value === undefined || value.isWellFormed())
    ? Effect.void
    : Effect.fail(new InvalidInput({ field, issue: "it holds broken characters (lone surrogates)" }))
