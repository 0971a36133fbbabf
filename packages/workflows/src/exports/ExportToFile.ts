/**
 * The file of an export on disk: under its name it is whole or not there at all.
 */
import { Effect, FileSystem, Path, Stream } from "effect"
import { ContactsService, type ExportRequest, fnRedacted } from "@roster/domain"
import { awaitExport, type ExportWaitOptions } from "./ExportPolling.ts"

/**
 * Downloads an export by its link. The bytes go to a file beside the target, readable by its owner alone, which takes the
 * name when they are all there; a failure leaves nothing behind. Gives the number of bytes.
 */
export const downloadTo = fnRedacted("downloadTo")(function* (link: string, target: string) {
  const contacts = yield* ContactsService
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const draft = path.join(path.dirname(target), `.${path.basename(target)}.${crypto.randomUUID()}.tmp`)
  let bytes = 0
  const write = Effect.gen(function* () {
    const file = yield* fs.open(draft, { flag: "wx", mode: 0o600 })
    yield* Stream.runForEach(contacts.download(link), (part) => {
      bytes += part.length
      return file.writeAll(part)
    })
    yield* file.sync
  })
  yield* Effect.scoped(write).pipe(
    Effect.andThen(fs.rename(draft, target)),
    Effect.onError(() => Effect.ignore(fs.remove(draft, { force: true })))
  )
  return bytes
})

/** Asks for an export, waits for it, and downloads it. */
export const exportTo = fnRedacted("exportTo")(function* (
  request: ExportRequest,
  target: string,
  options?: ExportWaitOptions
) {
  const contacts = yield* ContactsService
  const { id, link } = yield* contacts.export(request)
  yield* awaitExport(id, options)
  return yield* downloadTo(link, target)
})
