/**
 * Access credentials over HTTP.
 */
import type { OperationId } from "@roster/api"
import {
  ApiKey,
  CredentialNotFound,
  CredentialsService,
  InvalidInput,
  NameTaken,
  NewApiKey,
  NewSmtpCredentials,
  OutcomeUnknown,
  ServiceError,
  SmtpCredentials
} from "@roster/domain"
import { type DateTime, Effect, Layer, Predicate, Schema } from "effect"
import { readJson, readNothing } from "../calls/ResponseDecoding.ts"
import { makeCall } from "../calls/Call.ts"
import type { ClientOptions } from "../calls/ClientOptions.ts"
import { methods } from "../calls/Method.ts"
import { RosterHttpApi } from "../calls/RosterHttpApi.ts"
import { inPath } from "./UrlValue.ts"

const readApiKey = readJson(ApiKey)
const readApiKeys = readJson(Schema.Array(ApiKey))
const readNewApiKey = readJson(NewApiKey)
const readSmtp = readJson(SmtpCredentials)
const readSmtpList = readJson(Schema.Array(SmtpCredentials))
const readNewSmtp = readJson(NewSmtpCredentials)

const notFound = (name: string) => ({ 404: () => new CredentialNotFound({ name }) })
const taken = (name: string) => ({ 409: () => new NameTaken({ name }) })

/** What a change of a credential says of it, in the fields that both kinds have. */
interface Sent {
  readonly name: string
  readonly expires?: DateTime.Utc | null | undefined
  readonly ipRanges?: ReadonlyArray<string> | undefined
  readonly accessLevels?: ReadonlyArray<string> | undefined
}

/** The same of a credential as the service has it. */
type Found = Omit<Sent, "name">

const areSame = (some: ReadonlyArray<string> = [], others: ReadonlyArray<string> = []): boolean => {
  const one = new Set(some.map((text) => text.toLowerCase()))
  const other = new Set(others.map((text) => text.toLowerCase()))
  return one.size === other.size && [...one].every((text) => other.has(text))
}

/** Dates travel in whole seconds. */
const secondOf = (date: DateTime.Utc | null | undefined): number | undefined =>
  date == null ? undefined : Math.floor(date.epochMilliseconds / 1000)

/** Whether a credential is what a change was to make of it. What the change left out may be anything. */
const isAsSent = (sent: Sent, found: Found): boolean =>
  (sent.accessLevels === undefined || areSame(sent.accessLevels, found.accessLevels)) &&
  (sent.ipRanges === undefined || areSame(sent.ipRanges, found.ipRanges)) &&
  (sent.expires === undefined || secondOf(sent.expires) === secondOf(found.expires))

/** A payload whose name is asked for before the contract has seen it. */
const isRecord = (payload: unknown): Effect.Effect<void, InvalidInput> =>
  Predicate.isObject(payload) ? Effect.void : Effect.fail(new InvalidInput({ field: "body", issue: "expected object" }))

/**
 * A rename whose answer was lost leaves nothing under the old name. What is under the new one is the result where it is what
 * was sent; otherwise nobody knows.
 */
const renamed = <A extends Found>(
  operation: OperationId,
  name: string,
  sent: Sent,
  get: Effect.Effect<A, CredentialNotFound | InvalidInput | ServiceError>
): Effect.Effect<A, CredentialNotFound | ServiceError> => {
  const { name: next } = sent
  if (name === next) return Effect.fail(new CredentialNotFound({ name }))
  // What is no text is refused before anything is sent.
  const recovery = `Load ${JSON.stringify(String(next))}: it may be the same credential under its new name.`
  const unknown = (detail: string) =>
    new ServiceError({ operation, reason: new OutcomeUnknown({ status: 404, detail, recovery }) })
  return get.pipe(
    Effect.mapError(({ message }) => unknown(`the old name is gone, and looking under the new one failed: ${message}`)),
    Effect.filterOrFail(
      (found) => isAsSent(sent, found),
      () => unknown("the old name is gone, and what is under the new one is not what was sent")
    )
  )
}

