/**
 * API keys: what a program proves itself with over HTTP.
 * (Service interface, Resources: ApiKey, ApiKeyPayload, NewApiKey.)
 */
import { Schema } from "effect"
import { AccessLevel, ReportedAccessLevel } from "../values/AccessLevel.ts"
import { CredentialName } from "./Credential.ts"
import {
  credentialFields,
  credentialKeys,
  credentialPayloadFields,
  credentialPayloadKeys,
  token
} from "./CredentialFields.ts"

const fields = { ...credentialFields, accessLevels: Schema.Array(ReportedAccessLevel) }
const keys = { ...credentialKeys, accessLevels: "AccessLevel" } as const

/** A key as it is listed: never with its secret. */
export const ApiKey = Schema.Struct(fields).pipe(Schema.encodeKeys(keys), Schema.annotate({ identifier: "ApiKey" }))
export type ApiKey = typeof ApiKey.Type

/** A key that was just made, with the secret that no other answer will ever hold. */
export const NewApiKey = Schema.Struct({ ...fields, token }).pipe(
  Schema.encodeKeys({ ...keys, token: "Token" }),
  Schema.annotate({ identifier: "NewApiKey" })
)
export type NewApiKey = typeof NewApiKey.Type

/** A key to make, or what an existing one is to become; another name renames it. */
export const ApiKeyPayload = Schema.Struct({
  name: CredentialName,
  accessLevels: Schema.Array(AccessLevel),
  ...credentialPayloadFields
}).pipe(
  Schema.encodeKeys({ ...credentialPayloadKeys, accessLevels: "AccessLevel" }),
  Schema.annotate({ identifier: "ApiKeyPayload" })
)
export type ApiKeyPayload = typeof ApiKeyPayload.Type
