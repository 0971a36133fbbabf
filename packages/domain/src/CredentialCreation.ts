/**
 * Making a credential although the answer may get lost. Its secret is in that one answer, so a credential whose answer was
 * lost is of no use: it is deleted and made again, until there is exactly one, with its secret in hand.
 */
import { type DateTime, Effect, Option } from "effect"
import { NameTaken } from "./Credential.ts"
import type { CredentialOperations } from "./CredentialsService.ts"
import type { EmailAddress } from "./EmailAddress.ts"
import { furtherTries, isLost } from "./internal/lostAnswer.ts"

interface Known {
  readonly lastUse?: DateTime.Utc | null
}

interface Named {
  readonly name: string
  readonly subaccount?: EmailAddress
}

/**
 * Creates a credential, by either kind of operations. Only a credential that this call may have made is ever deleted: the
 * name must be free at first, and one that has been used since is somebody's and is left, with `NameTaken`. Gives up with
 * the `OutcomeUnknown` of the last of five tries.
 *
 * @category programs
 * @since 0.1.0
 */
export const createSurely = Effect.fn("createSurely")(function* <
  Credential extends Known,
  NewCredential,
  Payload extends Named,
  Kept extends { readonly _tag: string } = never
>(operations: CredentialOperations<Credential, NewCredential, Payload, Kept>, payload: Payload) {
  const { name, subaccount } = payload
  const find = operations.get(name, { subaccount }).pipe(
    Effect.asSome,
    Effect.catchTag("CredentialNotFound", () => Effect.succeedNone)
  )
  if (Option.isSome(yield* find)) return yield* new NameTaken({ name })
  const clear = Effect.gen(function* () {
    const left = yield* find
    if (Option.isNone(left)) return
    if (left.value.lastUse != null) return yield* new NameTaken({ name })
    yield* operations.delete(name, { subaccount }).pipe(Effect.catchTag("CredentialNotFound", () => Effect.void))
  })
  return yield* operations.create(payload).pipe(
    Effect.tapError((error) => (isLost(error) ? clear : Effect.void)),
    Effect.retry({ while: isLost, times: furtherTries })
  )
})
