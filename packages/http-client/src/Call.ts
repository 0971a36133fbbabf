/**
 * The one way that every call goes: send, judge, read, and again where the table allows it.
 */
import { operations, type OperationId, type Refusal } from "@roster/api"
import { invalidInput, Rejected, ServiceError } from "@roster/domain"
import { Context, Effect, Schema } from "effect"
import { HttpClientError, type HttpClientResponse } from "effect/http"
import { errorText, retryAfter } from "./Answer.ts"
import { type Failure, finalError, statusFailure, transportFailure } from "./Failure.ts"
import { countCall, retryCount } from "./ClientMetrics.ts"
import { type Attempt, withRetries } from "./RetryPolicy.ts"
import { type RetryKey, retryTable } from "./RetryTable.ts"
import { IdempotencyKey, type RosterHttpApi } from "./RosterHttpApi.ts"
import { Secrets, withoutSecrets } from "./Secrets.ts"

/**
 * A call of the contract.
 *
 * @internal
 */
export interface CallOptions<A, Tag extends Refusal["_tag"]> {
  readonly operation: OperationId
  /** The row of the retry table, where it is not that of the operation. */
  readonly row?: RetryKey
  readonly send: Effect.Effect<HttpClientResponse.HttpClientResponse, unknown>
  readonly read: (
    operation: string,
    response: HttpClientResponse.HttpClientResponse
  ) => Effect.Effect<A, Failure<never>>
  /** The refusals that the caller can act on. Others arrive as `ServiceError`. */
  readonly refusals: ReadonlyArray<Tag>
  /** What a status means where the service does not say it in our words. */
  readonly byStatus?: { readonly [status: number]: () => Extract<Refusal, { readonly _tag: Tag }> }
  /** What it means that there is nothing at the address, where an earlier attempt may have been carried out. */
  readonly goneAfterAmbiguous?: Effect.Effect<A, Extract<Refusal, { readonly _tag: Tag }> | ServiceError>
  readonly canRepeatBody?: () => boolean
  /** What the call is about, as its caller would call it: for the words of an unknown outcome. */
  readonly about?: string
}

/**
 * Makes calls with what a client's calls share.
 *
 * @internal
 */
export const makeCall =
  ({ budget, endsItself, isKeyHonoured, secrets, traceSubjects }: Context.Service.Shape<typeof RosterHttpApi>) =>
  <A, Tag extends Refusal["_tag"]>(
    options: CallOptions<A, Tag>
  ): Effect.Effect<A, Extract<Refusal, { readonly _tag: Tag }> | ServiceError> => {
    type Expected = Extract<Refusal, { readonly _tag: Tag }>
    const {
      about,
      byStatus = {},
      canRepeatBody = () => true,
      goneAfterAmbiguous,
      operation,
      read,
      refusals,
      send
    } = options
    const row = retryTable[options.row ?? operation]
    const isExpected = (error: Refusal): error is Expected => refusals.some((tag) => tag === error._tag)
    const refuse = (status: number, error: Refusal): Effect.Effect<never, Failure<Expected>> =>
      Effect.fail({
        evidence: "Permanent",
        error: isExpected(error)
          ? error
          : new ServiceError({ operation, reason: new Rejected({ status, detail: error.message }) })
      })

    const judge = (response: HttpClientResponse.HttpClientResponse) =>
      Effect.gen(function* () {
        const { headers, status } = response
        const text = yield* errorText(operation, response)
        const failure = statusFailure(operation, {
          status,
          text,
          retryAfter: retryAfter(response),
          location: yield* withoutSecrets(headers["location"] ?? "")
        })
        if (failure.error._tag !== "ServiceError") return yield* refuse(status, failure.error)
        const meaning = failure.error.reason._tag === "Rejected" ? byStatus[status] : undefined
        const error: Expected | ServiceError = meaning === undefined ? failure.error : meaning()
        return yield* Effect.fail<Failure<Expected>>({ ...failure, error })
      })

    const answer = (response: HttpClientResponse.HttpClientResponse, { afterAmbiguous }: Attempt) => {
      if (response.status >= 200 && response.status < 300) return read(operation, response)
      return response.status === 404 && afterAmbiguous && goneAfterAmbiguous !== undefined
        ? Effect.mapError(goneAfterAmbiguous, (error): Failure<Expected> => ({ evidence: "Permanent", error }))
        : judge(response)
    }

    const annotate = (status: number, { number }: Attempt) =>
      Effect.annotateCurrentSpan({
        "http.response.status_code": status,
        "roster.attempts": number,
        "roster.operation": operation,
        ...(traceSubjects && about !== undefined ? { "roster.subject": about } : {})
      })

    const attempt = (current: Attempt): Effect.Effect<A, Failure<Expected>> => {
      const made = Effect.matchEffect(send, {
        onFailure: (error): Effect.Effect<A, Failure<Expected>> => {
          if (HttpClientError.isHttpClientError(error)) return Effect.fail(transportFailure(operation, error))
          // What the contract itself refuses to send: nothing left this machine.
          return Schema.isSchemaError(error) ? refuse(400, invalidInput(error)) : Effect.die(error)
        },
        onSuccess: (response) =>
          Effect.withFiber((fiber) =>
            fiber.cache.tracer === undefined
              ? answer(response, current)
              : Effect.andThen(annotate(response.status, current), answer(response, current))
          )
      })
      return current.number === 1 ? made : Effect.andThen(retryCount(operation), made)
    }

    const key = operations.get(operation)?.method === "POST" ? crypto.randomUUID() : undefined
    const calls = withRetries({
      operation,
      row,
      budget,
      isKeyHonoured: Effect.sync(() => isKeyHonoured.current),
      canRepeatBody,
      endsItself,
      attempt
    })
    const counted = Effect.matchEffect(calls, {
      onFailure: (failure) => {
        const words = about === undefined ? "it" : JSON.stringify(about)
        const error = finalError({ operation, row, about: words }, failure)
        return Effect.withFiber((fiber) => {
          countCall(operation, error._tag, fiber.context)
          return Effect.fail(error)
        })
      },
      onSuccess: (value) =>
        Effect.withFiber((fiber) => {
          countCall(operation, "Success", fiber.context)
          return Effect.succeed(value)
        })
    })
    return Effect.updateContext(counted, (context: Context.Context<never>) => {
      const withSecrets = Context.add(context, Secrets, secrets)
      // Mostly there is none, neither of this call nor of one around it.
      return Context.get(context, IdempotencyKey) === key ? withSecrets : Context.add(withSecrets, IdempotencyKey, key)
    })
  }
