/** `CredentialsService` on the database of a store. Every change goes into the audit trail. */
import {
  type ApiKey,
  type ApiKeyForPurposes,
  ApiKeyPayload,
  ApiKeyUpdatePayload,
  CredentialsService,
  canonicalEmail,
  type LastManagingKey,
  type SmtpCredentials,
  SmtpCredentialsPayload,
  type SmtpInput,
  SmtpUpdatePayload,
  checkedMethods
} from "@roster/domain"
import {
  CredentialSettings,
  readApiKeyChanges,
  readApiKeyPayload,
  readSmtpChanges,
  readSmtpPayload,
  validated
} from "@roster/domain/internal"
import { Effect, Layer, Struct } from "effect"
import { SqlClient } from "effect/sql"
import * as AuditRefusals from "../credentials/AuditRefusals.ts"
import { credentialRepository } from "../credentials/CredentialRepository.ts"
import { requireManagingKey } from "../credentials/LastManagingKey.ts"
import { storeClock } from "../store/StoreClock.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"

const { apiKeySettings, credentialSettings } = CredentialSettings

/** What is shown of a credential besides its settings. */
const shownFields = ["name", "dateCreated", "lastUse"] as const

const validatedKey = validated(ApiKeyPayload)
const validatedChanges = validated(ApiKeyUpdatePayload)
const validatedSmtp = validated(SmtpCredentialsPayload)
const validatedSmtpChanges = validated(SmtpUpdatePayload)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const refusals = yield* AuditRefusals.AuditRefusals
  return checkedMethods(CredentialsService, {
    apiKeys: credentialRepository<ApiKey, ApiKeyPayload | ApiKeyForPurposes, ApiKeyUpdatePayload, LastManagingKey>(
      sql,
      refusals,
      {
        kind: "ApiKey",
        read: (given) => Effect.flatMap(readApiKeyPayload(given), validatedKey),
        readChanges: (given) => Effect.flatMap(readApiKeyChanges(given), validatedChanges),
        resource: "Apikeys",
        identity: (name) => name,
        toCredential: Struct.pick([...shownFields, ...Struct.keys(apiKeySettings)]),
        protect: requireManagingKey(sql)
      }
    ),
    smtp: credentialRepository<SmtpCredentials, SmtpInput, SmtpUpdatePayload>(sql, refusals, {
      kind: "Smtp",
      read: (given) => Effect.flatMap(readSmtpPayload(given), validatedSmtp),
      readChanges: (given) => Effect.flatMap(readSmtpChanges(given), validatedSmtpChanges),
      resource: "Smtp",
      accessLevels: ["SendSmtp"],
      identity: canonicalEmail,
      toCredential: (row) => ({
        ...Struct.pick(row, [...shownFields, ...Struct.keys(credentialSettings)]),
        accessLevel: "SendSmtp"
      }),
      protect: () => Effect.void
    }),
    serviceTime: orStoreFailure("securityApikeysGet")(storeClock(sql).now)
  })
})

/** Provides `CredentialsService` on the database of a store. */
export const layer: Layer.Layer<CredentialsService, never, SqlClient.SqlClient> = Layer.effect(
  CredentialsService,
  make
).pipe(Layer.provide(AuditRefusals.layer))
