/** Maps the errors of the services to responses, which the compiler compares with those of the contract. */
import {
  BadRequest,
  Conflict,
  Forbidden,
  UnauthorizedRequest,
  NotFound,
  printExceedsGrantor,
  type Refusal,
  refusalTexts,
  InternalServerError,
  ServiceUnavailable,
  TooManyRequests
} from "@roster/api"
import {
  type ContactNotFound,
  type CredentialNotFound,
  type EmailNotFound,
  type ExportExpired,
  type ExportNotFound,
  type JobEnded,
  type JobNotFound,
  type IdempotencyKeyInUse,
  type IdempotencyKeyReused,
  type LastManagingKey,
  ListNotFound,
  type NameTaken,
  type RunNotFound,
  type RunTaken,
  type SavedRuleNotFound,
  type ServiceError,
  type TooManyCredentials
} from "@roster/domain"
import { Effect } from "effect"

/** The response that a failure of any call becomes. */
export type WireFailure =
  | BadRequest
  | UnauthorizedRequest
  | Forbidden
  | TooManyRequests
  | InternalServerError
  | ServiceUnavailable

/** The response that an error becomes. */
export type WireOf<E> = E extends ServiceError
  ? WireFailure
  : E extends
        | ContactNotFound
        | CredentialNotFound
        | EmailNotFound
        | ExportNotFound
        | ExportExpired
        | JobNotFound
        | RunNotFound
        | SavedRuleNotFound
    ? NotFound
    : E extends
          | IdempotencyKeyInUse
          | IdempotencyKeyReused
          | JobEnded
          | LastManagingKey
          | NameTaken
          | RunTaken
          | TooManyCredentials
      ? Conflict
      : E extends Refusal
        ? BadRequest
        : never

/** The seconds of Retry-After, which the contract has no field for, by their error. */
const waits = new WeakMap<object, number>()

const refuse = (refusal: Refusal): BadRequest | NotFound | Conflict => {
  // The entry of each tag matches its error, which indexing by a union of tags loses.
  const { print, status } = refusalTexts[refusal._tag] as {
    readonly status: number
    readonly print: (refusal: Refusal) => string
  }
  const text = print(refusal)
  if (status === 400) return new BadRequest({ Error: text })
  if (status === 404) return new NotFound({ Error: text })
  const conflict = new Conflict({ Error: text })
  if (refusal._tag === "IdempotencyKeyInUse") waits.set(conflict, refusal.retryAfter)
  return conflict
}

/** The seconds to wait that an error asks for, if any. */
export const retryAfterOf = (error: object): number | undefined => waits.get(error)

const failure = ({ reason }: ServiceError): WireFailure => {
  const { message, _tag } = reason
  if (_tag === "Unauthorized") return new UnauthorizedRequest({ Error: message })
  if (_tag === "AccessDenied") return new Forbidden({ Error: message })
  if (_tag === "RunRefused") return new BadRequest({ Error: message })
  if (_tag === "ExceedsGrantor") return new Forbidden({ Error: printExceedsGrantor(reason) })
  if (_tag === "RateLimited") {
    const answer = new TooManyRequests({ Error: message })
    if (reason.retryAfter !== undefined) waits.set(answer, reason.retryAfter)
    return answer
  }
  // Not a 503, which would say that nothing was done.
  if (_tag === "OutcomeUnknown") return new InternalServerError({ Error: message })
  const answer = new ServiceUnavailable({ Error: message })
  if (_tag === "Unavailable" && reason.retryAfter !== undefined) waits.set(answer, reason.retryAfter)
  return answer
}

const wireErrorOf = (error: Refusal | ServiceError) => (error._tag === "ServiceError" ? failure(error) : refuse(error))

export const toWireError = <A, E extends Refusal | ServiceError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, WireOf<E>, R> =>
  // `refuse` and `failure` implement the two halves of `WireOf`, which the compiler cannot see through their tables.
  Effect.mapError(effect, (error: Refusal | ServiceError) => wireErrorOf(error) as WireOf<E>)

/** The same of an operation whose path names a list: that there is none is a 404. */
export const toWireErrorOfList = <A, E extends Refusal | ServiceError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, NotFound | WireOf<Exclude<E, ListNotFound>>, R> =>
  Effect.mapError(effect, (error: Refusal | ServiceError) =>
    error instanceof ListNotFound
      ? new NotFound({ Error: refusalTexts.ListNotFound.print(error) })
      : (wireErrorOf(error) as WireOf<Exclude<E, ListNotFound>>)
  )
