import { Effect, Stream } from "effect"
import {
  ContactsService,
  type ExportExpired,
  type ExportLink,
  type ExportNotFound,
  type ExportRequest,
  fnRedacted,
  type InvalidInput,
  type ServiceError
} from "@roster/domain"
import { prepareFile } from "./AtomicFile.ts"
import { awaitExport, type ExportWaitOptions } from "./ExportPolling.ts"

/** Consumes the bytes of an export. */
export type ExportSink<E = never, R = never> = (
  content: Stream.Stream<Uint8Array, ExportNotFound | ExportExpired | InvalidInput | ServiceError>
) => Effect.Effect<unknown, E, R>

/** How `exportTo` waits. */
export interface ExportToOptions extends ExportWaitOptions {
  /** Runs when the service has accepted the export, with its link, which the interface tells only now. */
  readonly onStart?: ((link: ExportLink) => Effect.Effect<void>) | undefined
  /** Runs if the wait is interrupted: the export is still running, and its link stays good. */
  readonly onWaitInterrupted?: ((link: ExportLink) => Effect.Effect<void>) | undefined
}

/** Downloads an export to a sink or a file, as `prepareFile` writes it, and returns the number of bytes. */
export const downloadTo = fnRedacted("downloadTo")(function* <E = never, R = never>(
  link: string,
  target: string | ExportSink<E, R>
) {
  const contacts = yield* ContactsService
  let bytes = 0
  const content = Stream.map(contacts.download(link), (part) => {
    bytes += part.length
    return part
  })
  if (typeof target === "string") {
    yield* Effect.scoped(Effect.flatMap(prepareFile(target), (write) => write(content)))
  } else {
    yield* target(content)
  }
  return bytes
})

/** Requests an export, waits for it and downloads it, like `downloadTo`. */
export const exportTo = fnRedacted("exportTo")(function* <E = never, R = never>(
  request: ExportRequest,
  target: string | ExportSink<E, R>,
  options: ExportToOptions = {}
) {
  const contacts = yield* ContactsService
  const link = yield* contacts.export(request)
  yield* options.onStart?.(link) ?? Effect.void
  yield* awaitExport(link.id, options).pipe(Effect.onInterrupt(() => options.onWaitInterrupted?.(link) ?? Effect.void))
  return yield* downloadTo(link.link, target)
})
