/** Names that no record has, which would be dropped silently. */
import { didYouMean, quoted } from "./DidYouMean.ts"

/** The names that a record in code may have. */
export interface KnownNames {
  /** What has them, as in "a contact has no field". */
  readonly ofWhat: string
  /** The names that are suggested. */
  readonly names: ReadonlyArray<string>
  /** Names that are no mistake either, and not suggested: what only the service sets is in a record that was read. */
  readonly alsoKnown?: ReadonlyArray<string> | undefined
}

/** The first unknown name of a record, without spaces, and what is wrong with it. A value that is not a record has none. */
export const unknownName = (
  record: unknown,
  { alsoKnown = [], names, ofWhat }: KnownNames
): { readonly name: string; readonly issue: string } | undefined => {
  if (typeof record !== "object" || record === null || Array.isArray(record)) return undefined
  for (const name of Object.keys(record)) {
    if (names.includes(name) || alsoKnown.includes(name)) continue
    const meant = didYouMean(name, names)
    return {
      name: name.replaceAll(/\s/g, "_"),
      issue: `${ofWhat} has no field ${quoted(name)}${meant === undefined ? "" : `; ${meant}`}`
    }
  }
  return undefined
}
