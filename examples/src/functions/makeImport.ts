import { readContacts } from "@roster/domain"
import { makeImport, surveyContacts } from "@roster/workflows"
import { Effect, Stream } from "effect"

const rows = readContacts(Stream.make(new TextEncoder().encode("email\nada@example.com\n")))

export const example = Effect.gen(function* () {
  const importing = yield* makeImport(rows, yield* surveyContacts(rows), { record: false })
  yield* importing.apply()
  return yield* importing.report
})
