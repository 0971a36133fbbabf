/** Calls of operations that only a service of ours has. At any other the client goes another way. */
import type { Refusal } from "@roster/api"
import { Contact, Rejected, ServiceError } from "@roster/domain"
import { Effect, Predicate, Schema } from "effect"
import type { CallOptions, makeCall } from "./Call.ts"
import { readJson, readNothing } from "./ResponseDecoding.ts"
import { type RosterHttpApi, type Said, says } from "./RosterHttpApi.ts"

/** Makes the function that calls an extension, and gives `undefined` at a service that does not say that it knows it. */
export const makeExtensionCall =
  (call: ReturnType<typeof makeCall>, said: Said) =>
  <A, Tag extends Refusal["_tag"], Meaning extends Refusal = never>(options: CallOptions<A, Tag, never, Meaning>) =>
    Effect.suspend(() => {
      if (said.current === false) return Effect.undefined
      let isSaid = true
      return call({
        ...options,
        send: Effect.map(options.send, (response) => {
          isSaid = says(response, said.word)
          return response
        }),
        read: (operation, response, secrets) =>
          isSaid
            ? options.read(operation, response, secrets)
            : Effect.as(readNothing(operation, response, secrets), undefined)
      }).pipe(
        // A refusal without the word says nothing of the operation.
        Effect.catchIf(
          (error: unknown) =>
            !isSaid &&
            !(error instanceof ServiceError && (error.isRetryable || error.reason._tag === "OutcomeUnknown")),
          () => Effect.undefined
        )
      )
    })

/** The same, for what nothing else does: it fails, in these words, at a service that does not say that it knows it. */
export const makeRequiredCall = (detail: string, ...extension: Parameters<typeof makeExtensionCall>) => {
  const call = makeExtensionCall(...extension)
  return <A, Tag extends Refusal["_tag"], Meaning extends Refusal = never>(
    options: CallOptions<A, Tag, never, Meaning>
  ) =>
    Effect.filterOrFail(
      call(options),
      Predicate.isNotUndefined,
      () => new ServiceError({ operation: options.operation, reason: new Rejected({ status: 404, detail }) })
    )
}

/**
 * Makes the function that reads with a parameter where that is wanted, and the service has said that it knows it. What it answers without
 * is asked for again if the answer says so.
 */
export const makeAnnouncedRead =
  (said: Said) =>
  <A, E>(isWanted: boolean, read: (parameter?: true) => Effect.Effect<A, E>): Effect.Effect<A, E> => {
    if (!isWanted) return read()
    const known = () => said.current === true
    return Effect.suspend(() =>
      known()
        ? read(true)
        : Effect.filterOrElse(
            read(),
            () => !known(),
            () => read(true)
          )
    )
  }

const readSmallPage = readJson(Schema.Array(Contact))

/** Makes the function that gives what the service says of itself on every answer; a small page is requested if there was none yet. */
export const makeSaidOnAnswers =
  (call: ReturnType<typeof makeCall>, api: RosterHttpApi["Service"]["api"]) =>
  <A>(current: () => A | undefined, otherwise: A): Effect.Effect<A, ServiceError> =>
    Effect.suspend(() => {
      const said = current()
      if (said !== undefined) return Effect.succeed(said)
      const smallPage = call({ ...api.contactsGet({ query: { limit: 1 } }), read: readSmallPage, refusals: [] })
      return Effect.catch(smallPage, (error) => (current() === undefined ? Effect.fail(error) : Effect.void)).pipe(
        Effect.map(() => current() ?? otherwise)
      )
    })
