/** The entries of the audit trail, and their form as lines of JSON. They hold no secret. */
import { Characters, ReportedAccessLevel, WireDate } from "@roster/domain"
import { Schema } from "effect"

/** Who acted: the owner of the store, a key by its name and the ends of its secret, or a caller without a known key. */
export const AuditActor = Schema.Union([
  Schema.TaggedStruct("Owner", {}),
  Schema.TaggedStruct("Key", { name: Schema.String, hint: Schema.String }),
  Schema.TaggedStruct("Unknown", {})
])
export type AuditActor = typeof AuditActor.Type

/** The details of an entry. Fields are named as on the wire; values are access levels and names, never a secret. */
export const AuditDetails = Schema.Struct({
  /** The fields that changed. */
  changed: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The access levels that the credential has gained. */
  levelsAdded: Schema.optionalKey(Schema.Array(ReportedAccessLevel)),
  /** The access levels that the credential has lost. */
  levelsRemoved: Schema.optionalKey(Schema.Array(ReportedAccessLevel)),
  /** The new name, if it changed. */
  renamedTo: Schema.optionalKey(Schema.String),
  /** The access level that was missing. */
  required: Schema.optionalKey(ReportedAccessLevel),
  /** Why a key that the store knows was refused. */
  because: Schema.optionalKey(Schema.Literals(["Expired", "OutsideRanges"])),
  /** The field that was refused. */
  field: Schema.optionalKey(Schema.String),
  /** The number of refusals without an entry of their own. */
  count: Schema.optionalKey(Schema.Int)
})
export interface AuditDetails extends Schema.Schema.Type<typeof AuditDetails> {}

/** An entry of the audit trail: a change of a credential, a refusal, or an export. */
export const AuditEntry = Schema.Struct({
  /** Increases with every entry. */
  number: Schema.Int,
  /** When it happened, in UTC. */
  time: WireDate,
  /** The account: empty for the main one, the canonical e-mail address for a subaccount. */
  account: Schema.String,
  /** Who acted. */
  actor: AuditActor,
  /** The IP address of the caller; `null` within the process, and of `FurtherRefusals`. */
  peer: Schema.NullOr(Schema.String),
  /**
   * The operation identifier of the interface, such as `securityApikeysPost`, `noOperation` for an unknown path,
   * `anyOperation` for `FurtherRefusals`, or `restore` for a credential that a restore of the store took away or brought back.
   */
  operation: Schema.String,
  /** The name of the credential as requested, or the id of the export; `null` where the operation has neither. */
  subject: Schema.NullOr(Schema.String),
  /**
   * `Done`, the tag of a refusal such as `NameTaken`, `Exported`, `Downloaded`, or `FurtherRefusals` for all of an hour that
   * have no entry.
   */
  outcome: Schema.String,
  /** What changed, or why it was refused. */
  details: AuditDetails
})
export interface AuditEntry extends Schema.Schema.Type<typeof AuditEntry> {}

const encode = Schema.encodeSync(Schema.fromJsonString(AuditEntry))

/** Formats an entry as one line of JSON, with control characters escaped for terminals. */
export const auditLine = (entry: AuditEntry): string =>
  Characters.replaceUnprintable(encode(entry), Characters.escapeInJson)
