/** Calls of operations that only a service of ours has. At any other the client goes another way. */
import type { Announcement, Refusal } from "@roster/api"
import { ServiceError } from "@roster/domain"
import { Effect } from "effect"
import type { CallOptions, makeCall } from "./Call.ts"
import { readNothing } from "./ResponseDecoding.ts"
import { type Said, says } from "./RosterHttpApi.ts"

/** Makes the function that calls an extension, and gives `undefined` at a service that does not say that it knows it. */
export const makeExtensionCall =
  (call: ReturnType<typeof makeCall>, word: Announcement, said: Said) =>
  <A, Tag extends Refusal["_tag"], Meaning extends Refusal = never>(options: CallOptions<A, Tag, never, Meaning>) =>
    Effect.suspend(() => {
      if (said.current === false) return Effect.undefined
      let isSaid = true
      return call({
        ...options,
        send: Effect.map(options.send, (response) => {
          isSaid = says(response, word)
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
