/** Names that no object has, which would be dropped silently; as plain data, so that the tag of a service loads no errors. */
import { Struct } from "effect"
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
  /** What is wrong with the values of some names. */
  readonly checks?: ReadonlyArray<readonly [name: string, check: ValueCheck]> | undefined
}

/** What is wrong with a value that would do something else than its caller wrote, or `undefined`. */
export type ValueCheck = (value: unknown) => string | undefined

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

// Objects of callers

/** Every field of an object, with the check of its value where it has one. */
export type Names<A> = { readonly [Name in keyof A]-?: true | ValueCheck }

/** The fields of an object, which the compiler compares with its declaration. */
export interface Fields<A> extends KnownNames {
  /** Every field. */
  readonly fields: Names<A>
  /** Their names, which are suggested for others. */
  readonly names: ReadonlyArray<keyof A & string>
}

/** Names the fields of an object: `fieldsOf<SubaccountScope>("a scope", { subaccount: true })`. */
export const fieldsOf = <A extends object>(ofWhat: string, fields: Names<A>): Fields<A> => ({
  ofWhat,
  fields,
  names: Struct.keys(fields),
  checks: Object.entries<true | ValueCheck>(fields).flatMap(([name, check]) => (check === true ? [] : [[name, check]]))
})

/** The fields of the members of a tagged union. */
export interface FieldsByTag<A extends { readonly _tag: string }> {
  /** The fields of each member. */
  readonly byTag: { readonly [Tag in A["_tag"]]: Fields<Extract<A, { readonly _tag: Tag }>> }
}
