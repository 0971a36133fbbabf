import type { ContactPayload } from "@roster/domain"
import { addAll } from "@roster/workflows"
import { Effect, Stream } from "effect"

/** Adds contacts, and fails with the first error of the service, such as that of a wrong key. */
export const addOrFail = (contacts: Stream.Stream<ContactPayload>) =>
  addAll(contacts).pipe(
    Stream.runForEach((outcome) =>
      outcome._tag === "NotSent" || outcome._tag === "Unknown" ? Effect.fail(outcome.error) : Effect.void
    )
  )
