/** API keys, for programs that use HTTP. (`packages/api/openapi.json`: ApiKey, ApiKeyPayload, NewApiKey.) */
import { DateTime, Effect, Option, Predicate, Schema, Struct } from "effect"
import { EmailAddress } from "../contacts/EmailAddress.ts"
import { explained } from "../errors/Constructors.ts"
import { InvalidInput, invalidInput } from "../errors/InvalidInput.ts"
import type { AccessLevel } from "../values/AccessLevel.ts"
import { requestField } from "../values/RequestField.ts"
import { parseWireDate } from "../values/WireDate.ts"
import { unknownName } from "../values/UnknownNames.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"
import { credentialFields, CredentialName, token } from "./Credential.ts"
import { apiKeySettings, credentialSettings, partOf } from "./CredentialSettings.ts"
import { accessFor, type Purpose, purposes } from "./Purpose.ts"

const fields = { ...credentialFields, ...partOf(credentialSettings, "read"), ...partOf(apiKeySettings, "read") }
const names = partOf(apiKeySettings, "wire")

/** An API key without its secret. */
export const ApiKey = wireRecord(fields, names).annotate({ identifier: "ApiKey" })
export interface ApiKey extends Schema.Schema.Type<typeof ApiKey> {}

/** A new API key with its secret, which no other answer contains. */
export const NewApiKey = wireRecord({ ...fields, token }, names).annotate({ identifier: "NewApiKey" })
export interface NewApiKey extends Schema.Schema.Type<typeof NewApiKey> {}

const payloadFields = {
  name: CredentialName,
  ...partOf(apiKeySettings, "write"),
  subaccount: requestField(EmailAddress)
}

const ofWhat = "an API key"
/** What is written may be a key that was read. */
const alsoKnown = Object.keys(NewApiKey.to.fields)

const Payload = payloadRecord(ofWhat, payloadFields, { others: names, alsoKnown }).annotate({
  identifier: "ApiKeyPayload"
})

/** What `ApiKeyPayload.fromInput` makes a payload of: texts, dates of any kind, and purposes for access levels. */
export interface ApiKeyInput extends Omit<
  typeof Payload.Type,
  "name" | "accessLevels" | "expires" | "ipRanges" | "subaccount"
> {
  readonly name: string
  /** What the key is for; adds the access levels that this needs. */
  readonly for?: ReadonlyArray<Purpose> | undefined
  readonly accessLevels?: ReadonlyArray<AccessLevel> | undefined
  /** When the key ends (default: never). */
  readonly expires?: DateTime.DateTime.Input | null | undefined
  /** Addresses and ranges such as `192.0.2.0/24` that the key may be used from (default: all). */
  readonly ipRanges?: ReadonlyArray<string> | undefined
  readonly subaccount?: string | undefined
}

/** The input of a key for purposes, which `create` and `update` take as it is. */
export interface ApiKeyForPurposes extends ApiKeyInput {
  readonly for: ReadonlyArray<Purpose>
  readonly subaccount?: EmailAddress | undefined
}

const inputNames = { ofWhat, alsoKnown, names: [...Object.keys(payloadFields), "for"] }

const decode = Schema.decodeUnknownEffect(Schema.toType(Payload))

const fromInput = Effect.fnUntraced(function* (input: ApiKeyInput): Effect.fn.Return<ApiKeyPayload, InvalidInput> {
  const refuse = (field: string, issue: string) => Effect.fail(new InvalidInput({ field, issue }))
  const unknown = unknownName(input, inputNames)
  if (unknown !== undefined) return yield* refuse(unknown.name, unknown.issue)
  const { accessLevels = [], expires, for: wanted = [], ...given } = input
  if (!Array.isArray(wanted) || !wanted.every((purpose) => purposes.includes(purpose))) {
    return yield* refuse("AccessLevel", `the purposes are ${purposes.join(", ")}`)
  }
  // As on the wire, a text without a zone is UTC, whatever the zone of the machine.
  const read = typeof expires === "string" ? Option.fromUndefinedOr(parseWireDate(expires)) : undefined
  const ends = expires == null ? undefined : Option.getOrUndefined(read ?? DateTime.make(expires))
  if (expires != null && ends === undefined) return yield* refuse("Expires", "it is not a date and time that exists")
  const payload = {
    ...given,
    // Levels that are no list are refused below.
    accessLevels: Array.isArray(accessLevels) ? [...new Set([...accessLevels, ...accessFor(wanted)])] : accessLevels,
    expires: ends === undefined ? expires : DateTime.toUtc(ends)
  }
  return yield* Effect.mapError(decode(payload), (error) => invalidInput(error))
})

/** An API key to create, or the new state of an existing one; another name renames it. */
export const ApiKeyPayload = Object.assign(explained(Payload), {
  /** Makes the payload of a key from texts at run time, and from purposes: `{ name, for: ["contacts:read"] }`. */
  fromInput
})
export interface ApiKeyPayload extends Schema.Schema.Type<typeof ApiKeyPayload> {}

const isForPurposes = (given: ApiKeyPayload | ApiKeyForPurposes): given is ApiKeyForPurposes =>
  Predicate.hasProperty(given, "for") && given.for !== undefined

/** Makes the payload of a key for purposes, with the same messages on every layer. Any other payload stays as it is. */
export const readApiKeyPayload = (
  given: ApiKeyPayload | ApiKeyForPurposes
): Effect.Effect<ApiKeyPayload, InvalidInput> => {
  if (isForPurposes(given)) return fromInput(given)
  return Effect.succeed(Predicate.hasProperty(given, "for") ? Struct.omit(given, ["for"]) : given)
}
