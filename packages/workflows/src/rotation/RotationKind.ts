/** What the rotation of one kind of credential is made of. */
import type { DateTime, Effect, Redacted } from "effect"
import { type CredentialOperations, type CredentialsService, type EmailAddress } from "@roster/domain"
import type { RotationRefused } from "./RotationError.ts"
import type { Copyable } from "./CredentialCopy.ts"

export interface Payload {
  readonly name: string
  readonly subaccount?: EmailAddress | undefined
}

export interface Secret {
  readonly token: Redacted.Redacted<string>
}

/** What differs between the kinds. */
export interface RotationKind<Old extends Copyable, New extends Old & Secret, P extends Payload, Kept> {
  readonly operations: (service: CredentialsService["Service"]) => CredentialOperations<Old, New, P, Kept>
  /** What makes a credential of another name that is as able and as limited. */
  readonly copy: (
    credential: Old,
    name: string,
    subaccount: EmailAddress | undefined
  ) => Effect.Effect<P, RotationRefused>
  /** Names that the successor may have, the best first. Those of a kind that renames follow from the old one alone. */
  readonly successors: (name: string, day: DateTime.Utc) => ReadonlyArray<string>
  /** Whether the successor takes the name of the old one in the end. */
  readonly renames: boolean
  /** Whether somebody could rotate with this credential. */
  readonly rotates: (credential: Old) => boolean
}
