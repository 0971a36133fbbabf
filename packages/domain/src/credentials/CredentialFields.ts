/** What the records of both kinds of credential are made of. */
import { Schema } from "effect"
import { IpRange } from "./Credential.ts"
import { EmailAddress } from "../values/EmailAddress.ts"
import { WireDate } from "../values/WireDate.ts"
import { nullableRequestField, requestField } from "../values/RequestField.ts"

/**
 * The fields that every credential answers with.
 */
export const credentialFields = {
  name: Schema.String,
  dateCreated: Schema.optionalKey(WireDate),
  lastUse: Schema.optionalKey(Schema.NullOr(WireDate)),
  expires: Schema.optionalKey(Schema.NullOr(WireDate)),
  ipRanges: Schema.optionalKey(Schema.Array(Schema.String))
}

/**
 * The fields that every credential is made or changed by. On a change, what is left out stays; `null` clears the expiry,
 * an empty array clears the ranges. A new credential without an expiry, or with `null`, does not expire.
 */
export const credentialPayloadFields = {
  expires: nullableRequestField(WireDate),
  ipRanges: requestField(Schema.Array(IpRange)),
  subaccount: requestField(EmailAddress)
}

/**
 * The secret of a new credential. It travels as text, and is redacted everywhere else.
 */
export const token = Schema.RedactedFromValue(Schema.String, { label: "token" })

/**
 * The names of these fields on the wire.
 */
export const credentialKeys = {
  name: "Name",
  dateCreated: "DateCreated",
  lastUse: "LastUse",
  expires: "Expires",
  ipRanges: "RestrictAccessToIPRange"
} as const

export const credentialPayloadKeys = {
  name: "Name",
  expires: "Expires",
  ipRanges: "RestrictAccessToIPRange",
  subaccount: "Subaccount"
} as const
