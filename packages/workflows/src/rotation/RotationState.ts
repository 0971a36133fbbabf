/** The state of a rotation, from the log of earlier runs and the names of successors, and its steps. */
import { Data, DateTime, Effect, Random, Schema } from "effect"
import { type ApiKey, EmailAddress, emailAddressIssue, WireDate } from "@roster/domain"

/** The progress that the service cannot tell a later run. It holds no secret. */
export const RotationRecord = Schema.Struct({
  /** The name of the successor, written before the successor is made. */
  successor: Schema.String,
  /** When the service made the successor, which tells it from a later credential of the same name. */
  created: Schema.optionalKey(WireDate),
  /** When the service made the old credential, which tells it from another one that took its name. */
  replaces: Schema.optionalKey(WireDate),
  /** Where its secret goes, as the caller calls it, written before the delivery. */
  destination: Schema.optionalKey(Schema.String),
  /**
   * `Started`: a successor may exist. `Delivering`: somebody may have its secret. `Delivered`: somebody has it. `Retired`:
   * the old one is deleted.
   */
  phase: Schema.Literals(["Started", "Delivering", "Delivered", "Retired"])
})
export type RotationRecord = typeof RotationRecord.Type

const codec = Schema.toCodecJson(RotationRecord)
export const encodeRecord = Schema.encodeSync(codec)
export const decodeRecord = Schema.decodeUnknownEffect(codec)

/** A random text, by which a rotation knows its successor: two that run at once never take one for their own. */
export const makeToken: Effect.Effect<string> = Effect.map(Random.nextIntBetween(0, 2 ** 32 - 1), (number) =>
  number.toString(16).padStart(8, "0")
)

/**
 * The name of a successor of SMTP credentials on a day: `shop+20261121-7f3a90c1@example.com`. A date in the name is
 * replaced. `undefined` if the local part has no room for it.
 */
export const smtpSuccessor = (name: string, token: string, day: DateTime.Utc): EmailAddress | undefined => {
  const at = name.lastIndexOf("@")
  const local = name.slice(0, at).replace(/\+\d{8}(?:-[0-9a-f]{1,8})?$/, "")
  const date = DateTime.formatIsoDateUtc(day).replaceAll("-", "")
  const successor = `${local}+${date}-${token}${name.slice(at)}`
  return emailAddressIssue(successor) === undefined ? EmailAddress.make(successor) : undefined
}

/** The fields that API keys and SMTP credentials share. */
export type Credential = Omit<ApiKey, "accessLevels">

/** The state in which a rotation begins, by the service and the record of an earlier run. */
export type RotationState<C extends Credential> =
  /** There is no successor. */
  | { readonly _tag: "Fresh"; readonly old: C }
  /** The successor of this rotation was never used and perhaps never delivered, so it is replaced. */
  | { readonly _tag: "Unproven"; readonly old: C; readonly successor: C }
  /** A successor that was never used, of which there is no record: another rotation may be about to deliver it. */
  | { readonly _tag: "Foreign"; readonly old: C; readonly successor: C }
  /** The successor was delivered; the old credential must still become unused. */
  | { readonly _tag: "Delivered"; readonly old: C; readonly successor: C }
  /** The old credential is deleted; the successor still has its own name. */
  | { readonly _tag: "Retired"; readonly successor: C }
  /** Everything is done but for ending the run. */
  | { readonly _tag: "Renamed"; readonly successor: C }
  /** The old credential is deleted, and another one has its name. */
  | { readonly _tag: "NameTaken" }
  | { readonly _tag: "NotFound" }

/** Whether a credential may be the one made at that time, and not a later one of the same name. */
export const isMadeAt = ({ dateCreated }: Credential, created: DateTime.Utc | undefined): boolean =>
  created === undefined || dateCreated === undefined || DateTime.Equivalence(created, dateCreated)

/** Derives the state from what was found: the record is that of the successor, or of none that is there. */
export const rotationState = <C extends Credential>(found: {
  readonly old: C | undefined
  readonly successor: C | undefined
  readonly record: RotationRecord | undefined
}): RotationState<C> => {
  const { old, record, successor } = found
  if (successor === undefined) {
    if (old === undefined) return { _tag: "NotFound" }
    const isRenamed = record?.phase === "Retired" && isMadeAt(old, record.created)
    return isRenamed ? { _tag: "Renamed", successor: old } : { _tag: "Fresh", old }
  }
  const isOurs = record?.successor === successor.name && isMadeAt(successor, record.created)
  // A secret that was used has been delivered.
  const isProven = successor.lastUse != null || (isOurs && (record.phase === "Delivered" || record.phase === "Retired"))
  if (old === undefined) return isProven ? { _tag: "Retired", successor } : { _tag: "NotFound" }
  if (!isProven) return { _tag: isOurs ? "Unproven" : "Foreign", old, successor }
  return isOurs && record.phase === "Retired" ? { _tag: "NameTaken" } : { _tag: "Delivered", old, successor }
}

/** A step of a rotation, for progress reports. */
export type RotationStep = Data.TaggedEnum<{
  /** A successor was deleted that was never used and perhaps never delivered. */
  Discarded: { readonly successor: string }
  Made: { readonly successor: string }
  Delivered: { readonly successor: string }
  /** An earlier run had come this far. */
  Resumed: { readonly from: "Delivered" | "Retired" | "Renamed"; readonly successor: string }
  /** The wait for the old credential to become unused begins. */
  Waiting: { readonly name: string; readonly lastUse: DateTime.Utc | null }
  StillUsed: { readonly name: string; readonly lastUse: DateTime.Utc }
  /** The service did not answer a check, which is repeated. */
  Unanswered: { readonly message: string }
  Deleted: { readonly name: string }
  Renamed: { readonly successor: string; readonly name: string }
}>

/** The constructors and the matcher of `RotationStep`. */
export const RotationStep = Data.taggedEnum<RotationStep>()
