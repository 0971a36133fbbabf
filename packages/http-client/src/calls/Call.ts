/** Runs a call: sends it, judges and reads the answer, and retries as the table allows. */
import { announcesItself, callHeader, noSuchOperation, operations, type OperationId, type Refusal } from "@roster/api"
import { CallName, IdempotencyKeyReused, Rejected, ServiceError } from "@roster/domain"
import { CertainAbsence, invalidInput, randomId } from "@roster/domain/internal"
import { Context, Effect, Schema } from "effect"
import { HttpClientError, type HttpClientResponse } from "effect/http"
import { withResponseHeaders } from "./ResponseHeaders.ts"
import { readRefusalBody, redactSecrets, retryAfter, type Secrets } from "./ResponseDecoding.ts"
import { countedCall } from "./ClientMetrics.ts"
import { type Failure, finalError, invalidResponse, statusFailure, transportFailure } from "./ErrorClassification.ts"
import { type Attempt, withRetries } from "./RetryPolicy.ts"
import { type RetryKey, retryTable } from "./RetryTable.ts"
import { IdempotencyKey, type RosterHttpApi, SentCallName } from "./RosterHttpApi.ts"
import { CurrentRequestPhase } from "../transport/RequestPhase.ts"

/** A call of the contract. */
export interface CallOptions<
  A,
  Tag extends Refusal["_tag"],
  E extends { readonly _tag: string } = never,
  Meaning extends Refusal = never
> {
  readonly operation: OperationId
  /** The row of the retry table (default: that of the operation). */
  readonly row?: RetryKey
  readonly send: Effect.Effect<HttpClientResponse.HttpClientResponse, unknown>
  readonly read: (
    operation: string,
    response: HttpClientResponse.HttpClientResponse,
    secrets: Secrets
  ) => Effect.Effect<A, Failure<never>>
  /** The refusals that the caller can act on. Others arrive as `ServiceError`. */
  readonly refusals: ReadonlyArray<Tag>
  /** The error of a status whose text is not one of ours. */
  readonly byStatus?: { readonly [status: number]: () => Meaning }
  /** What a call comes to whose 404 follows an attempt that the service may have carried out. */
  readonly goneAfterAmbiguous?: Effect.Effect<A, NoInfer<Meaning> | ServiceError>
  readonly canRepeatBody?: () => boolean
  /** The caller's own idempotency key (default: a new one for each POST). */
  readonly idempotencyKey?: string | undefined
  /** Ends the call by failing. */
  readonly endedBy?: Effect.Effect<never, E> | undefined
  /** The subject of the call, for the message of an unknown outcome. */
  readonly about?: string
}

/** Tells a caller whose idempotency key the service honours what to do next. */
const repeatIt = "Make the same call with the same idempotency key within an hour: it is carried out once."

/** The same error, if the caller may safely make the same call again. */
const ofKeyedCall = <E>(error: E | ServiceError): E | ServiceError =>
  error instanceof ServiceError && error.mayHaveHappened ? new ServiceError({ ...error, isKeyHonoured: true }) : error

/** The meaning of a 409 to a call with the caller's own key. */
export const keyUsed = (idempotencyKey: string | undefined) =>
  idempotencyKey === undefined ? {} : { 409: () => new IdempotencyKeyReused({}) }

