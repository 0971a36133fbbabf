import { CredentialsService } from "@roster/domain"
import { auditApiKeys } from "@roster/workflows"
import { DateTime, Duration, Effect, type Redacted } from "effect"

/** Makes a key that can read contacts and export them for a quarter, and hands its secret over, which is shown once. */
export const makeReportingKey = Effect.fnUntraced(function* (
  keep: (secret: Redacted.Redacted<string>) => Effect.Effect<void>
) {
  const { apiKeys } = yield* CredentialsService
  const { token } = yield* apiKeys.create({
    name: "reporting",
    for: ["contacts:read", "contacts:export"],
    expires: Duration.days(90),
    ipRanges: ["192.0.2.0/24"]
  })
  yield* keep(token)
})

/** The names of the keys that nobody has used for a month, that expire soon, or that work from any address. */
export const keysToLookAt = Effect.gen(function* () {
  const { apiKeys } = yield* CredentialsService
  const findings = auditApiKeys(yield* apiKeys.list(), { now: yield* DateTime.now, unusedFor: "30 days" })
  return findings.map(({ _tag, name }) => `${name}: ${_tag}`)
})
