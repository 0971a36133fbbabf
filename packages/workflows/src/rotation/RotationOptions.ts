/** The options of the programs that give a key a new secret. */
import { type DateTime, type Duration, type Effect, type Redacted, type Schedule, Schema } from "effect"
import { type CredentialsService, formatWireDate, TaggedError } from "@roster/domain"
import type { RotationState, RotationStep } from "./RotationState.ts"

/** Options of planning and rotating. */
export interface RotationPlanOptions {
  /** The subaccount of the credential (default: the account itself). */
  readonly subaccount?: string | undefined
  /**
   * What the caller calls the place where `deliver` leaves the secret. A rotation that resumes with another one is refused,
   * since the secret is kept nowhere else.
   */
  readonly destination?: string | undefined
  /**
   * The expiry of the new secret: a date, a time from now, or `null` for none (default: the lifetime that the credential was
   * made with, from now).
   */
  readonly expires?: DateTime.Utc | Duration.Duration | null | undefined
}

/** The options of a rotation; `E` and `R` are the errors and the services of the callbacks. */
export interface RotationOptions<New, E = never, R = never> extends RotationPlanOptions {
  /** Delivers the new secret durably, since the old credential is deleted after it. If it fails, nothing changes. */
  readonly deliver: (made: New) => Effect.Effect<void, E, R>
  /**
   * How long the old credential must stay unused (default: 10 minutes), but not more than a minute if it was never used. A
   * service may record uses only once a minute.
   */
  readonly idle?: Duration.Input | undefined
  /** Maximum wait for that, per run (default: 1 day). A credential that was never used is deleted at its end. */
  readonly grace?: Duration.Input | undefined
  /** When to check the last use (default: every 30 seconds). */
  readonly schedule?: Schedule.Schedule<unknown> | undefined
  /** Runs with each step, as the rotation comes to it. */
  readonly onStep?: ((step: RotationStep) => Effect.Effect<void>) | undefined
  /** Used only for an API key that can manage keys. */
  readonly switchToNewKey?: SwitchToNewKey<R> | undefined
}

/**
 * Gives the service authenticated by the new key, since checks with the old key would count as its use. A later run
 * passes `undefined`. Without a service that accepts the new key, the rotation continues with the old one. What
 * `RosterClient.make` gives is one.
 */
export type SwitchToNewKey<R = never> = (
  secret: Redacted.Redacted<string> | undefined
) => Effect.Effect<{ readonly credentials: CredentialsService["Service"] } | undefined, never, R>

/** The state in which a rotation would begin, by the service and the log of runs. */
export interface RotationPlan {
  /** Where the rotation would begin. */
  readonly state: Exclude<RotationState<never>["_tag"], "Foreign" | "NameTaken" | "NotFound">
  /** The name of the successor, if there is one. That of one to be made is random. */
  readonly successor: string | undefined
}

/** The result of a rotation. */
export interface Rotated {
  /** The name that the new secret now belongs to. */
  readonly name: string
  /** Whether an earlier run had already delivered the secret. */
  readonly isResumed: boolean
}

/** The old credential did not stay unused for long enough within the grace; it and its successor are both kept. */
export class StillInUse extends TaggedError<StillInUse>()("StillInUse", {
  name: Schema.String,
  /** The name of the new credential. */
  successor: Schema.String,
  /** When the old credential was last used, in UTC. */
  lastUse: Schema.DateTimeUtc
}) {
  override get message(): string {
    return (
      `"${this.name}" was still in use when the time was up, last at ${formatWireDate(this.lastUse)}. It and ` +
      `its successor "${this.successor}" both work. Give the new secret to the programs that still use the old ` +
      "one, and rotate again to resume."
    )
  }
}

/** No successor could have exactly the rights and limits of the credential, so nothing was changed. */
export class RotationRefused extends TaggedError<RotationRefused>()("RotationRefused", {
  name: Schema.String,
  /** What prevents the rotation and what to do about it, phrased to follow a colon. */
  issue: Schema.String
}) {
  override get message(): string {
    return `"${this.name}" cannot be rotated: ${this.issue}`
  }
}
