/** Names that no record has, which would be dropped silently. */
import { didYouMean, quoted } from "./DidYouMean.ts"

/** The names that a record in code may have. */
export interface KnownNames {
  /** What has them, as in "a contact has no field". */
  readonly ofWhat: string
  /** The names that are suggested. */
  readonly names: ReadonlyArray<string>
  /** Names that are accepted and not suggested. */
  readonly alsoKnown?: ReadonlyArray<string> | undefined
  /** Names that a record has when it is read, and that no write takes. */
  readonly notWritten?: ReadonlyArray<string> | undefined
  /** The function that makes a record to write from one that was read, such as `ContactPayload.fromContact`. */
  readonly madeBy?: string | undefined
}

/** The first unknown name of a record, without spaces, and what is wrong with it. A value that is not a record has none. */
export const unknownName = (
  record: unknown,
  { alsoKnown = [], madeBy = "", names, notWritten = [], ofWhat }: KnownNames
): { readonly name: string; readonly issue: string } | undefined => {
  if (typeof record !== "object" || record === null || Array.isArray(record)) return undefined
  for (const [name, value] of Object.entries(record)) {
    if (names.includes(name) || alsoKnown.includes(name)) continue
    if (notWritten.includes(name)) {
      if (value === undefined) continue
      return { name, issue: `it is read and not written with ${ofWhat}; ${madeBy} leaves it out` }
    }
    const meant = didYouMean(name, names)
    return {
      name: name.replaceAll(/\s/g, "_"),
      issue: `${ofWhat} has no field ${quoted(name)}${meant === undefined ? "" : `; ${meant}`}`
    }
  }
  return undefined
}
