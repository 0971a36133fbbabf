/** SMTP credentials. (`packages/api/openapi.json`: SmtpCredentials, SmtpCredentialsPayload, NewSmtpCredentials.) */
import { Schema } from "effect"
import { ReportedAccessLevel } from "../values/AccessLevel.ts"
import { EmailAddress } from "../contacts/EmailAddress.ts"
import { explained } from "../errors/Constructors.ts"
import { requestField } from "../values/RequestField.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"
import { credentialFields, token } from "./Credential.ts"
import { credentialSettings, partOf } from "./CredentialSettings.ts"

const fields = {
  ...credentialFields,
  ...partOf(credentialSettings, "read"),
  accessLevel: Schema.optionalKey(ReportedAccessLevel)
}
const names = partOf(credentialSettings, "wire")

/** SMTP credentials without their password. The name is the login: e-mail shaped and unique in the whole service. */
export const SmtpCredentials = wireRecord(fields, names).annotate({ identifier: "SmtpCredentials" })
export interface SmtpCredentials extends Schema.Schema.Type<typeof SmtpCredentials> {}

/** New SMTP credentials with their password, which no other answer contains. */
export const NewSmtpCredentials = wireRecord({ ...fields, token }, names).annotate({
  identifier: "NewSmtpCredentials"
})
export interface NewSmtpCredentials extends Schema.Schema.Type<typeof NewSmtpCredentials> {}

/** SMTP credentials to create, or the new state of existing ones; another name renames them. */
export const SmtpCredentialsPayload = explained(
  payloadRecord(
    "an SMTP credential",
    { name: EmailAddress, ...partOf(credentialSettings, "write"), subaccount: requestField(EmailAddress) },
    // What is written may have been read.
    { others: names, alsoKnown: Object.keys(NewSmtpCredentials.to.fields) }
  ).annotate({ identifier: "SmtpCredentialsPayload" })
)
export interface SmtpCredentialsPayload extends Schema.Schema.Type<typeof SmtpCredentialsPayload> {}
