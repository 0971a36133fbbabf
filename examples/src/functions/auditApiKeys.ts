import { CredentialsService } from "@roster/domain"
import { auditApiKeys } from "@roster/workflows"
import { DateTime, Effect } from "effect"

export const example = Effect.gen(function* () {
  const { apiKeys } = yield* CredentialsService
  return auditApiKeys(yield* apiKeys.list(), { now: yield* DateTime.now, unusedFor: "30 days" })
})
