/**
 * What a service imports contacts from: a file that travels with the request, or the address of one that the service
 * fetches itself.
 * (Service interface, contactsImportPost.)
 */
import { Data, type PlatformError, Schema, type Stream } from "effect"

export type ImportSource = Data.TaggedEnum<{
  File: {
    readonly name: string
    /** Where it fails, so does the import, with the same error; the service takes nothing of it. */
    readonly content: Stream.Stream<Uint8Array, PlatformError.PlatformError>
    /** Whether the content can be read a second time, as that of a file can and that of standard input cannot. */
    readonly replayable?: boolean
  }
  Address: { readonly url: string }
}>

export const ImportSource = Data.taggedEnum<ImportSource>()

export interface ImportOptions {
  /** A list that exists already. */
  readonly listName?: string | undefined
  /** The encoding of the file, as the Encoding Standard names it; UTF-8 where it is not given. */
  readonly encodingName?: string | undefined
}

/** The service does not take this file, or does not fetch from this address. */
export class ImportRefused extends Schema.TaggedError<ImportRefused>()("ImportRefused", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The import was refused: ${this.reason}`
  }
}
