/**
 * A note that an import is going on, which outlives a reload of its tab: without names or addresses, only how many rows there
 * are and a digest by which their file is recognised.
 */
import { Schema } from "effect"

/** An import that was going on. */
export const LeftImport = Schema.Struct({
  /** The name of the service or store. */
  target: Schema.String,
  /** Tells the rows of its file from those of others. */
  digest: Schema.String,
  /** The number of rows that it was to apply. */
  rows: Schema.Int
})
export interface LeftImport extends Schema.Schema.Type<typeof LeftImport> {}

/** The storage of a tab. */
export type NoteStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">

const key = "roster.import"
const text = Schema.fromJsonString(LeftImport)
const encode = Schema.encodeSync(text)
const decode = Schema.decodeUnknownOption(text)

/** Notes that an import is going on. */
export const leaveNote = (storage: NoteStorage | undefined, note: LeftImport): void =>
  storage?.setItem(key, encode(note))

/** Removes the note. */
export const removeNote = (storage: NoteStorage | undefined): void => storage?.removeItem(key)

/** The note of an import on a target that did not come to its end. */
export const readNote = (storage: NoteStorage | undefined, target: string): LeftImport | undefined => {
  const note = decode(storage?.getItem(key))
  return note._tag === "Some" && note.value.target === target ? note.value : undefined
}
