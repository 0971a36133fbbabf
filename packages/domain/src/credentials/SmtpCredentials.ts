/**
 * SMTP credentials: what a mail program logs in with. The name is the login, is e-mail shaped, and is unique in the whole
 * service.
 * (Service interface, Resources: SmtpCredentials, SmtpCredentialsPayload, NewSmtpCredentials.)
 */
import { Schema } from "effect"
import { ReportedAccessLevel } from "../values/AccessLevel.ts"
import { EmailAddress } from "../values/EmailAddress.ts"
import {
  credentialFields,
  credentialKeys,
  credentialPayloadFields,
  credentialPayloadKeys,
  token
} from "./CredentialFields.ts"

const fields = { ...credentialFields, accessLevel: Schema.optionalKey(ReportedAccessLevel) }
const keys = { ...credentialKeys, accessLevel: "AccessLevel" } as const

export const SmtpCredentials = Schema.Struct(fields).pipe(
  Schema.encodeKeys(keys),
  Schema.annotate({ identifier: "SmtpCredentials" })
)
export type SmtpCredentials = typeof SmtpCredentials.Type

/** Credentials that were just made, with the password that no other answer will ever hold. */
export const NewSmtpCredentials = Schema.Struct({ ...fields, token }).pipe(
  Schema.encodeKeys({ ...keys, token: "Token" }),
  Schema.annotate({ identifier: "NewSmtpCredentials" })
)
export type NewSmtpCredentials = typeof NewSmtpCredentials.Type

/** Credentials to make, or what existing ones are to become; another name renames them. */
export const SmtpCredentialsPayload = Schema.Struct({ name: EmailAddress, ...credentialPayloadFields }).pipe(
  Schema.encodeKeys(credentialPayloadKeys),
  Schema.annotate({ identifier: "SmtpCredentialsPayload" })
)
export type SmtpCredentialsPayload = typeof SmtpCredentialsPayload.Type
