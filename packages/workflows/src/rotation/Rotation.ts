/**
 * Giving a credential a new secret while it is in use. A successor is made that may do the same, its secret is handed over,
 * and when the old one is no longer used it is deleted. Whatever stops it, the same call goes on, and at every moment there is
 * a credential whose secret somebody has. (docs/decisions/rotation.md)
 */
import {
  type ApiKey,
  type ApiKeyPayload,
  type EmailAddress,
  fnRedacted,
  type LastManagingKey,
  type NewApiKey,
  type NewSmtpCredentials,
  type SmtpCredentials,
  type SmtpCredentialsPayload
} from "@roster/domain"
import { copyApiKey, copySmtp } from "./CredentialCopy.ts"
import { rotationOf } from "./RotationRun.ts"
import { apiKeySuccessor, smtpSuccessors } from "./RotationNames.ts"
import type { ApiKeyRotationOptions, RotationOptions } from "./RotationOptions.ts"
import type { RotationJournal } from "./RotationRecord.ts"

const apiKeys = rotationOf<ApiKey, NewApiKey, ApiKeyPayload, LastManagingKey>({
  operations: (service) => service.apiKeys,
  copy: copyApiKey,
  successors: (name) => [apiKeySuccessor(name)],
  renames: true,
  rotates: ({ accessLevels }) => accessLevels.includes("Security") && accessLevels.includes("ModifyAccessTokens")
})

const smtp = rotationOf<SmtpCredentials, NewSmtpCredentials, SmtpCredentialsPayload>({
  operations: (service) => service.smtp,
  copy: copySmtp,
  successors: smtpSuccessors,
  renames: false,
  rotates: () => false
})

/**
 * Rotates an API key, which has its name again in the end. Fails before anything is made where there is no such key, where
 * the account has no room for one more (`TooManyCredentials`), or where no successor could be as able and as limited
 * (`RotationRefused`); and with `StillInUse` where the old one is used on: both are kept then.
 */
export const rotateApiKey = fnRedacted("rotateApiKey")(function* <E = never, R = never, JE = never>(
  name: string,
  options: ApiKeyRotationOptions<E, R, JE>
) {
  return yield* apiKeys.rotate(name, options)
})

/**
 * Rotates SMTP credentials. Their name is what a program logs in with, so that the successor keeps one of its own, and what is
 * handed over is both.
 */
export const rotateSmtp = fnRedacted("rotateSmtp")(function* <E = never, R = never, JE = never>(
  name: string,
  options: RotationOptions<NewSmtpCredentials, E, R, JE>
) {
  return yield* smtp.rotate(name, options)
})

interface PlanOptions<JE> {
  readonly journal: RotationJournal<JE>
  readonly subaccount?: EmailAddress | undefined
}

/** What `rotateApiKey` would begin with, without doing it. */
export const planApiKeyRotation = fnRedacted("planApiKeyRotation")(function* <JE = never>(
  name: string,
  options: PlanOptions<JE>
) {
  return yield* apiKeys.plan(name, options)
})

/** What `rotateSmtp` would begin with, without doing it. */
export const planSmtpRotation = fnRedacted("planSmtpRotation")(function* <JE = never>(
  name: string,
  options: PlanOptions<JE>
) {
  return yield* smtp.plan(name, options)
})
