/**
 * What a rotation is told, and what it would do.
 */
import type { Duration, Effect, Redacted, Schedule } from "effect"
import { type CredentialsService, type EmailAddress, type NewApiKey } from "@roster/domain"
import type { RotationJournal } from "./RotationRecord.ts"
import type { RotationState, RotationStep } from "./RotationStep.ts"

export interface RotationOptions<New, E = never, R = never, JE = never> {
  readonly subaccount?: EmailAddress | undefined
  /**
   * Hands the new secret over, and has to be sure of it when it ends: the old one goes because of it. Where it fails the
   * successor is deleted, and nothing has changed.
   */
  readonly deliver: (made: New) => Effect.Effect<void, E, R>
  readonly journal: RotationJournal<JE>
  /** How long the old one has to be left unused: 10 minutes. A service may note uses only once a minute. */
  readonly quiet?: Duration.Input | undefined
  /** How long to wait for that in all: a day, counted anew in each run. One that nobody ever used goes at its end. */
  readonly grace?: Duration.Input | undefined
  /** When to look: every 30 seconds. */
  readonly schedule?: Schedule.Schedule<unknown> | undefined
  readonly onStep?: ((step: RotationStep) => Effect.Effect<void>) | undefined
}

/**
 * The service by the new key, where that key can manage keys: a program would never see the key unused that it looks with
 * itself. Called with the secret by the run that made it, with `undefined` by a later one. Where it gives `undefined`, or the
 * service does not answer there, all goes on by the old key.
 */
export type SwitchToNewKey<R = never> = (
  secret: Redacted.Redacted<string> | undefined
) => Effect.Effect<CredentialsService["Service"] | undefined, never, R>

export interface ApiKeyRotationOptions<E = never, R = never, JE = never> extends RotationOptions<NewApiKey, E, R, JE> {
  readonly switchToNewKey?: SwitchToNewKey<R> | undefined
}

/** What a rotation would begin with, by what is there now. */
export interface RotationPlan {
  readonly state: RotationState<never>["_tag"]
  /** The name of the successor, there or to be made. */
  readonly successor: string
}

export interface Rotated {
  /** The name that the new secret belongs to now. */
  readonly name: string
  /** Whether an earlier run had begun it and delivered the secret. */
  readonly isResumed: boolean
}
