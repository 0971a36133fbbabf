/** Server-side imports of contacts. (`packages/api/openapi.json`: contactsImportPost.) */
import { Data, type PlatformError, Schema, type Stream } from "effect"
import type { Named } from "../values/WireRecord.ts"
import type { Resubscribe } from "../contacts/StatusLadder.ts"
import { TaggedError } from "../errors/TaggedError.ts"

/** The file to import: sent with the request, or fetched by the service from an address. */
export type ImportSource = Named<
  Data.TaggedEnum<{
    File: {
      readonly name: string
      /** If this stream fails, the import fails with the same error, and the service imports nothing. */
      readonly content: Stream.Stream<Uint8Array, PlatformError.PlatformError>
      /** Whether the content can be read a second time, such as that of a file and unlike standard input. */
      readonly replayable?: boolean
    }
    Address: { readonly url: string }
  }>
>

/** The constructors and the matcher of `ImportSource`. */
export const ImportSource = Data.taggedEnum<ImportSource>()

/** Options of a server-side import. */
export interface ImportOptions {
  /** An existing list, to which the contacts are added. */
  readonly listName?: string | undefined
  /** The encoding of the file, a name of the Encoding Standard (default: UTF-8). */
  readonly encodingName?: string | undefined
  /**
   * The statuses that the import lifts (default: false, which is none: nobody's is lowered, and everything else is updated). A
   * service that does not say that it knows the ladder decides by itself, and is asked only with `true` or without the option.
   */
  readonly resubscribe?: Resubscribe | undefined
}

/** The service refuses this file, or refuses to fetch from this address. */
export class ImportRefused extends TaggedError<ImportRefused>()("ImportRefused", {
  /** Why the service refused, in a sentence. */
  reason: Schema.String
}) {
  override get message(): string {
    return `The import was refused: ${this.reason}`
  }
}

/** The reason of an `ImportRefused` where `resubscribe` is `false` or a list and a service does not say that it keeps statuses. */
export const importNotGuarded =
  "this service does not say that it keeps the status of contacts who have unsubscribed. Add the contacts in " +
  "batches, or allow that they are resubscribed."
