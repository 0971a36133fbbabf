/** API keys, for programs that use HTTP. (`packages/api/openapi.json`: ApiKey, ApiKeyPayload, NewApiKey.) */
import { type DateTime, type Duration, Effect, Predicate, Schema, Struct } from "effect"
import { EmailAddress } from "../contacts/EmailAddress.ts"
import { explained } from "../errors/Constructors.ts"
import { InvalidInput, invalidInput } from "../errors/InvalidInput.ts"
import { AccessLevel } from "../values/AccessLevel.ts"
import { inputText, requestField } from "../values/OptionalField.ts"
import { unknownName } from "../values/UnknownNames.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"
import { credentialFields, CredentialName, secretField } from "./Credential.ts"
import { apiKeySettings, credentialSettings, partOf, readEnd } from "./CredentialSettings.ts"
import { accessFor, type Purpose, purposes } from "./Purpose.ts"

const fields = { ...credentialFields, ...partOf(credentialSettings, "read"), ...partOf(apiKeySettings, "read") }
const names = partOf(apiKeySettings, "wire")

/** An API key without its secret. */
export class ApiKey extends Schema.Opaque<ApiKey>()(wireRecord(fields, names).annotate({ identifier: "ApiKey" })) {}

/** A new API key with its secret, which no other answer contains. */
export class NewApiKey extends Schema.Opaque<NewApiKey>()(
  wireRecord({ ...fields, ...secretField }, names).annotate({ identifier: "NewApiKey" })
) {}

const settings = partOf(apiKeySettings, "write")
const payloadFields = {
  /** The name of the key: 1 to 254 characters, unique in its account. */
  name: inputText(CredentialName),
  ...settings,
  /** The subaccount that the key is of, by its e-mail address (default: the account itself). */
  subaccount: requestField(inputText(EmailAddress))
}

const ofWhat = "an API key"
const notWritten = Object.keys(NewApiKey.to.fields)
const nameRules = { notWritten, madeBy: "ApiKeyPayload.fromApiKey" }

const Payload = payloadRecord(ofWhat, payloadFields, { others: names, ...nameRules }).annotate({
  identifier: "ApiKeyPayload"
})

class Changes extends Schema.Opaque<Changes>()(
  payloadRecord(
    ofWhat,
    {
      ...payloadFields,
      /** The name of the key: 1 to 254 characters, unique in its account. */
      name: requestField(payloadFields.name),
      /** What the key may do, by access level. */
      accessLevels: requestField(settings.accessLevels)
    },
    { others: names, ...nameRules }
  ).annotate({ identifier: "ApiKeyUpdatePayload" })
) {}

/** The changes to an API key as they are sent. Fields that are left out stay as they are; another name renames it. */
export const ApiKeyUpdatePayload = Changes

/** What `ApiKeyPayload.fromInput` makes a payload of: texts, dates of any kind or times from now, and purposes for access levels. */
export interface ApiKeyInput extends Omit<typeof Payload.Type, "accessLevels" | "expires"> {
  /** What the key is for; adds the access levels that this needs. */
  readonly for?: ReadonlyArray<Purpose> | undefined
  /** What the key may do, by access level. */
  readonly accessLevels?: ReadonlyArray<AccessLevel> | undefined
  /** When the key ends: a date and time, where a text without a zone is UTC, or a time from now (default: never). */
  readonly expires?: DateTime.DateTime.Input | Duration.Duration | null | undefined
}

/** The input of a key for purposes, which `create` takes as it is. */
export interface ApiKeyForPurposes extends ApiKeyInput {
  readonly for: ReadonlyArray<Purpose>
}

/** The changes to an API key, with purposes for access levels and dates of any kind. */
export interface ApiKeyUpdatePayload extends Omit<ApiKeyInput, "name"> {
  /** The name of the key: 1 to 254 characters, unique in its account. */
  readonly name?: string | undefined
}

const inputNames = { ofWhat, ...nameRules, names: [...Object.keys(payloadFields), "for"] }

/** Reads the input of a key by the schema of what is made of it. */
const reader = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.toType(schema))
  return Effect.fnUntraced(function* (input: ApiKeyUpdatePayload): Effect.fn.Return<A, InvalidInput> {
    const refuse = (field: string, issue: string) => Effect.fail(new InvalidInput({ field, issue }))
    if (!Predicate.isObject(input)) return yield* refuse("body", "expected object")
    const unknown = unknownName(input, inputNames)
    if (unknown !== undefined) return yield* refuse(unknown.name, unknown.issue)
    const { accessLevels, expires, for: wanted, ...given } = input
    if (wanted !== undefined && !(Array.isArray(wanted) && wanted.every((purpose) => purposes.includes(purpose)))) {
      return yield* refuse("for", `the purposes are ${purposes.join(", ")}`)
    }
    const ends = expires == null ? expires : yield* readEnd(expires)
    const payload = {
      ...given,
      // Levels that are no list are refused below.
      accessLevels:
        wanted !== undefined && (accessLevels === undefined || Array.isArray(accessLevels))
          ? [...new Set([...(accessLevels ?? []), ...accessFor(wanted)])]
          : accessLevels,
      expires: ends
    }
    return yield* Effect.mapError(decode(payload), (error) => invalidInput(error))
  })
}

const readPayload = reader(Payload)

/** An API key to create, or to replace another; another name renames it. */
export class ApiKeyPayload extends Schema.Opaque<ApiKeyPayload>()(explained(Payload)) {
  /** Makes the payload of a key from dates of any kind, and from purposes: `{ name, for: ["contacts:read"] }`. */
  static readonly fromInput = (input: ApiKeyInput): Effect.Effect<ApiKeyPayload, InvalidInput> =>
    readPayload(input.accessLevels === undefined ? { ...input, accessLevels: [] } : input)
  /**
   * What can be written back of a key that was read. Fails for what only another service may hold: levels that it does not
   * tell or this version does not know, or a name or range outside our grammar.
   */
  static readonly fromApiKey = (key: ApiKey): Effect.Effect<ApiKeyPayload, InvalidInput> =>
    key.accessLevels.every(isAccessLevel)
      ? Effect.mapError(decodePayload(Struct.pick(key, ["name", ...Struct.keys(apiKeySettings)])), (error) =>
          invalidInput(error)
        )
      : Effect.fail(new InvalidInput({ field: "accessLevels", issue: issueOfLevels }))
}

const isAccessLevel = Schema.is(AccessLevel)

const issueOfLevels =
  "the service does not tell the levels that the key has, or it has some that this version does not know; name those that " +
  "it is to have"

const decodePayload = Schema.decodeUnknownEffect(Schema.toType(Payload))

/** Makes the payload of a key of what `create` is given, with the same messages on every layer. */
export const readApiKeyPayload: (
  given: ApiKeyPayload | ApiKeyForPurposes
) => Effect.Effect<ApiKeyPayload, InvalidInput> = readPayload

/** Makes the changes to a key of what `update` is given, with the same messages on every layer. */
export const readApiKeyChanges: (given: ApiKeyUpdatePayload) => Effect.Effect<Changes, InvalidInput> =
  reader(ApiKeyUpdatePayload)
