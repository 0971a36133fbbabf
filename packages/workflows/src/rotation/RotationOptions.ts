/** The options, results and errors of the programs that give a credential a new secret. */
import { type DateTime, type Duration, type Effect, type Redacted, Schema } from "effect"
import { type CredentialsService, TaggedError } from "@roster/domain"
import { formatWireDate } from "@roster/domain/internal"

/** The options of a rotation; `E` and `R` are the errors and the services of the callbacks. */
export interface RotationOptions<New, E = never, R = never> {
  /** The subaccount of the credential (default: the account itself). */
  readonly subaccount?: string | undefined
  /**
   * Delivers the new secret durably, with the name that it will have. If it fails, it has taken nothing: the new credential is
   * deleted, and the old one stays as it is.
   */
  readonly deliver: (made: New) => Effect.Effect<void, E, R>
  /** Fails unless the new secret works where it was delivered (default: nothing is verified). */
  readonly verify?: ((made: New) => Effect.Effect<void, { readonly message: string }, R>) | undefined
  /** How long the old secret works from then on (default: 1 day). With "0 seconds" it ends at once. */
  readonly grace?: Duration.Input | undefined
  /**
   * The expiry of the new secret: a date, a time from now, or `null` for none (default: the lifetime that the credential was
   * made with, from now).
   */
  readonly expires?: DateTime.Utc | Duration.Duration | null | undefined
  /** Used only where the service refuses the caller's own key, which a rotation has just replaced. */
  readonly withNewKey?: WithNewKey<R> | undefined
}

/** Gives the service authenticated by the new secret, such as what `RosterClient.make` gives. */
export type WithNewKey<R = never> = (
  secret: Redacted.Redacted<string>
) => Effect.Effect<{ readonly credentials: CredentialsService["Service"] } | undefined, never, R>

/** A credential whose old secret still works. */
export interface ReplacedCredential {
  /** The name that it has now. */
  readonly name: string
  /** When it ends; an update of its expiry gives it a later end. */
  readonly expires: DateTime.Utc | null
}

/** The result of a rotation. */
export interface Rotated {
  /** The name of the credential that has the new secret. */
  readonly name: string
  /** The credentials of earlier secrets, which still work. */
  readonly old: ReadonlyArray<ReplacedCredential>
  /** Whether this run only finished what an earlier one had begun, which had delivered the secret. */
  readonly isResumed: boolean
}

/** The credential cannot be rotated now, and nothing was changed: a rotation may be at work, or no successor could have its rights. */
export class RotationRefused extends TaggedError<RotationRefused>()("RotationRefused", {
  name: Schema.String,
  /** What prevents the rotation and what to do about it, phrased to follow a colon. */
  issue: Schema.String
}) {
  override get message(): string {
    return `"${this.name}" cannot be rotated: ${this.issue}`
  }
}

/** The new secret was delivered and has not replaced the old one, which is as it was. The new one works for the grace. */
export class NotReplaced extends TaggedError<NotReplaced>()("NotReplaced", {
  name: Schema.String,
  /** The name of the credential that has the new secret. */
  successor: Schema.String,
  /** When the new secret ends; absent if the service did not take its end. */
  expires: Schema.optionalKey(Schema.DateTimeUtc),
  /** Why it has not: a sentence. */
  detail: Schema.String
}) {
  override get message(): string {
    const { detail, expires, name, successor } = this
    const works = expires === undefined ? "works, too" : `works until ${formatWireDate(expires)}`
    return (
      `The new secret of "${name}" was delivered and has not replaced the old one: ${detail} "${name}" and its secret are as ` +
      `they were; "${successor}", which has the new secret, ${works}. Rotate again once the cause is mended.`
    )
  }
}
