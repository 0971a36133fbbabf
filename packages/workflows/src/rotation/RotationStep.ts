/**
 * How far a rotation is: where one begins, by what is found, and what it does then.
 */
import { Data, DateTime } from "effect"
import type { RotationRecord } from "./RotationRecord.ts"

/** Something that a rotation did or found, for whoever watches it. */
export type RotationStep = Data.TaggedEnum<{
  /** A successor that nobody has ever used, and of which it is not known that anybody got its secret, was deleted. */
  Discarded: { readonly successor: string }
  Made: { readonly successor: string }
  Delivered: { readonly successor: string }
  /** An earlier run came as far as this. */
  Resumed: { readonly from: "Delivered" | "Retired" | "Renamed"; readonly successor: string }
  /** From now on it has to be left unused for a while. */
  Waiting: { readonly name: string; readonly lastUse: DateTime.Utc | null }
  StillUsed: { readonly name: string; readonly lastUse: DateTime.Utc }
  /** The service did not answer a look, which will be repeated. */
  Unanswered: { readonly message: string }
  Deleted: { readonly name: string }
  Renamed: { readonly successor: string; readonly name: string }
}>

export const RotationStep = Data.taggedEnum<RotationStep>()

interface Known {
  readonly name: string
  readonly dateCreated?: DateTime.Utc
  readonly lastUse?: DateTime.Utc | null
}

/** Where a rotation begins, by what the service and the record of an earlier run say. */
export type RotationState<Credential extends Known> =
  /** There is no successor. */
  | { readonly _tag: "Fresh"; readonly old: Credential }
  /** There is one that nobody has used, and of which it is not known that anybody has its secret: it is made anew. */
  | { readonly _tag: "Unproven"; readonly old: Credential; readonly successor: Credential }
  /** Somebody has the secret of the successor: what is left is to wait until the old one is no longer used. */
  | { readonly _tag: "Delivered"; readonly old: Credential; readonly successor: Credential }
  /** The old one is gone, and the successor has its own name still. */
  | { readonly _tag: "Retired"; readonly successor: Credential }
  /** All is done, and an earlier run could not say so. */
  | { readonly _tag: "Renamed"; readonly successor: Credential }
  /** The old one is gone, and somebody has made another one of its name. */
  | { readonly _tag: "NameTaken" }
  | { readonly _tag: "NotFound" }

/** Whether a credential may be the one that was made at that time: another one of the same name is another one. */
export const isMadeAt = ({ dateCreated }: Known, created: DateTime.Utc | undefined): boolean =>
  created === undefined || dateCreated === undefined || DateTime.Equivalence(created, dateCreated)

export const rotationState = <Credential extends Known>(found: {
  readonly old: Credential | undefined
  readonly successor: Credential | undefined
  readonly record: RotationRecord | undefined
}): RotationState<Credential> => {
  const { old, record, successor } = found
  if (successor === undefined) {
    if (old === undefined) return { _tag: "NotFound" }
    const isRenamed = record?.phase === "Retired" && isMadeAt(old, record.created)
    return isRenamed ? { _tag: "Renamed", successor: old } : { _tag: "Fresh", old }
  }
  const noted = record?.successor === successor.name && isMadeAt(successor, record.created) ? record.phase : "Started"
  // A secret that was used is somebody's.
  const isProven = noted !== "Started" || successor.lastUse != null
  if (old === undefined) return isProven ? { _tag: "Retired", successor } : { _tag: "NotFound" }
  if (!isProven) return { _tag: "Unproven", old, successor }
  return noted === "Retired" ? { _tag: "NameTaken" } : { _tag: "Delivered", old, successor }
}
