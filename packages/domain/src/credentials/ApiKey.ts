/**
 * API keys, which authenticate programs over HTTP.
 * (Service interface, Resources: ApiKey, ApiKeyPayload, NewApiKey.)
 */
import { Schema } from "effect"
import { AccessLevel, ReportedAccessLevel } from "../values/AccessLevel.ts"
import {
  credentialFields,
  credentialKeys,
  CredentialName,
  credentialPayloadFields,
  credentialPayloadKeys,
  token
} from "./Credential.ts"

const fields = { ...credentialFields, accessLevels: Schema.Array(ReportedAccessLevel) }
const keys = { ...credentialKeys, accessLevels: "AccessLevel" } as const

/** An API key without its secret. */
export const ApiKey = Schema.Struct(fields).pipe(Schema.encodeKeys(keys), Schema.annotate({ identifier: "ApiKey" }))
export interface ApiKey extends Schema.Schema.Type<typeof ApiKey> {}

/** A new API key with its secret, which no other answer holds. */
export const NewApiKey = Schema.Struct({ ...fields, token }).pipe(
  Schema.encodeKeys({ ...keys, token: "Token" }),
  Schema.annotate({ identifier: "NewApiKey" })
)
export interface NewApiKey extends Schema.Schema.Type<typeof NewApiKey> {}

/** An API key to create, or the new state of an existing one; another name renames it. */
export const ApiKeyPayload = Schema.Struct({
  name: CredentialName,
  accessLevels: Schema.Array(AccessLevel),
  ...credentialPayloadFields
}).pipe(
  Schema.encodeKeys({ ...credentialPayloadKeys, accessLevels: "AccessLevel" }),
  Schema.annotate({ identifier: "ApiKeyPayload" })
)
export interface ApiKeyPayload extends Schema.Schema.Type<typeof ApiKeyPayload> {}
