/**
 * The objects that callers give: options, pages, requests, filters. A name that an object does not have is refused, since
 * dropping it would do something else than the caller wrote. (docs/decisions/records.md)
 */
import { Effect, Predicate } from "effect"
import { type KnownNames, unknownName } from "../values/UnknownNames.ts"
import { InvalidInput } from "./InvalidInput.ts"

export { type Fields, type FieldsByTag, fieldsOf, type Names, type ValueCheck } from "../values/UnknownNames.ts"

/** The fields of an object, or those of the members of a tagged union. */
export type Known = KnownNames | { readonly byTag: { readonly [tag: string]: KnownNames } }

const ofMember = (known: Known, given: unknown): KnownNames | undefined => {
  if (!("byTag" in known)) return known
  return Predicate.hasProperty(given, "_tag") ? known.byTag[String(given._tag)] : undefined
}

/** The refusal of an object with another field, or with a value that is none of its field. What is not an object has none. */
export const refusal = (known: Known, given: unknown): InvalidInput | undefined => {
  const fields = ofMember(known, given)
  if (fields === undefined) return undefined
  const unknown = unknownName(given, fields)
  if (unknown !== undefined) return new InvalidInput({ field: unknown.name, issue: unknown.issue })
  for (const [field, check] of fields.checks ?? []) {
    const value = Predicate.hasProperty(given, field) ? given[field] : undefined
    const issue = value === undefined ? undefined : check(value)
    if (issue !== undefined) return new InvalidInput({ field, issue })
  }
  return undefined
}

/** Throws for an object with an unknown field, as the constructors of records do. */
export const requireFields = (known: Known, given: unknown): void => {
  const refused = refusal(known, given)
  if (refused !== undefined) throw refused
}

/** Refuses an object with an unknown field. */
export const checkFields = (known: Known, given: unknown): Effect.Effect<void, InvalidInput> =>
  Effect.suspend(() => {
    const refused = refusal(known, given)
    return refused === undefined ? Effect.void : Effect.fail(refused)
  })
