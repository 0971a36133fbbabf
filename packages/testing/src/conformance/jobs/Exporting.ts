/** Runs an export from the request to the downloaded bytes. */
import { ContactFilter, ContactsService, type ExportRequest } from "@roster/domain"
import { awaitExport } from "@roster/workflows"
import { Effect, Schedule, Stream } from "effect"

/** Starts an export, waits for it and downloads it. */
export const exported = Effect.fnUntraced(function* (request?: ExportRequest) {
  const contacts = yield* ContactsService
  const { id, link } = yield* contacts.export(request)
  yield* awaitExport(id, { schedule: Schedule.spaced("20 millis"), limit: "30 seconds" })
  const chunks = yield* Stream.runCollect(contacts.download(link))
  return new Uint8Array(chunks.flatMap((chunk) => [...chunk]))
})

export const byEmails = (...emails: readonly [string, ...ReadonlyArray<string>]) => ContactFilter.ByEmails({ emails })
