/** The entries of the audit trail, and their form as lines of JSON. They hold no secret. */
import { type DateTime, Schema } from "effect"
import { ReportedAccessLevel } from "../values/AccessLevel.ts"
import * as Characters from "../values/Characters.ts"
import { WireDate } from "../values/WireDate.ts"

/** Who acted: the owner of the store, a key by its name and the ends of its secret, or a caller without a known key. */
export const AuditActor = Schema.Union([
  Schema.TaggedStruct("Owner", {}),
  Schema.TaggedStruct("Key", { name: Schema.String, hint: Schema.String }),
  Schema.TaggedStruct("Unknown", {})
])
export type AuditActor = typeof AuditActor.Type

/** The details of an entry. Fields are named as on the wire; values are access levels and names, never a secret. */
export class AuditDetails extends Schema.Opaque<AuditDetails>()(
  Schema.Struct({
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
    /** The command of the run. */
    command: Schema.optionalKey(Schema.String),
    /** The number of refusals without an entry of their own. */
    count: Schema.optionalKey(Schema.Int)
  })
) {}

/** How many contacts were written. */
export const WrittenContacts = Schema.Struct({
  /** Contacts that were added. */
  added: Schema.Int,
  /** Contacts that were changed; without a run also those that got what they had. */
  changed: Schema.Int,
  /** Contacts that were deleted. */
  deleted: Schema.Int,
  /** Of those that were changed, the ones that get mail since and did not before. */
  gainedMail: Schema.Int,
  /** Of those that were changed, the ones that get no mail any more. */
  lostMail: Schema.Int
})
export interface WrittenContacts extends Schema.Schema.Type<typeof WrittenContacts> {}

/**
 * An entry of the audit trail: a change of a credential, a refusal, an export, the contacts that a run wrote, or those that a key wrote
 * without a run in an hour.
 */
export class AuditEntry extends Schema.Opaque<AuditEntry>()(
  Schema.Struct({
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
     * `anyOperation` for `FurtherRefusals`, `run` for what a run wrote, `writes` for writes without one, or `restore` for a credential that a restore of the store took away or brought back.
     */
    operation: Schema.String,
    /** The name of the credential as requested, or the id of the export or the run; `null` where the operation has neither. */
    subject: Schema.NullOr(Schema.String),
    /**
     * `Done`, the tag of a refusal such as `NameTaken`, `Exported`, `Downloaded`, `Wrote` for contacts, or `FurtherRefusals` for all of an hour that
     * have no entry.
     */
    outcome: Schema.String,
    /** What changed, or why it was refused. */
    details: AuditDetails,
    /** What a run wrote, which grows with it, or a key in an hour; only of `Wrote`. */
    contacts: Schema.optionalKey(WrittenContacts)
  }).annotate({ identifier: "AuditEntry" })
) {}

const encode = Schema.encodeSync(Schema.fromJsonString(AuditEntry))

/** A page of the audit trail, the newest entries first. */
export interface AuditPage {
  /** Selects the entries of a key by its name. */
  readonly key?: string | undefined
  /** Selects entries of this time and later. */
  readonly since?: DateTime.Utc | undefined
  /** The subaccount (default: all accounts for the main one, and else its own). */
  readonly subaccount?: string | undefined
  /** Gives the entries with lower numbers. */
  readonly before?: number | undefined
  /** The maximum number of entries, up to 1000 (default: 20). */
  readonly limit?: number | undefined
}

/** What an API key was used for. */
export class KeyUse extends Schema.Opaque<KeyUse>()(
  Schema.Struct({
    /** The name of the key. */
    name: Schema.String,
    /** The access levels that it was used for, each with its last use to the minute; none of a key that was never used. */
    levels: Schema.Array(Schema.Struct({ level: ReportedAccessLevel, lastUse: WireDate }))
  }).annotate({ identifier: "KeyUse" })
) {}

/** Formats an entry as one line of JSON, with control characters escaped for terminals. */
export const auditLine = (entry: AuditEntry): string =>
  Characters.replaceUnprintable(encode(entry), Characters.escapeInJson)
