/**
 * One line of the store's record of what was done with credentials and what was refused.
 */
import { AccessLevel, WireDate } from "@roster/domain"
import { Schema } from "effect"

/**
 * Who acted: the owner of the store in a process of its own, a key, by its name and the ends of its secret, or somebody
 * without a key that the store knows.
 */
export const AuditActor = Schema.Union([
  Schema.TaggedStruct("Owner", {}),
  Schema.TaggedStruct("Key", { name: Schema.String, hint: Schema.String }),
  Schema.TaggedStruct("Unknown", {})
])
export type AuditActor = typeof AuditActor.Type

/**
 * What an entry says beside who, what and whether. Fields are named as on the wire; values are access levels and names,
 * never a secret.
 */
export const AuditDetails = Schema.Struct({
  /** The fields that a change set. */
  changed: Schema.optionalKey(Schema.Array(Schema.String)),
  levelsAdded: Schema.optionalKey(Schema.Array(AccessLevel)),
  levelsRemoved: Schema.optionalKey(Schema.Array(AccessLevel)),
  /** The new name, where the change was one. */
  renamedTo: Schema.optionalKey(Schema.String),
  /** The access level that was missing. */
  required: Schema.optionalKey(AccessLevel),
  /** Why a key that the store knows was refused. */
  because: Schema.optionalKey(Schema.Literals(["Expired", "OutsideRanges"])),
  /** The field that was refused. */
  field: Schema.optionalKey(Schema.String)
})
export type AuditDetails = typeof AuditDetails.Type

export const AuditEntry = Schema.Struct({
  /** Grows with every entry. */
  number: Schema.Int,
  time: WireDate,
  /** Whose credentials are meant: empty for the main account, the identity of its e-mail for a subaccount. */
  account: Schema.String,
  actor: AuditActor,
  /** The address that the call came from, and `null` for one within the process. */
  peer: Schema.NullOr(Schema.String),
  /** The operation identifier of the interface, such as `securityApikeysPost`, or `noOperation` for a path that is none. */
  operation: Schema.String,
  /** The name of the credential, as it was asked for; `null` where the operation has none. */
  subject: Schema.NullOr(Schema.String),
  /**
   * `Done`, or the tag of the refusal, such as `AccessDenied`, `NameTaken` or `LastManagingKey`. `FurtherRefusals` says
   * that the actor was refused more often in that hour than is written down.
   */
  outcome: Schema.String,
  details: AuditDetails
})
export type AuditEntry = typeof AuditEntry.Type

const encode = Schema.encodeSync(Schema.fromJsonString(AuditEntry))

/** An entry as one line of JSON. Whatever a name holds, the line is one line, and a terminal obeys nothing in it. */
export const auditLine = (entry: AuditEntry): string =>
  encode(entry).replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu,
    // A sign beyond U+FFFF is two escapes in JSON.
    (sign) =>
      [...Array(sign.length).keys()].map((i) => `\\u${sign.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")
  )
