/** How a program tells a layer that it will write because of what a look-up does not find. */
import { Context, Effect } from "effect"

/**
 * Whether an empty 404, which something between here and the service may have sent, is an error (default: no). A reference,
 * since every method that looks something up would need the option, and only a layer over HTTP has a 404.
 */
export const CertainAbsence = Context.Reference<boolean>("@roster/domain/CertainAbsence", {
  defaultValue: () => false
})

/**
 * Looks something up before a write that relies on its absence. A service over HTTP then has to say in its own form that
 * there is no such record: an empty 404 fails with a `ServiceError`.
 */
export const beforeWriting: <A, E, R>(lookUp: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  CertainAbsence,
  true
)
