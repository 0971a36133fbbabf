/** The endpoints of API keys and SMTP credentials. */
import {
  ApiKey,
  ApiKeyUpdatePayload,
  ApiKeyPayload,
  NewApiKey,
  NewSmtpCredentials,
  SmtpCredentials,
  SmtpCredentialsPayload,
  SmtpUpdatePayload
} from "@roster/domain"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { needs, secret } from "./OperationPolicy.ts"
import { byName, bySubaccount, callHeader, idempotencyKeyHeader } from "./Parameters.ts"
import { BadRequest, bodyErrors, Conflict, NotFound } from "./WireError.ts"

const creation = { retries: secret, headers: [idempotencyKeyHeader, callHeader], answersSecret: true }

/** The operations on access credentials. */
export class SecurityApi extends HttpApiGroup.make("security", { topLevel: true })
  .add(
    HttpApiEndpoint.delete("securityApikeysByNameDelete", "/security/apikeys/:name", {
      params: byName,
      query: bySubaccount,
      success: HttpApiSchema.Empty(200),
      error: [NotFound, Conflict]
    }).annotateMerge(needs("apikeys:write", "Delete an API key")),
    HttpApiEndpoint.get("securityApikeysByNameGet", "/security/apikeys/:name", {
      params: byName,
      query: bySubaccount,
      success: ApiKey,
      error: NotFound
    }).annotateMerge(needs("apikeys:read", "Load an API key")),
    HttpApiEndpoint.put("securityApikeysByNamePut", "/security/apikeys/:name", {
      params: byName,
      payload: ApiKeyUpdatePayload,
      success: ApiKey,
      error: [BadRequest, NotFound, Conflict, ...bodyErrors]
    }).annotateMerge(needs("apikeys:write", "Update an API key")),
    HttpApiEndpoint.get("securityApikeysGet", "/security/apikeys", {
      query: bySubaccount,
      success: Schema.Array(ApiKey)
    }).annotateMerge(needs("apikeys:read", "List API keys")),
    HttpApiEndpoint.post("securityApikeysPost", "/security/apikeys", {
      payload: ApiKeyPayload,
      success: NewApiKey.pipe(HttpApiSchema.status(201)),
      error: [BadRequest, Conflict, ...bodyErrors]
    }).annotateMerge(needs("apikeys:write", "Add an API key; its token is in this answer and in no other", creation)),
    HttpApiEndpoint.delete("securitySmtpByNameDelete", "/security/smtp/:name", {
      params: byName,
      query: bySubaccount,
      success: HttpApiSchema.Empty(200),
      error: NotFound
    }).annotateMerge(needs("smtp:write", "Delete SMTP credentials")),
    HttpApiEndpoint.get("securitySmtpByNameGet", "/security/smtp/:name", {
      params: byName,
      query: bySubaccount,
      success: SmtpCredentials,
      error: NotFound
    }).annotateMerge(needs("smtp:read", "Load SMTP credentials")),
    HttpApiEndpoint.put("securitySmtpByNamePut", "/security/smtp/:name", {
      params: byName,
      payload: SmtpUpdatePayload,
      success: SmtpCredentials,
      error: [BadRequest, NotFound, Conflict, ...bodyErrors]
    }).annotateMerge(needs("smtp:write", "Update SMTP credentials")),
    HttpApiEndpoint.get("securitySmtpGet", "/security/smtp", {
      query: bySubaccount,
      success: Schema.Array(SmtpCredentials)
    }).annotateMerge(needs("smtp:read", "List SMTP credentials")),
    HttpApiEndpoint.post("securitySmtpPost", "/security/smtp", {
      payload: SmtpCredentialsPayload,
      success: NewSmtpCredentials.pipe(HttpApiSchema.status(201)),
      error: [BadRequest, Conflict, ...bodyErrors]
    }).annotateMerge(
      needs("smtp:write", "Add SMTP credentials; their token is in this answer and in no other", creation)
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Access credentials" })) {}
