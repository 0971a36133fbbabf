import { readContacts } from "@roster/domain"
import { importWarnings, surveyContacts } from "@roster/workflows"
import { Effect, Stream } from "effect"

const rows = readContacts(Stream.make(new TextEncoder().encode("email\nada@example.com\n")))

export const example = Effect.gen(function* () {
  const survey = yield* surveyContacts(rows, { mapping: {} })
  return yield* importWarnings(rows, survey, { defaultStatus: "Inactive" })
})
