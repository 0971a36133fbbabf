/**
 * What a kind makes of texts that are stored already. Some are in the form that rules compare, and others in that of a file; a text
 * that reads as both is unclear. (docs/decisions/csv.md)
 */
import type { FieldChanges } from "../runs/ContactState.ts"
import { foldName } from "../values/FieldNames.ts"
import { kindName, makeKindReader, readsFractions } from "./ColumnKind.ts"

/** What a kind makes of a stored text. */
export interface StoredText {
  /** The text in the form that rules compare; `undefined` for one that is not of the kind. */
  readonly to: string | undefined
  /** Whether the text is in that form already, and reads as another value in the form of the kind. */
  readonly isUnclear: boolean
  /** Whether only the form of the kind explains the text, or only the one that rules compare. */
  readonly proves: "Kind" | "Stored" | undefined
}

/** Reads a stored text. */
export type StoredTextReader = (text: string) => StoredText

/** Makes the function that says what a kind makes of a stored text. */
export const makeStoredTextReader = (kind: string): StoredTextReader => {
  const read = makeKindReader(kind)
  const readStored = makeKindReader(kindName(kind))
  // What a form without fractions makes of a text has no sign that the form could read again as another one.
  const mayBeUnclear = readsFractions(kind)
  return (text) => {
    const of = read(text)
    const stored = readStored(text)
    const isStored = stored === text
    return {
      to: of ?? (isStored ? text : undefined),
      isUnclear: mayBeUnclear && isStored && of !== undefined && of !== text,
      proves: of === undefined ? (isStored ? "Stored" : undefined) : stored === undefined ? "Kind" : undefined
    }
  }
}

/** The readers of custom fields whose texts are of a kind, by the folded names that the fields have in changes. */
export type StoredTextReaders = ReadonlyMap<string, StoredTextReader>

/** The readers of custom fields by the names of the fields. */
export const storedTextReaders = (kinds: Iterable<readonly [customField: string, kind: string]>): StoredTextReaders =>
  new Map(Array.from(kinds, ([name, kind]) => [foldName(`CustomFields.${name}`), makeStoredTextReader(kind)]))

/** The fields that change only the form of their value: the old text means the new one by the kind of the field. */
export const onlyForms = (changes: FieldChanges, readers: StoredTextReaders): ReadonlyArray<string> =>
  readers.size === 0
    ? []
    : Object.entries(changes).flatMap(([field, [before, after]]) => {
        const reader = typeof before === "string" && before !== after ? readers.get(foldName(field)) : undefined
        if (reader === undefined) return []
        const { isUnclear, to } = reader(String(before))
        return to === after && !isUnclear ? [field] : []
      })
