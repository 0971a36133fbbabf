/** Runs an export from the request to the downloaded bytes. */
import { ContactFilter, ContactsService, type ExportRequest } from "@roster/domain"
import { awaitExport } from "@roster/workflows"
import { Effect, Schedule, Stream } from "effect"
import { eventually } from "../cases/Eventually.ts"

/** The bytes behind the link of an export that is ready. */
const downloaded = (contacts: ContactsService["Service"], link: string) =>
  Effect.map(Stream.runCollect(contacts.download(link)), (chunks) => new Uint8Array(Buffer.concat(chunks)))

/** Starts an export, waits for it and downloads it. */
export const exported = Effect.fnUntraced(function* (request?: ExportRequest) {
  const contacts = yield* ContactsService
  const { id, link } = yield* contacts.export(request)
  yield* awaitExport(id, { schedule: Schedule.spaced("20 millis"), limit: "2 minutes" })
  return yield* downloaded(contacts, link)
})

/** Exports and downloads with many looks in a short time, in place of the waits that the service asks for: for small exports. */
export const exportedSoon = Effect.fnUntraced(function* (request: ExportRequest) {
  const contacts = yield* ContactsService
  const { id, link } = yield* contacts.export(request)
  yield* eventually(contacts.exportStatus(id), (status) => status !== "Loading")
  return yield* downloaded(contacts, link)
})

export const byEmails = (...emails: readonly [string, ...ReadonlyArray<string>]) => ContactFilter.ByEmails({ emails })
