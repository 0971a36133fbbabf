/** Exports. (`packages/api/openapi.json`: ExportStatus, ExportLink, ExportFileFormats, CompressionFormat.) */
import { Schema } from "effect"
import { withFromText } from "../errors/Constructors.ts"
import type { ContactFilter } from "../rules/ContactFilter.ts"
import { openLiterals, wireRecord } from "../values/WireRecord.ts"
import { TaggedError } from "../errors/TaggedError.ts"

/** The id of an export: a GUID. */
export const ExportId = withFromText(
  Schema.String.pipe(
    Schema.check(
      Schema.isPattern(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, {
        expected: "the id of an export, such as 3fa85f64-5717-4562-b3fc-2c963f66afa6"
      })
    ),
    Schema.brand("ExportId")
  ),
  "id"
)
export type ExportId = typeof ExportId.Type

/** The file format of an export. */
export const ExportFileFormat = Schema.Literals(["Csv", "Xml", "Json"])
export type ExportFileFormat = typeof ExportFileFormat.Type

/** The compression of the file of an export. */
export const CompressionFormat = Schema.Literals(["None", "Zip"])
export type CompressionFormat = typeof CompressionFormat.Type

/** The state of an export: `Loading`, then `Ready` or `Error`; `Expired` once its file is gone. */
export const ExportStatus = openLiterals(Schema.Literals(["Error", "Loading", "Ready", "Expired"]))
export type ExportStatus = typeof ExportStatus.Type

/** The link to the file of an export: 404 until it is ready, then readable without a key until it expires. */
export const ExportLink = wireRecord(
  {
    /** The address of the file. It needs no key: every person who has it can read the file. */
    link: Schema.String,
    /** The id of the export, a GUID. */
    id: ExportId
  },
  { id: "PublicExportID" }
).annotate({
  identifier: "ExportLink"
})
export interface ExportLink extends Schema.Schema.Type<typeof ExportLink> {}

/** What to export and how. */
export interface ExportRequest {
  /** The contacts to export (default: all). */
  readonly filter?: ContactFilter | undefined
  /** The file format (default: Csv). */
  readonly fileFormat?: ExportFileFormat | undefined
  /** The compression (default: None). */
  readonly compressionFormat?: CompressionFormat | undefined
  /** The name of the file in the link (default: one that the service makes). */
  readonly fileName?: string | undefined
  /** Whether the file has the lists of each contact (default: false). Only a service of ours tells them; any other refuses. */
  readonly lists?: boolean | undefined
}

/** There is no export with this id, or its file is not ready yet. */
export class ExportNotFound extends TaggedError<ExportNotFound>()("ExportNotFound", {
  /** The id of the export, a GUID, or for a download the host of its link, whose rest is a secret. */
  id: Schema.String
}) {
  override get message(): string {
    return `There is no export ${this.id}, or its file is not there yet.`
  }
}

/** The service could not make the file. It does not try again: request a new export. */
export class ExportFailed extends TaggedError<ExportFailed>()("ExportFailed", {
  /** The id of the export, a GUID. */
  id: ExportId
}) {
  override get message(): string {
    return `The service could not complete export ${this.id}. Request a new one.`
  }
}

/** The export has expired and its file was deleted. */
export class ExportExpired extends TaggedError<ExportExpired>()("ExportExpired", {
  /** The id of the export, a GUID, or for a download the host of its link, whose rest is a secret. */
  id: Schema.String
}) {
  override get message(): string {
    return `Export ${this.id} has expired and its file is gone. Request a new one.`
  }
}

/** Polling gave up with the status unknown; the export may still be running, so wait again with the same id. */
export class ExportPollingFailed extends TaggedError<ExportPollingFailed>()("ExportPollingFailed", {
  /** The id of the export, a GUID. */
  id: ExportId,
  /** Why the last poll failed, in sentences. */
  reason: Schema.String
}) {
  override get message(): string {
    return `The status of export ${this.id} is unknown: ${this.reason} It may still be running: wait again with its id.`
  }
}

/** The wait ended before the export did. The export is still running: wait again with the same id. */
export class ExportTimedOut extends TaggedError<ExportTimedOut>()("ExportTimedOut", {
  /** The id of the export, a GUID. */
  id: ExportId,
  /** The last status that the service told. */
  lastStatus: ExportStatus
}) {
  override get message(): string {
    return (
      `Export ${this.id} was still ${this.lastStatus} when the wait ended. It is still running: check it again ` +
      "with its id."
    )
  }
}
