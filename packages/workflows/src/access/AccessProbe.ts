/**
 * What a key may do, found out by asking for something harmless: the interface has no way to read one's own levels. Only
 * levels that open a reading operation can be found out; for the others one would have to change something.
 */
import { Effect } from "effect"
import {
  type AccessLevel,
  ContactsService,
  CredentialsService,
  ExportId,
  fnRedacted,
  type ServiceError
} from "@roster/domain"

export interface ProbedLevel {
  readonly level: AccessLevel
  readonly granted: boolean
}

/** An export that nobody has: the answer is that it is not there, or that one may not ask. */
const noExport = ExportId.make("00000000-0000-4000-8000-000000000000")

/**
 * Asks one question for each level that can be found out. Fails as the questions do, with `Unauthorized` for a key that is
 * no good at all.
 */
export const probeAccess = fnRedacted("probeAccess")(function* () {
  const contacts = yield* ContactsService
  const { apiKeys } = yield* CredentialsService
  // What is refused for another reason than the level was let through.
  const letThrough = () => Effect.void
  return yield* Effect.all([
    probe(
      "ViewContacts",
      contacts.list({ limit: 1 }).pipe(Effect.catchTags({ InvalidInput: letThrough, InvalidRule: letThrough }))
    ),
    probe("Export", contacts.exportStatus(noExport).pipe(Effect.catchTag("ExportNotFound", letThrough))),
    probe("Security", apiKeys.list().pipe(Effect.catchTag("InvalidInput", letThrough)))
  ])
})

const probe = (level: AccessLevel, question: Effect.Effect<unknown, ServiceError>) =>
  question.pipe(
    Effect.as(true),
    Effect.catchReason("ServiceError", "AccessDenied", () => Effect.succeed(false)),
    Effect.map((granted): ProbedLevel => ({ level, granted }))
  )
