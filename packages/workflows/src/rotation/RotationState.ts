/** The state of a rotation, from the log of earlier runs and the names of successors, and its steps. */
import { Data, DateTime, Schema } from "effect"
import { type ApiKey, CredentialName, EmailAddress, emailAddressIssue, WireDate } from "@roster/domain"

/** The progress that the service cannot tell a later run. It holds no secret. */
export const RotationRecord = Schema.Struct({
  /** The name of the successor, written before the successor is made. */
  successor: Schema.String,
  /** When the service made the successor, which tells it from a later credential of the same name. */
  created: Schema.optionalKey(WireDate),
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

/** The maximum length of the name of a credential and of an e-mail address. */
const maximumLength = 254

const suffix = "~next"

/** FNV-1a in eight digits, which tells long names with the same beginning apart. */
const fingerprint = (text: string): string => {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, "0")
}

/** The name of an API key's successor until the key is deleted: a later run derives it from the key's own name. */
export const apiKeySuccessor = (name: string): CredentialName => {
  if (name.length + suffix.length <= maximumLength) return CredentialName.make(`${name}${suffix}`)
  const end = `~${fingerprint(name)}${suffix}`
  const kept = name.slice(0, maximumLength - end.length)
  // The cut may have split a surrogate pair.
  return CredentialName.make(`${kept.isWellFormed() ? kept : kept.slice(0, -1)}${end}`)
}

/** How often SMTP credentials can be rotated in a day. */
const namesPerDay = 20

/**
 * The names for a successor on a day, best first: `shop+20261121@example.com`, then `shop+20261121-2@example.com`. A
 * date in the name is replaced. Empty if the local part has no room for a date.
 */
export const smtpSuccessors = (name: string, day: DateTime.Utc): ReadonlyArray<EmailAddress> => {
  const at = name.lastIndexOf("@")
  const local = name.slice(0, at).replace(/\+\d{8}(?:-\d{1,2})?$/, "")
  const date = DateTime.formatIsoDateUtc(day).replaceAll("-", "")
  return Array.from({ length: namesPerDay }, (_, index) => index + 1)
    .map((number) => `${local}+${date}${number === 1 ? "" : `-${number}`}${name.slice(at)}`)
    .filter((successor) => successor !== name && emailAddressIssue(successor) === undefined)
    .map((successor) => EmailAddress.make(successor))
}

/** The fields that API keys and SMTP credentials share. */
export type Credential = Omit<ApiKey, "accessLevels">

/** The state in which a rotation begins, by the service and the record of an earlier run. */
export type RotationState<C extends Credential> =
  /** There is no successor. */
  | { readonly _tag: "Fresh"; readonly old: C }
  /** The successor was never used and perhaps never delivered, so it is replaced. */
  | { readonly _tag: "Unproven"; readonly old: C; readonly successor: C }
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

/** Derives the state from what was found. */
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
  const phase = record?.successor === successor.name && isMadeAt(successor, record.created) ? record.phase : "Started"
  // A secret that was used has been delivered.
  const isProven = phase === "Delivered" || phase === "Retired" || successor.lastUse != null
  if (old === undefined) return isProven ? { _tag: "Retired", successor } : { _tag: "NotFound" }
  if (!isProven) return { _tag: "Unproven", old, successor }
  return phase === "Retired" ? { _tag: "NameTaken" } : { _tag: "Delivered", old, successor }
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
