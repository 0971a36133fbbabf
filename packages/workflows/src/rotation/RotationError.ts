/**
 * Why a rotation ended without having replaced the credential.
 */
import { Schema } from "effect"
import { formatWireDate } from "@roster/domain"

/**
 * The old credential, which somebody has used, was not left unused for long enough before the time was up. It was kept, and so
 * was its successor.
 */
export class StillInUse extends Schema.TaggedError<StillInUse>()("StillInUse", {
  name: Schema.String,
  successor: Schema.String,
  lastUse: Schema.DateTimeUtc
}) {
  override get message(): string {
    return `"${this.name}" was still in use when the time was up, last at ${formatWireDate(this.lastUse)}. It and its successor "${this.successor}" both work. Give the new secret to what still uses the old one, and rotate again: it goes on from here.`
  }
}

/** A successor could not be as able, or as limited, as the credential is. Nothing was changed. */
export class RotationRefused extends Schema.TaggedError<RotationRefused>()("RotationRefused", {
  name: Schema.String,
  /** What stands in the way and what to do about it, in words that follow "…:". */
  issue: Schema.String
}) {
  override get message(): string {
    return `"${this.name}" cannot be rotated: ${this.issue}`
  }
}
