/**
 * Access credentials over HTTP.
 */
import {
  ApiKey,
  CredentialNotFound,
  CredentialsService,
  NameTaken,
  NewApiKey,
  NewSmtpCredentials,
  SmtpCredentials
} from "@roster/domain"
import { Effect, Layer, Schema } from "effect"
import { readJson, readNothing } from "./Answer.ts"
import { makeCall } from "./Call.ts"
import type { ClientOptions } from "./ClientOptions.ts"
import { RosterHttpApi } from "./RosterHttpApi.ts"
import { inPath } from "./UrlValue.ts"

const readApiKey = readJson(ApiKey)
const readApiKeys = readJson(Schema.Array(ApiKey))
const readNewApiKey = readJson(NewApiKey)
const readSmtp = readJson(SmtpCredentials)
const readSmtpList = readJson(Schema.Array(SmtpCredentials))
const readNewSmtp = readJson(NewSmtpCredentials)

const notFound = (name: string) => ({ 404: () => new CredentialNotFound({ name }) })
const taken = (name: string) => ({ 409: () => new NameTaken({ name }) })

/** A rename whose answer was lost leaves nothing under the old name: what is under the new one is the result. */
const renamed = <A, E>(name: string, next: string, get: (name: string) => Effect.Effect<A, E>) =>
  name === next ? Effect.fail(new CredentialNotFound({ name })) : get(next)

const make = Effect.gen(function* () {
  const shared = yield* RosterHttpApi
  const { api } = shared
  const call = makeCall(shared)

  const getApiKey: CredentialsService["Service"]["apiKeys"]["get"] = Effect.fn("CredentialsService.apiKeys.get")(
    function* (name, of = {}) {
      yield* inPath("name", name)
      return yield* call({
        operation: "securityApikeysByNameGet",
        about: name,
        send: api.securityApikeysByNameGet({ params: { name }, query: { subaccount: of.subaccount } }),
        read: readApiKey,
        refusals: ["CredentialNotFound", "InvalidInput"],
        byStatus: notFound(name)
      })
    }
  )

  const getSmtp: CredentialsService["Service"]["smtp"]["get"] = Effect.fn("CredentialsService.smtp.get")(function* (
    name,
    of = {}
  ) {
    yield* inPath("name", name)
    return yield* call({
      operation: "securitySmtpByNameGet",
      send: api.securitySmtpByNameGet({ params: { name }, query: { subaccount: of.subaccount } }),
      read: readSmtp,
      refusals: ["CredentialNotFound", "InvalidInput"],
      byStatus: notFound(name)
    })
  })

  return CredentialsService.of({
    apiKeys: {
      list: Effect.fn("CredentialsService.apiKeys.list")(function* (of = {}) {
        return yield* call({
          operation: "securityApikeysGet",
          send: api.securityApikeysGet({ query: { subaccount: of.subaccount } }),
          read: readApiKeys,
          refusals: ["InvalidInput"]
        })
      }),
      get: getApiKey,
      create: Effect.fn("CredentialsService.apiKeys.create")(function* (payload) {
        return yield* call({
          operation: "securityApikeysPost",
          send: api.securityApikeysPost({ payload }),
          read: readNewApiKey,
          refusals: ["NameTaken", "TooManyCredentials", "InvalidInput"],
          about: payload.name,
          byStatus: taken(payload.name)
        })
      }),
      update: Effect.fn("CredentialsService.apiKeys.update")(function* (name, payload) {
        yield* inPath("name", name)
        return yield* call({
          operation: "securityApikeysByNamePut",
          about: name,
          send: api.securityApikeysByNamePut({ params: { name }, payload }),
          read: readApiKey,
          refusals: ["CredentialNotFound", "NameTaken", "LastManagingKey", "InvalidInput"],
          goneAfterAmbiguous: renamed(name, payload.name, (next) =>
            getApiKey(next, { subaccount: payload.subaccount })
          ),
          byStatus: { ...notFound(name), ...taken(payload.name) }
        })
      }),
      delete: Effect.fn("CredentialsService.apiKeys.delete")(function* (name, of = {}) {
        yield* inPath("name", name)
        return yield* call({
          operation: "securityApikeysByNameDelete",
          about: name,
          goneAfterAmbiguous: Effect.void,
          send: api.securityApikeysByNameDelete({
            params: { name },
            query: { subaccount: of.subaccount }
          }),
          read: readNothing,
          refusals: ["CredentialNotFound", "LastManagingKey", "InvalidInput"],
          byStatus: notFound(name)
        })
      })
    },
    smtp: {
      list: Effect.fn("CredentialsService.smtp.list")(function* (of = {}) {
        return yield* call({
          operation: "securitySmtpGet",
          send: api.securitySmtpGet({ query: { subaccount: of.subaccount } }),
          read: readSmtpList,
          refusals: ["InvalidInput"]
        })
      }),
      get: getSmtp,
      create: Effect.fn("CredentialsService.smtp.create")(function* (payload) {
        return yield* call({
          operation: "securitySmtpPost",
          send: api.securitySmtpPost({ payload }),
          read: readNewSmtp,
          refusals: ["NameTaken", "TooManyCredentials", "InvalidInput"],
          about: payload.name,
          byStatus: taken(payload.name)
        })
      }),
      update: Effect.fn("CredentialsService.smtp.update")(function* (name, payload) {
        yield* inPath("name", name)
        return yield* call({
          operation: "securitySmtpByNamePut",
          about: name,
          send: api.securitySmtpByNamePut({ params: { name }, payload }),
          read: readSmtp,
          refusals: ["CredentialNotFound", "NameTaken", "InvalidInput"],
          goneAfterAmbiguous: renamed(name, payload.name, (next) => getSmtp(next, { subaccount: payload.subaccount })),
          byStatus: { ...notFound(name), ...taken(payload.name) }
        })
      }),
      delete: Effect.fn("CredentialsService.smtp.delete")(function* (name, of = {}) {
        yield* inPath("name", name)
        return yield* call({
          operation: "securitySmtpByNameDelete",
          about: name,
          goneAfterAmbiguous: Effect.void,
          send: api.securitySmtpByNameDelete({ params: { name }, query: { subaccount: of.subaccount } }),
          read: readNothing,
          refusals: ["CredentialNotFound", "InvalidInput"],
          byStatus: notFound(name)
        })
      })
    }
  })
})

/**
 * The service over a client that others share.
 *
 * @internal
 */
export const layerShared: Layer.Layer<CredentialsService, never, RosterHttpApi> = Layer.effect(CredentialsService, make)

/**
 * Credentials of the service that the options name.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: ClientOptions) =>
  Layer.fresh(layerShared).pipe(Layer.provide(RosterHttpApi.layer(options)))
