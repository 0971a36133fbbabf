/** SMTP credentials. (`packages/api/openapi.json`: SmtpCredentials, SmtpCredentialsPayload, NewSmtpCredentials.) */
import { Schema } from "effect"
import { ReportedAccessLevel } from "../values/AccessLevel.ts"
import { EmailAddress } from "../contacts/EmailAddress.ts"
import { explained } from "../errors/Constructors.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"
import { credentialFields, credentialNames, credentialPayloadFields, token } from "./Credential.ts"

const fields = { ...credentialFields, accessLevel: Schema.optionalKey(ReportedAccessLevel) }

/** SMTP credentials without their password. The name is the login: e-mail shaped and unique in the whole service. */
export const SmtpCredentials = wireRecord(fields, credentialNames).annotate({ identifier: "SmtpCredentials" })
export interface SmtpCredentials extends Schema.Schema.Type<typeof SmtpCredentials> {}

/** New SMTP credentials with their password, which no other answer contains. */
export const NewSmtpCredentials = wireRecord({ ...fields, token }, credentialNames).annotate({
  identifier: "NewSmtpCredentials"
})
export interface NewSmtpCredentials extends Schema.Schema.Type<typeof NewSmtpCredentials> {}

/** SMTP credentials to create, or the new state of existing ones; another name renames them. */
export const SmtpCredentialsPayload = explained(
  payloadRecord(
    "an SMTP credential",
    { name: EmailAddress, ...credentialPayloadFields },
    // What is written may have been read.
    { others: credentialNames, alsoKnown: Object.keys(NewSmtpCredentials.to.fields) }
  ).annotate({ identifier: "SmtpCredentialsPayload" })
)
export interface SmtpCredentialsPayload extends Schema.Schema.Type<typeof SmtpCredentialsPayload> {}
