/**
 * SMTP credentials, with which mail programs log in. The name is the login, is e-mail shaped and unique in the whole service.
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
} from "./Credential.ts"

const fields = { ...credentialFields, accessLevel: Schema.optionalKey(ReportedAccessLevel) }
const keys = { ...credentialKeys, accessLevel: "AccessLevel" } as const

/** SMTP credentials without their password. */
export const SmtpCredentials = Schema.Struct(fields).pipe(
  Schema.encodeKeys(keys),
  Schema.annotate({ identifier: "SmtpCredentials" })
)
export interface SmtpCredentials extends Schema.Schema.Type<typeof SmtpCredentials> {}

/** New SMTP credentials with their password, which no other answer holds. */
export const NewSmtpCredentials = Schema.Struct({ ...fields, token }).pipe(
  Schema.encodeKeys({ ...keys, token: "Token" }),
  Schema.annotate({ identifier: "NewSmtpCredentials" })
)
export interface NewSmtpCredentials extends Schema.Schema.Type<typeof NewSmtpCredentials> {}

/** SMTP credentials to create, or the new state of existing ones; another name renames them. */
export const SmtpCredentialsPayload = Schema.Struct({ name: EmailAddress, ...credentialPayloadFields }).pipe(
  Schema.encodeKeys(credentialPayloadKeys),
  Schema.annotate({ identifier: "SmtpCredentialsPayload" })
)
export interface SmtpCredentialsPayload extends Schema.Schema.Type<typeof SmtpCredentialsPayload> {}
