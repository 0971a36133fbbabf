/** Creates credentials. One whose answer was lost has lost its secret too, so the same call gives it another one. */
import { DateTime, Duration, Effect, Schema } from "effect"
import {
  type ApiKey,
  type ApiKeyPayload,
  beforeWriting,
  CallName,
  type CredentialOperations,
  type LastManagingKey,
  NameTaken,
  OutcomeUnknown,
  ServiceError,
  sometimes,
  type SmtpCredentials,
  type SmtpCredentialsPayload
} from "@roster/domain"
import { CredentialSettings, fnRedacted, invalidInput, randomId } from "@roster/domain/internal"
import { RotationRefused } from "./RotationOptions.ts"

const { apiKeySettings, credentialSettings, partOf } = CredentialSettings

/** The fields that API keys and SMTP credentials share. */
export type Credential = Omit<ApiKey, "accessLevels">

/** The fields of a payload of either kind that name the credential. */
export interface CredentialPayload {
  /** The name of the credential. */
  readonly name: string
  /** The subaccount that it is of, by its e-mail address (default: the account itself). */
  readonly subaccount?: string | undefined
}

/** The maximum number of retries of a write whose answer was lost. */
const maximumRetries = 4

/** Whether a write was sent and has no readable answer. */
const isLost = (error: { readonly _tag: string }): error is ServiceError =>
  error instanceof ServiceError && error.mayHaveHappened

/** Repeats an idempotent write whose answer was lost, until it is confirmed or `isDone` finds it done. */
export const retryUntilConfirmed = <E extends { readonly _tag: string }, E2 extends { readonly _tag: string }>(
  write: Effect.Effect<void, E>,
  isDone: Effect.Effect<boolean, E2>
) =>
  write.pipe(
    Effect.catchIf(isLost, (error) =>
      Effect.flatMap(isDone, (done) => (done ? Effect.void : Effect.fail<E | ServiceError>(error)))
    ),
    Effect.retry({ while: isLost, times: maximumRetries })
  )

/**
 * Creates a credential of either kind, although the answer may get lost: where the service honours idempotency keys, the
 * same call is repeated, and gives the credential that it made a new secret. Elsewhere nothing proves whose a credential
 * of that name is, so it fails with `OutcomeUnknown`, which names the credential, and deletes nothing.
 */
export const createWithRetry = fnRedacted("createWithRetry")(function* <New, Payload extends CredentialPayload>(
  operations: CredentialOperations<Credential, New, Payload, LastManagingKey>,
  given: NoInfer<Payload>
) {
  // Repetitions of one call say one time.
  const payload =
    "expires" in given && Duration.isDuration(given.expires)
      ? { ...given, expires: DateTime.addDuration(yield* DateTime.now, given.expires) }
      : given
  const { name, subaccount } = payload
  // Any answer shows whether the service honours the key of a call.
  const taken = yield* beforeWriting(operations.get(name, { subaccount })).pipe(
    Effect.as(true),
    Effect.catchTag("CredentialNotFound", () => Effect.succeed(false))
  )
  if (taken) return yield* new NameTaken({ name })
  yield* sometimes("a name is free and not yet taken")
  let lost: ServiceError | undefined
  return yield* operations.create(payload, { idempotencyKey: yield* randomId }).pipe(
    Effect.tapError((error) => {
      if (!isLost(error)) return Effect.void
      lost = error
      return sometimes("the answer to a creation is lost")
    }),
    Effect.retry({ while: (error) => isLost(error) && error.isRetryable, times: maximumRetries }),
    // All are repetitions of one call.
    Effect.provideService(CallName, yield* randomId),
    // Once an answer was lost, any failure leaves open whether the credential exists.
    Effect.mapError((error) => (lost === undefined ? error : unknown(name, lost, error)))
  )
})

const unknown = (name: string, lost: ServiceError, error: { readonly message: string }) => {
  const detail = lost === error ? lost.message : `${lost.message} Then: ${error.message}`
  const recovery =
    `Look for ${JSON.stringify(name)}: if it is there and nobody else made it, its secret is lost, so delete it and ` +
    "create it again."
  return new ServiceError({ operation: lost.operation, reason: new OutcomeUnknown({ detail, recovery }) })
}

/** What prevents a copy if this version cannot write a setting again as it was read, by its name. */
const unwritable: Readonly<Record<string, string>> = {
  expires: "its successor would expire after the year 9999. Give it an earlier expiry.",
  accessLevels: "it has access levels that this version does not know and would take away. Use a newer version.",
  ipRanges: "it has addresses that this version cannot write again. Change its ranges first, or use a newer version."
}

/** The last moment of the calendar that the interface has. */
export const lastMoment = DateTime.makeUnsafe("9999-12-31T23:59:59Z")

/** The expiry of a credential that has this one's lifetime from now, or keeps its expiry if the lifetime is not known. */
const renewed = ({ dateCreated, expires }: Credential, now: DateTime.Utc): DateTime.Utc | null | undefined =>
  expires == null || dateCreated === undefined
    ? expires
    : DateTime.min(lastMoment, DateTime.addDuration(now, DateTime.distance(dateCreated, expires)))

/** What a copy has of its own. */
export interface CopyOptions {
  readonly name: string
  readonly subaccount?: string | undefined
  /** The time from which its life counts. */
  readonly now: DateTime.Utc
  /** Its expiry: a date, a time from now, or none (default: the lifetime of the copied one from now). */
  readonly expires?: DateTime.Utc | Duration.Duration | null | undefined
}

/** Makes the function that copies all settings: a copy without them would be usable from anywhere, forever. */
const makeCopy = <const Settings extends Schema.Struct.Fields>(settings: Settings) => {
  const toWritten = Schema.decodeUnknownEffect(Schema.toType(Schema.Struct(settings)))
  return Effect.fnUntraced(function* (credential: Credential, { expires: wanted, now, subaccount }: CopyOptions) {
    const { name } = credential
    const expires =
      wanted === undefined
        ? renewed(credential, now)
        : Duration.isDuration(wanted)
          ? DateTime.addDuration(now, wanted)
          : wanted
    if (expires != null && DateTime.isLessThanOrEqualTo(expires, now)) {
      const issue = "its successor would have expired already. Give it a later expiry."
      return yield* new RotationRefused({ name, issue })
    }
    const copied = yield* Effect.mapError(toWritten({ ...credential, expires }), (error) => {
      const [field = ""] = invalidInput(error).field.split("[")
      const issue = unwritable[field] ?? `this version cannot write its ${field} again. Use a newer version.`
      return new RotationRefused({ name, issue })
    })
    return { ...copied, subaccount }
  })
}

const copyKeySettings = makeCopy(partOf(apiKeySettings, "write"))
const copySmtpSettings = makeCopy(partOf(credentialSettings, "write"))

/** The payload of an API key with the rights and limits of another one. */
export const copyApiKey = Effect.fnUntraced(function* (key: ApiKey, options: CopyOptions) {
  const payload: ApiKeyPayload = { name: options.name, ...(yield* copyKeySettings(key, options)) }
  return payload
})

/** The payload of SMTP credentials with the limits of others. */
export const copySmtp = Effect.fnUntraced(function* (smtp: SmtpCredentials, options: CopyOptions) {
  const payload: SmtpCredentialsPayload = { name: options.name, ...(yield* copySmtpSettings(smtp, options)) }
  return payload
})