const make = Effect.gen(function* () {
  const shared = yield* RosterHttpApi
  const { api } = shared
  const call = makeCall(shared)
  const fn = methods(shared)

  const getApiKey: CredentialsService["Service"]["apiKeys"]["get"] = fn("CredentialsService.apiKeys.get")(function* (
    name,
    of = {}
  ) {
    yield* inPath("name", name)
    return yield* call({
      operation: "securityApikeysByNameGet",
      about: name,
      send: api.securityApikeysByNameGet({ params: { name }, query: { subaccount: of.subaccount } }),
      read: readApiKey,
      refusals: ["CredentialNotFound", "InvalidInput"],
      byStatus: notFound(name)
    })
  })

  const getSmtp: CredentialsService["Service"]["smtp"]["get"] = fn("CredentialsService.smtp.get")(function* (
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
      list: fn("CredentialsService.apiKeys.list")(function* (of = {}) {
        return yield* call({
          operation: "securityApikeysGet",
          send: api.securityApikeysGet({ query: { subaccount: of.subaccount } }),
          read: readApiKeys,
          refusals: ["InvalidInput"]
        })
      }),
      get: getApiKey,
      create: fn("CredentialsService.apiKeys.create")(function* (payload) {
        yield* isRecord(payload)
        return yield* call({
          operation: "securityApikeysPost",
          send: api.securityApikeysPost({ payload }),
          read: readNewApiKey,
          refusals: ["NameTaken", "TooManyCredentials", "InvalidInput"],
          about: payload.name,
          byStatus: taken(payload.name)
        })
      }),
      update: fn("CredentialsService.apiKeys.update")(function* (name, payload) {
        yield* inPath("name", name)
        yield* isRecord(payload)
        return yield* call({
          operation: "securityApikeysByNamePut",
          about: name,
          send: api.securityApikeysByNamePut({ params: { name }, payload }),
          read: readApiKey,
          refusals: ["CredentialNotFound", "NameTaken", "LastManagingKey", "InvalidInput"],
          goneAfterAmbiguous: renamed(
            "securityApikeysByNamePut",
            name,
            payload,
            getApiKey(payload.name, { subaccount: payload.subaccount })
          ),
          byStatus: { ...notFound(name), ...taken(payload.name) }
        })
      }),
      delete: fn("CredentialsService.apiKeys.delete")(function* (name, of = {}) {
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
      list: fn("CredentialsService.smtp.list")(function* (of = {}) {
        return yield* call({
          operation: "securitySmtpGet",
          send: api.securitySmtpGet({ query: { subaccount: of.subaccount } }),
          read: readSmtpList,
          refusals: ["InvalidInput"]
        })
      }),
      get: getSmtp,
      create: fn("CredentialsService.smtp.create")(function* (payload) {
        yield* isRecord(payload)
        return yield* call({
          operation: "securitySmtpPost",
          send: api.securitySmtpPost({ payload }),
          read: readNewSmtp,
          refusals: ["NameTaken", "TooManyCredentials", "InvalidInput"],
          about: payload.name,
          byStatus: taken(payload.name)
        })
      }),
      update: fn("CredentialsService.smtp.update")(function* (name, payload) {
        yield* inPath("name", name)
        yield* isRecord(payload)
        return yield* call({
          operation: "securitySmtpByNamePut",
          about: name,
          send: api.securitySmtpByNamePut({ params: { name }, payload }),
          read: readSmtp,
          refusals: ["CredentialNotFound", "NameTaken", "InvalidInput"],
          goneAfterAmbiguous: renamed(
            "securitySmtpByNamePut",
            name,
            payload,
            getSmtp(payload.name, { subaccount: payload.subaccount })
          ),
          byStatus: { ...notFound(name), ...taken(payload.name) }
        })
      }),
      delete: fn("CredentialsService.smtp.delete")(function* (name, of = {}) {
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

/** The service over a client that others share. */
export const layerShared: Layer.Layer<CredentialsService, never, RosterHttpApi> = Layer.effect(CredentialsService, make)

/** Credentials of the service that the options name. */
export const layer = (options: ClientOptions) =>
  Layer.fresh(layerShared).pipe(Layer.provide(RosterHttpApi.layer(options)))
