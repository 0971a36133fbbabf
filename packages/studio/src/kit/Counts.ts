/** Numbers of things as text, by the person's language. */
import * as Language from "../texts/Language.ts"

/** A number with the word for one or for many. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  Language.counted(count, { one, other: many })

/** A number of contacts. */
export const people = (count: number): string => counted(count, "contact")
