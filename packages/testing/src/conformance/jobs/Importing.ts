/** Files to import, and the contacts that result. */
import { type Contact, ContactsService, ImportSource, type RuleText } from "@roster/domain"
import { JsonParser } from "@roster/domain/internal"
import { Effect, Stream } from "effect"
import { eventually } from "../cases/Eventually.ts"

export const utf8 = (text: string) => new TextEncoder().encode(text)

export const file = (content: Uint8Array, name = "contacts.csv", chunk = 64 * 1024) =>
  ImportSource.File({
    name,
    content: Stream.fromIterable(
      Array.from({ length: Math.ceil(content.length / chunk) }, (_, i) => content.subarray(i * chunk, (i + 1) * chunk))
    )
  })

/** Waits until a place has the expected number of contacts, and returns them. */
export const imported = (rule: RuleText, count: number) =>
  Effect.flatMap(ContactsService, (contacts) =>
    eventually(contacts.list({ rule, limit: 1000 }), (found) => found.length >= count)
  )

/** The fields that an import must not change: all but the date of the last update. */
export const profile = (contact: Contact): Record<string, unknown> =>
  // The same shape as the written file.
  Object(JsonParser.parse(JSON.stringify({ ...contact, dateUpdated: undefined })))
