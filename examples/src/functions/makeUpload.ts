import { readContacts } from "@roster/domain"
import { makeUpload, surveyContacts } from "@roster/workflows"
import { Effect, Stream } from "effect"

const rows = readContacts(Stream.make(new TextEncoder().encode("email\nada@example.com\n")))

export const example = Effect.gen(function* () {
  const upload = yield* makeUpload(rows, yield* surveyContacts(rows), { record: false })
  yield* upload.send()
  return yield* upload.report
})
