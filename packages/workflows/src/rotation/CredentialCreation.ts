/** Creates credentials. One whose answer was lost has lost its secret too, so it is deleted and created again. */
import { DateTime, Duration, Effect, Option, Schema } from "effect"
import {
  type ApiKey,
  type ApiKeyPayload,
  type CredentialOperations,
  CredentialSettings,
  fnRedacted,
  invalidInput,
  type LastManagingKey,
  NameTaken,
  OutcomeUnknown,
  ServiceError,
  type SmtpCredentials,
  type SmtpCredentialsPayload
} from "@roster/domain"
import { RotationRefused } from "./RotationOptions.ts"
import type { Credential } from "./RotationState.ts"

const { apiKeySettings, credentialSettings, partOf } = CredentialSettings

/** The fields of a payload of either kind that name the credential. */
export interface CredentialPayload {
  readonly name: string
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
 * Creates a credential of either kind, although the answer may get lost. The name must be free at first, so that only a
 * credential of this call is ever deleted; one that has been used since is left, with `NameTaken`. Fails with
 * `OutcomeUnknown`, which names the credential that may exist, if the recovery fails and after five attempts.
 */
export const createWithRetry = fnRedacted("createWithRetry")(function* <New, Payload extends CredentialPayload>(
  operations: CredentialOperations<Credential, New, Payload, LastManagingKey>,
  payload: NoInfer<Payload>
) {
  const { name, subaccount } = payload
  const find = operations.get(name, { subaccount }).pipe(
    Effect.asSome,
    Effect.catchTag("CredentialNotFound", () => Effect.succeedNone)
  )
  if (Option.isSome(yield* find)) return yield* new NameTaken({ name })

  // The name was free, so a credential that has it and was never used comes from a lost call.
  const clear = Effect.gen(function* () {
    const left = yield* find
    if (Option.isNone(left)) return
    if (left.value.lastUse != null) return yield* new NameTaken({ name })
    yield* operations.delete(name, { subaccount }).pipe(Effect.catchTag("CredentialNotFound", () => Effect.void))
  })
  // Once an answer was lost, any failure leaves open whether the credential exists.
  const unknown = (lost: ServiceError, error: { readonly message: string }) => {
    const detail = lost === error ? lost.message : `${lost.message} Then: ${error.message}`
    const recovery = `Look for ${JSON.stringify(name)}: if it is there, its secret is lost, so delete it and create it again.`
    return new ServiceError({ operation: lost.operation, reason: new OutcomeUnknown({ detail, recovery }) })
  }
  const create = (retries: number, lost?: ServiceError): ReturnType<typeof operations.create> =>
    operations.create(payload).pipe(
      Effect.catch((error) => {
        // A name taken meanwhile may have been taken by the lost call itself, carried out late.
        const latest = isLost(error) ? error : error._tag === "NameTaken" ? lost : undefined
        if (latest === undefined) return Effect.fail(lost === undefined ? error : unknown(lost, error))
        return clear.pipe(
          Effect.mapError((failure) => (failure instanceof NameTaken ? failure : unknown(latest, failure))),
          Effect.andThen(retries === 0 ? Effect.fail(unknown(latest, latest)) : create(retries - 1, latest))
        )
      })
    )
  return yield* create(maximumRetries)
})

/** What prevents a copy if this version cannot write a setting again as it was read, by its name on the wire. */
const unwritable: Readonly<Record<string, string>> = {
  AccessLevel: "it has access levels that this version does not know and would take away. Use a newer version.",
  RestrictAccessToIPRange:
    "it has addresses that this version cannot write again. Change its ranges first, or use a newer version."
}

/** The expiry of a credential that has this one's lifetime from now, or keeps its expiry if the lifetime is not known. */
const renewed = ({ dateCreated, expires }: Credential, now: DateTime.Utc): DateTime.Utc | null | undefined =>
  expires == null || dateCreated === undefined
    ? expires
    : DateTime.addDuration(now, DateTime.distance(dateCreated, expires))

/** What a copy has of its own. */
export interface CopyOptions {
  readonly name: string
  readonly subaccount?: string | undefined
  /** Its expiry: a date, a time from now, or none (default: the lifetime of the copied one from now), or as it is. */
  readonly expires?: DateTime.Utc | Duration.Duration | "AsItIs" | null | undefined
}

/** Makes the function that copies all settings: a copy without them would be usable from anywhere, forever. */
const makeCopy = <const Settings extends Schema.Struct.Fields>(settings: Settings) => {
  const toWritten = Schema.decodeUnknownEffect(Schema.toType(Schema.Struct(settings)))
  return Effect.fnUntraced(function* (credential: Credential, { expires: wanted, subaccount }: CopyOptions) {
    const { name } = credential
    const now = yield* DateTime.now
    const expires =
      wanted === undefined
        ? renewed(credential, now)
        : wanted === "AsItIs"
          ? credential.expires
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
