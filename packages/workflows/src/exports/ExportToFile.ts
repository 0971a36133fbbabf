/** Exports into a file or a sink: request, wait and download. A file appears only when it is complete. */
import { Effect, type FileSystem, type Path, type PlatformError, Stream } from "effect"
import {
  ContactsService,
  type ExportExpired,
  type ExportLink,
  type ExportNotFound,
  type ExportRequest,
  type InvalidInput,
  type ServiceError
} from "@roster/domain"
import { fnRedacted, KnownFields } from "@roster/domain/internal"
import { checkRuleFields, type UnknownFieldOptions } from "./RuleFields.ts"
import { prepareFile } from "./PreparedFile.ts"
import { awaitExport, type ExportWaitOptions, waitFields } from "./ExportPolling.ts"

/** Why a download ends early. */
export type DownloadError = ExportNotFound | ExportExpired | InvalidInput | ServiceError

/** Consumes the bytes of an export. */
export type ExportSink<E = never, R = never> = (
  content: Stream.Stream<Uint8Array, DownloadError>
) => Effect.Effect<unknown, E, R>

/** An export that was downloaded. */
export interface DownloadedExport {
  /** The size of its file. */
  readonly bytes: number
}

/** Why an export to a file ends early: the download fails, or the file system does. */
export type FileError = DownloadError | PlatformError.PlatformError

/** What writing a file needs. `NodeServices.layer` of `@effect/platform-node/NodeServices` provides both. */
export type Files = FileSystem.FileSystem | Path.Path

/** How `exportTo` waits. */
export interface ExportToOptions extends ExportWaitOptions, UnknownFieldOptions {
  /** Runs when the service has accepted the export, with its link, which the interface tells only now. */
  readonly onStart?: ((link: ExportLink) => Effect.Effect<void>) | undefined
  /** Runs if the wait is interrupted: the export is still running, and its link stays good. */
  readonly onWaitInterrupted?: ((link: ExportLink) => Effect.Effect<void>) | undefined
}

const optionFields = KnownFields.fieldsOf<ExportToOptions>("this call", {
  ...waitFields,
  allowUnknownField: true,
  onStart: true,
  onWaitInterrupted: true
})

const toFile =
  (target: string): ExportSink<FileError, Files> =>
  (content) =>
    Effect.scoped(Effect.flatMap(prepareFile(target), (write) => write(content)))

const sinkOf = <E, R>(target: string | ExportSink<E, R>): ExportSink<E | FileError, R | Files> =>
  typeof target === "string" ? toFile(target) : target

const download = fnRedacted("downloadTo")(function* <E, R>(link: string, sink: ExportSink<E, R>) {
  const contacts = yield* ContactsService
  let bytes = 0
  const content = Stream.map(contacts.download(link), (part) => {
    bytes += part.length
    return part
  })
  yield* sink(content)
  const downloaded: DownloadedExport = { bytes }
  return downloaded
})

const exported = fnRedacted("exportTo")(function* <E, R>(
  request: ExportRequest,
  sink: ExportSink<E, R>,
  options: ExportToOptions
) {
  yield* KnownFields.checkFields(optionFields, options)
  const { allowUnknownField, limit, onStart, onWaitInterrupted, schedule } = options
  const { filter } = request
  if (filter?._tag === "ByRule") yield* checkRuleFields(filter.rule, { allowUnknownField })
  const contacts = yield* ContactsService
  const link = yield* contacts.export(request)
  yield* onStart?.(link) ?? Effect.void
  yield* awaitExport(link.id, { limit, schedule }).pipe(
    Effect.onInterrupt(() => onWaitInterrupted?.(link) ?? Effect.void)
  )
  return yield* download(link.link, sink)
})

type Downloading<E, R> = ReturnType<typeof download<E, R>>
type Exporting<E, R> = ReturnType<typeof exported<E, R>>

/** Downloads an export to a file, as `prepareFile` writes it, or to a sink, which needs no file system. */
export function downloadTo(link: string, target: string): Downloading<FileError, Files>
export function downloadTo<E, R>(link: string, target: ExportSink<E, R>): Downloading<E, R>
export function downloadTo<E, R>(
  link: string,
  target: string | ExportSink<E, R>
): Downloading<E | FileError, R | Files> {
  return download(link, sinkOf(target))
}

/**
 * Requests an export, waits for it and downloads it, like `downloadTo`. A file that exists is replaced at the end. A rule with a
 * custom field that no contact has is refused, unless it is allowed.
 *
 * ```ts
 * import { exportTo } from "@roster/workflows"
 * import { Console, Stream } from "effect"
 *
 * const sink = Stream.runForEach((part: Uint8Array) => Console.error(`${part.length} bytes`))
 *
 * export const example = exportTo({ fileFormat: "Json" }, sink, { limit: "5 minutes" })
 * ```
 */
export function exportTo(request: ExportRequest, target: string, options?: ExportToOptions): Exporting<FileError, Files>
export function exportTo<E, R>(
  request: ExportRequest,
  target: ExportSink<E, R>,
  options?: ExportToOptions
): Exporting<E, R>
export function exportTo<E, R>(
  request: ExportRequest,
  target: string | ExportSink<E, R>,
  options: ExportToOptions = {}
): Exporting<E | FileError, R | Files> {
  return exported(request, sinkOf(target), options)
}
