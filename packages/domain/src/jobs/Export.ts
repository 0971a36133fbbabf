/**
 * Exports: a file of contacts that the service prepares, and the states on the way to it.
 * (Service interface, Resources: ExportStatus, ExportLink, ExportFileFormats, CompressionFormat.)
 */
import { Schema } from "effect"
import type { ContactFilter } from "../rules/ContactFilter.ts"
import { openLiterals } from "../values/OpenLiterals.ts"

/** The id of an export: a GUID. */
export const ExportId = Schema.String.pipe(
  Schema.check(
    Schema.isPattern(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, {
      expected: "the id of an export, such as 3fa85f64-5717-4562-b3fc-2c963f66afa6"
    })
  ),
  Schema.brand("ExportId")
)
export type ExportId = typeof ExportId.Type

export const ExportFileFormat = Schema.Literals(["Csv", "Xml", "Json"])
export type ExportFileFormat = typeof ExportFileFormat.Type

export const CompressionFormat = Schema.Literals(["None", "Zip"])
export type CompressionFormat = typeof CompressionFormat.Type

/** Where an export stands: `Loading`, then `Ready` or `Error`; `Expired` once its file is gone. */
export const ExportStatus = openLiterals(Schema.Literals(["Error", "Loading", "Ready", "Expired"]))
export type ExportStatus = typeof ExportStatus.Type

/**
 * Where the file of an export will be: the address answers 404 until the export is ready. It carries its own
 * unguessable id and needs no key, so whoever knows it can read the file until it expires.
 */
export const ExportLink = Schema.Struct({
  link: Schema.String,
  id: ExportId
}).pipe(Schema.encodeKeys({ link: "Link", id: "PublicExportID" }), Schema.annotate({ identifier: "ExportLink" }))
export type ExportLink = typeof ExportLink.Type

/**
 * What to export and how. Without a filter it is every contact; the format is Csv and nothing is compressed unless said.
 */
export interface ExportRequest {
  readonly filter?: ContactFilter | undefined
  readonly fileFormat?: ExportFileFormat | undefined
  readonly compressionFormat?: CompressionFormat | undefined
  readonly fileName?: string | undefined
}

export class ExportNotFound extends Schema.TaggedError<ExportNotFound>()("ExportNotFound", {
  id: Schema.String
}) {
  override get message(): string {
    return `There is no export ${this.id}, or its file is not there yet.`
  }
}

/** The service could not make the file. Nothing is repeated by itself: ask for a new export. */
export class ExportFailed extends Schema.TaggedError<ExportFailed>()("ExportFailed", { id: ExportId }) {
  override get message(): string {
    return `The service could not complete export ${this.id}. Ask for a new one.`
  }
}

export class ExportExpired extends Schema.TaggedError<ExportExpired>()("ExportExpired", { id: Schema.String }) {
  override get message(): string {
    return `Export ${this.id} has expired and its file is gone. Ask for a new one.`
  }
}

/**
 * The service did not answer for too long, so that nobody knows how the export stands. It goes on: wait again with the same
 * id, in this process or another one, when the service is back.
 */
export class ExportInterrupted extends Schema.TaggedError<ExportInterrupted>()("ExportInterrupted", {
  id: ExportId,
  reason: Schema.String
}) {
  override get message(): string {
    return `The wait for export ${this.id} was interrupted: ${this.reason} The export goes on: wait again with its id.`
  }
}

/** The wait ended before the export did. The export goes on: wait again with the same id. */
export class ExportTimedOut extends Schema.TaggedError<ExportTimedOut>()("ExportTimedOut", {
  id: ExportId,
  lastStatus: ExportStatus
}) {
  override get message(): string {
    return `Export ${this.id} was still ${this.lastStatus} when the wait ended. It goes on by itself: look again with its id.`
  }
}
