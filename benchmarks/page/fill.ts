/** Makes a store of so many contacts, by the service itself. */
import { ContactPayload, ContactsService } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Effect, Schema } from "effect"
import { wirePayload } from "../src/Records.ts"
import { argument, whole } from "../src/Trial.ts"

const filename = argument("store")
const contacts = Number(argument("contacts"))

const decode = Schema.decodeUnknownEffect(Schema.Array(ContactPayload))

const fill = Effect.gen(function* () {
  const service = yield* ContactsService
  for (let from = 0; from < contacts; from += 1000) {
    yield* service.add(yield* decode(Array.from({ length: 1000 }, (_, i) => wirePayload(from + i))))
  }
})

await whole(async () => {
  await Effect.runPromise(Effect.provide(fill, SqlServices.layer({ filename })))
  return contacts
})
