/**
 * Making a credential although the answer may get lost. Its secret is in that one answer, so a credential whose answer was
 * lost is of no use: it is deleted and made again, until there is exactly one, with its secret in hand.
 */
import { type DateTime, Effect, Option } from "effect"
import {
  type CredentialOperations,
  type EmailAddress,
  fnRedacted,
  NameTaken,
  OutcomeUnknown,
  ServiceError
} from "@roster/domain"
import { furtherTries, isLost } from "./LostAnswer.ts"

interface Known {
  readonly lastUse?: DateTime.Utc | null
}

interface Named {
  readonly name: string
  readonly subaccount?: EmailAddress | undefined
}

/**
 * Creates a credential, by either kind of operations. An answer that was lost or cannot be read is recovered from: only a
 * credential that this call may have made is ever deleted, since the name must be free at first, and one that has been used
 * since is somebody's and is left, with `NameTaken`. Where the recovery fails, and after five tries, it ends as
 * `OutcomeUnknown`, which names the credential that may be there.
 */
export const createWithRetry = fnRedacted("createWithRetry")(function* <
  Credential extends Known,
  NewCredential,
  Payload extends Named,
  Kept extends { readonly _tag: string; readonly message: string } = never
>(operations: CredentialOperations<Credential, NewCredential, Payload, Kept>, payload: Payload) {
  const { name, subaccount } = payload
  const find = operations.get(name, { subaccount }).pipe(
    Effect.asSome,
    Effect.catchTag("CredentialNotFound", () => Effect.succeedNone)
  )
  if (Option.isSome(yield* find)) return yield* new NameTaken({ name })

  /** The name was free, so whatever has it and was never used is what a lost call made. */
  const clear = Effect.gen(function* () {
    const left = yield* find
    if (Option.isNone(left)) return
    if (left.value.lastUse != null) return yield* new NameTaken({ name })
    yield* operations.delete(name, { subaccount }).pipe(Effect.catchTag("CredentialNotFound", () => Effect.void))
  })
  /** Once an answer was lost, a failure of any kind leaves open whether the credential is there. */
  const unknown = (lost: ServiceError, error: { readonly message: string }) => {
    const detail = lost === error ? lost.message : `${lost.message} Then: ${error.message}`
    const recovery = `Look for ${JSON.stringify(name)}: if it is there, its secret is lost, so delete it and create it again.`
    return new ServiceError({ operation: lost.operation, reason: new OutcomeUnknown({ detail, recovery }) })
  }
  const create = (furtherTries: number, lost?: ServiceError): ReturnType<typeof operations.create> =>
    operations.create(payload).pipe(
      Effect.catch((error) => {
        // A name that was taken since may be taken by the lost call itself, carried out late.
        const latest = isLost(error) ? error : error._tag === "NameTaken" ? lost : undefined
        if (latest === undefined) return Effect.fail(lost === undefined ? error : unknown(lost, error))
        return clear.pipe(
          Effect.mapError((failure) => (failure instanceof NameTaken ? failure : unknown(latest, failure))),
          Effect.andThen(furtherTries === 0 ? Effect.fail(unknown(latest, latest)) : create(furtherTries - 1, latest))
        )
      })
    )
  return yield* create(furtherTries)
})