/** Makes the function that runs the calls of a client. */
export const makeCall =
  ({
    attemptContext,
    budget,
    isKeyHonoured,
    policyOf,
    secrets,
    traceSubjects
  }: Context.Service.Shape<typeof RosterHttpApi>) =>
  <A, Tag extends Refusal["_tag"], E extends { readonly _tag: string } = never, Meaning extends Refusal = never>(
    options: CallOptions<A, Tag, E, Meaning>
  ): Effect.Effect<A, Extract<Refusal, { readonly _tag: Tag }> | Meaning | ServiceError | E> => {
    type Expected = Extract<Refusal, { readonly _tag: Tag }> | Meaning
    const {
      about,
      byStatus = {},
      canRepeatBody = () => true,
      endedBy,
      goneAfterAmbiguous,
      operation,
      read,
      refusals,
      send
    } = options
    const row = retryTable[options.row ?? operation]
    const { headers: takes = [], method } = operations.get(operation) ?? {}
    // No other call has the key of a call without one of its own, whatever a service says.
    const isExpected = (error: Refusal): error is Expected =>
      refusals.some((tag) => tag === error._tag) &&
      (error._tag !== "IdempotencyKeyReused" || options.idempotencyKey !== undefined)
    const refusal = (status: number, error: Refusal): Expected | ServiceError =>
      isExpected(error)
        ? error
        : new ServiceError({ operation, reason: new Rejected({ status, detail: error.message }) })

    const judge = (response: HttpClientResponse.HttpClientResponse, { afterAmbiguous }: Attempt) =>
      Effect.gen(function* () {
        const { headers, status } = response
        const { foreign, isEmpty, text } = yield* readRefusalBody(response, secrets)
        // Something between here and the service may have sent an empty 404. It is not believed where the caller would take
        // a delete or an earlier write for done, or writes because of it, unless `goneAfterAmbiguous` looks afterwards.
        const isDoubtful =
          method === "DELETE" || (afterAmbiguous && method !== "GET" && goneAfterAmbiguous === undefined)
        const isRelied = status === 404 && (isDoubtful || (yield* CertainAbsence))
        const isBelieved = isEmpty && (!isRelied || announcesItself(response))
        const isOwn = foreign === undefined || isBelieved
        const isAbsent = status === 404 && isOwn && !text.startsWith(noSuchOperation)
        if (isAbsent && afterAmbiguous && goneAfterAmbiguous !== undefined) {
          return yield* Effect.mapError(goneAfterAmbiguous, (error): Failure<Expected> => ({
            evidence: "Permanent",
            error,
            settles: true
          }))
        }
        const failure = statusFailure(operation, {
          status,
          text,
          foreign: isOwn ? undefined : foreign,
          retryAfter: yield* retryAfter(response),
          // A path alone leads to the same host.
          location:
            headers["location"] &&
            redactSecrets(secrets, URL.parse(headers["location"], response.request.url)?.href ?? "")
        })
        const meaning =
          failure.error._tag === "ServiceError" &&
          failure.error.reason._tag === "Rejected" &&
          (isAbsent || status !== 404)
            ? byStatus[status]?.()
            : undefined
        const error = failure.error._tag === "ServiceError" ? failure.error : refusal(status, failure.error)
        // A 404 proves something only if the operation expects it.
        const settles = isOwn && (failure.settles === true || (isAbsent && byStatus[404] !== undefined))
        return yield* Effect.fail<Failure<Expected>>({ ...failure, error: meaning ?? error, settles })
      })

    const answer = (response: HttpClientResponse.HttpClientResponse, current: Attempt) => {
      const { status } = response
      if (status < 200 || status >= 300) return judge(response, current)
      return status === 206 || response.headers["content-range"] !== undefined
        ? Effect.fail(invalidResponse(operation, status, "it is a partial response to a request without a range"))
        : read(operation, response, secrets)
    }

    const attempt = (current: Attempt): Effect.Effect<A, Failure<Expected>> => {
      const attempt = Effect.matchEffect(send, {
        onFailure: (error): Effect.Effect<A, Failure<Expected>> => {
          if (HttpClientError.isHttpClientError(error)) {
            return Effect.flatMap(CurrentRequestPhase, (phase) =>
              Effect.fail(transportFailure(operation, error, phase?.sent))
            )
          }
          // Refused by the contract, so nothing was sent.
          return Schema.isSchemaError(error)
            ? Effect.fail({ evidence: "Permanent", error: refusal(400, invalidInput(error)) })
            : Effect.die(error)
        },
        onSuccess: (response) =>
          Effect.andThen(
            Effect.annotateCurrentSpan("http.response.status_code", response.status),
            Effect.mapError(answer(response, current), withResponseHeaders(secrets, response))
          )
      })
      const attributes = {
        "roster.attempts": current.number,
        "roster.operation": operation,
        ...(traceSubjects && about !== undefined ? { "roster.subject": about } : {})
      }
      return Effect.andThen(Effect.annotateCurrentSpan(attributes), attempt)
    }

    const { idempotencyKey } = options
    const callsWith = (key: string | undefined, name?: string) =>
      withRetries({
        operation,
        row,
        budget,
        policyOf,
        isKeyHonoured: () => isKeyHonoured.current === true,
        canRepeatBody,
        attemptContext: (call) => {
          const guarded = attemptContext(call)
          const context = name === undefined ? guarded : Context.add(guarded, SentCallName, name)
          // Usually both are undefined.
          return Context.get(context, IdempotencyKey) === key ? context : Context.add(context, IdempotencyKey, key)
        },
        attempt
      })
    // One for all attempts of a call.
    const calls =
      method !== "POST"
        ? callsWith(idempotencyKey)
        : idempotencyKey !== undefined && !takes.includes(callHeader)
          ? callsWith(idempotencyKey)
          : Effect.flatMap(randomId, (id) =>
              takes.includes(callHeader)
                ? Effect.flatMap(CallName, (name = id) => callsWith(idempotencyKey ?? id, name))
                : callsWith(id)
            )
    const words = () => (about === undefined ? "it" : JSON.stringify(String(about)))
    const ended = Effect.mapError(calls, (failure) => {
      const isRepeatable = idempotencyKey !== undefined && isKeyHonoured.current === true
      const call = { operation, row: isRepeatable ? { ...row, recovery: repeatIt } : row, about: words() }
      const error = finalError(call, failure)
      return isRepeatable ? ofKeyedCall(error) : error
    })
    const raced = endedBy === undefined ? ended : Effect.raceFirst(ended, endedBy)
    return countedCall(operation, raced)
  }
