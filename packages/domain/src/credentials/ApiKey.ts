/** API keys, for programs that use HTTP. (Service interface, Resources: ApiKey, ApiKeyPayload, NewApiKey.) */
import { Schema } from "effect"
import { AccessLevel, ReportedAccessLevel } from "../values/AccessLevel.ts"
import { wireRecord } from "../values/WireRecord.ts"
import { credentialFields, CredentialName, credentialNames, credentialPayloadFields, token } from "./Credential.ts"

const fields = { ...credentialFields, accessLevels: Schema.Array(ReportedAccessLevel) }
const names = { ...credentialNames, accessLevels: "AccessLevel" } as const

/** An API key without its secret. */
export const ApiKey = wireRecord(fields, names).annotate({ identifier: "ApiKey" })
export interface ApiKey extends Schema.Schema.Type<typeof ApiKey> {}

/** A new API key with its secret, which no other answer contains. */
export const NewApiKey = wireRecord({ ...fields, token }, names).annotate({ identifier: "NewApiKey" })
export interface NewApiKey extends Schema.Schema.Type<typeof NewApiKey> {}

/** An API key to create, or the new state of an existing one; another name renames it. */
export const ApiKeyPayload = wireRecord(
  { name: CredentialName, accessLevels: Schema.Array(AccessLevel), ...credentialPayloadFields },
  names
).annotate({ identifier: "ApiKeyPayload" })
export interface ApiKeyPayload extends Schema.Schema.Type<typeof ApiKeyPayload> {}
