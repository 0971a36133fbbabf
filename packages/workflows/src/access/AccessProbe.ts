/**
 * Finds out what a key may do by requests that change nothing. It can probe only levels that have a reading
 * operation.
 */
import { Effect } from "effect"
import { type AccessLevel, ContactsService, CredentialsService, type ServiceError } from "@roster/domain"
import { fnRedacted } from "@roster/domain/internal"

/** Whether a key has an access level. */
export interface ProbedLevel {
  /** The access level. */
  readonly level: AccessLevel
  /** Whether the key has it. */
  readonly granted: boolean
}

/** An export that does not exist: the answer is that it is not found, or that access is denied. */
const noExport = "00000000-0000-4000-8000-000000000000"

const probe = (level: AccessLevel, question: Effect.Effect<unknown, ServiceError>) =>
  question.pipe(
    Effect.as(true),
    Effect.catchReason("ServiceError", "AccessDenied", () => Effect.succeed(false)),
    Effect.map((granted): ProbedLevel => ({ level, granted }))
  )

/**
 * Finds out what a key may do by harmless requests, since the interface does not tell. Levels without a reading
 * operation cannot be probed. Fails as the requests do, with `Unauthorized` if the key is not valid.
 */
export const probeAccess = fnRedacted("probeAccess")(function* () {
  const contacts = yield* ContactsService
  const { apiKeys } = yield* CredentialsService
  // A request that is refused for another reason has passed the access check.
  const allowed = () => Effect.void
  return yield* Effect.all([
    probe(
      "ViewContacts",
      Effect.catchTags(contacts.list({ limit: 1 }), { InvalidInput: allowed, InvalidRule: allowed })
    ),
    probe("Export", Effect.catchTag(contacts.exportStatus(noExport), "ExportNotFound", allowed)),
    probe("Security", Effect.catchTag(apiKeys.list(), "InvalidInput", allowed))
  ])
})
