/** SMTP credentials. (`packages/api/openapi.json`: SmtpCredentials, SmtpCredentialsPayload, NewSmtpCredentials.) */
import { Effect, Predicate, Schema, Struct } from "effect"
import { ReportedAccessLevel } from "../values/AccessLevel.ts"
import { EmailAddress } from "../contacts/EmailAddress.ts"
import { explained } from "../errors/Constructors.ts"
import { InvalidInput, invalidInput } from "../errors/InvalidInput.ts"
import { answerField, inputText, requestField } from "../values/OptionalField.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"
import { credentialFields, secretField } from "./Credential.ts"
import type { ApiKeyInput } from "./ApiKey.ts"
import { credentialSettings, partOf, readEnd } from "./CredentialSettings.ts"

const fields = {
  ...credentialFields,
  ...partOf(credentialSettings, "read"),
  /** What the credentials may do. */
  accessLevel: answerField(ReportedAccessLevel)
}
const names = partOf(credentialSettings, "wire")

/** SMTP credentials without their password. The name is the login: e-mail shaped and unique in the whole service. */
export class SmtpCredentials extends Schema.Opaque<SmtpCredentials>()(
  wireRecord(fields, names).annotate({ identifier: "SmtpCredentials" })
) {}

/** New SMTP credentials with their password, which no other answer contains. */
export class NewSmtpCredentials extends Schema.Opaque<NewSmtpCredentials>()(
  wireRecord({ ...fields, ...secretField }, names).annotate({
    identifier: "NewSmtpCredentials"
  })
) {}

const payloadFields = {
  /** The name, which is also the login: an e-mail address, unique in the whole service. */
  name: inputText(EmailAddress),
  ...partOf(credentialSettings, "write"),
  /** The subaccount that the credentials are of, by its e-mail address (default: the account itself). */
  subaccount: requestField(inputText(EmailAddress))
}

const ofWhat = "an SMTP credential"
const nameRules = {
  others: names,
  notWritten: Object.keys(NewSmtpCredentials.to.fields),
  madeBy: "SmtpCredentialsPayload.fromSmtpCredentials"
}

const Payload = payloadRecord(ofWhat, payloadFields, nameRules).annotate({ identifier: "SmtpCredentialsPayload" })
const decodePayload = Schema.decodeUnknownEffect(Schema.toType(Payload))

/** SMTP credentials to create, or to replace others; another name renames them. */
export class SmtpCredentialsPayload extends Schema.Opaque<SmtpCredentialsPayload>()(explained(Payload)) {
  /** What can be written back of credentials that were read. Fails for what only another service may hold. */
  static readonly fromSmtpCredentials = (read: SmtpCredentials): Effect.Effect<SmtpCredentialsPayload, InvalidInput> =>
    Effect.mapError(decodePayload(Struct.pick(read, ["name", ...Struct.keys(credentialSettings)])), (error) =>
      invalidInput(error)
    )
}

class Changes extends Schema.Opaque<Changes>()(
  payloadRecord(
    ofWhat,
    {
      ...payloadFields,
      /** The name, which is also the login: an e-mail address, unique in the whole service. */
      name: requestField(payloadFields.name)
    },
    nameRules
  ).annotate({ identifier: "SmtpUpdatePayload" })
) {}

/** The changes to SMTP credentials as they are sent. Fields that are left out stay as they are; another name renames them. */
export const SmtpUpdatePayload = Changes

/** SMTP credentials to create, with an end of any kind. */
export interface SmtpInput extends Omit<typeof Payload.Type, "expires"> {
  /** When they end: a date and time, where a text without a zone is UTC, or a time from now (default: never). */
  readonly expires?: ApiKeyInput["expires"]
}

/** The changes to SMTP credentials, with an end of any kind. */
export interface SmtpUpdatePayload extends Omit<SmtpInput, "name"> {
  /** The name, which is also the login: an e-mail address, unique in the whole service. */
  readonly name?: string | undefined
}

/** Reads the end that a caller gives; the contract checks the rest. */
const withEnd = <A extends SmtpUpdatePayload>(given: A) =>
  Predicate.isObject(given)
    ? Effect.map(readEnd(given.expires), (expires) => ({ ...given, expires }))
    : Effect.fail(new InvalidInput({ field: "body", issue: "expected object" }))

/** Makes the payload of SMTP credentials of what `create` is given, with the same messages on every layer. */
export const readSmtpPayload = (given: SmtpInput): Effect.Effect<SmtpCredentialsPayload, InvalidInput> => withEnd(given)

/** Makes the changes to SMTP credentials of what `update` is given, with the same messages on every layer. */
export const readSmtpChanges = (given: SmtpUpdatePayload): Effect.Effect<Changes, InvalidInput> => withEnd(given)
