/** Access credentials over HTTP. */
import type { OperationId, Refusal } from "@roster/api"
import {
  ApiKey,
  CredentialNotFound,
  CredentialSettings,
  CredentialsService,
  InvalidInput,
  NameTaken,
  NewApiKey,
  NewSmtpCredentials,
  OutcomeUnknown,
  readApiKeyPayload,
  ServiceError,
  SmtpCredentials,
  type SmtpCredentialsPayload,
  type SubaccountScope
} from "@roster/domain"
import { Effect, Layer, Predicate, Schema } from "effect"
import { readJson, readNothing } from "../calls/ResponseDecoding.ts"
import { makeCall } from "../calls/Call.ts"
import type { ClientOptions } from "../calls/ClientOptions.ts"
import type { EndpointCalls } from "../calls/EndpointCalls.ts"
import { RosterHttpApi } from "../calls/RosterHttpApi.ts"
import { inPath } from "./UrlValue.ts"

const notFound = (name: string) => ({ 404: () => new CredentialNotFound({ name }) })
const taken = (name: string) => ({ 409: () => new NameTaken({ name }) })

const { isSameSetting, settingNames } = CredentialSettings

/** A change of either kind of credential. */
type Sent = CredentialSettings.SettingValues & { readonly name: string }

/** Whether a credential matches a change; omitted fields may have any value. */
const isAsSent = (sent: CredentialSettings.SettingValues, found: CredentialSettings.SettingValues): boolean =>
  settingNames.every((name) => sent[name] === undefined || isSameSetting(sent[name], found[name]))

/** Checks a payload whose name is read before the contract checks it. */
const isRecord = (payload: unknown): Effect.Effect<void, InvalidInput> =>
  Predicate.isObject(payload) ? Effect.void : Effect.fail(new InvalidInput({ field: "body", issue: "expected object" }))

/** The result of a rename whose answer was lost: the credential under the new name, if it matches the change. */
const renamed = <A extends CredentialSettings.SettingValues>(
  operation: OperationId,
  name: string,
  sent: Sent,
  get: Effect.Effect<A, CredentialNotFound | InvalidInput | ServiceError>
): Effect.Effect<A, CredentialNotFound | ServiceError> => {
  const { name: next } = sent
  if (name === next) return Effect.fail(new CredentialNotFound({ name }))
  // A name that is not a text was refused before.
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

type Request = ReturnType<EndpointCalls[keyof EndpointCalls]>
type Named<Rest> = Rest & { readonly params: { readonly name: string } }
type Scoped = { readonly query: SubaccountScope }

/** The differences between API keys and SMTP credentials. */
interface Kind<Credential, NewCredential, Payload, Protected, Given> {
  readonly name: "apiKeys" | "smtp"
  /** Makes the payload of what a caller gives. */
  readonly read: (given: Given) => Effect.Effect<Payload, InvalidInput>
  readonly list: (request: Scoped) => Request
  readonly get: (request: Named<Scoped>) => Request
  readonly create: (request: { readonly payload: Payload }) => Request
  readonly update: (request: Named<{ readonly payload: Payload }>) => Request
  readonly delete: (request: Named<Scoped>) => Request
  readonly credential: Schema.Decoder<Credential>
  readonly newCredential: Schema.Decoder<NewCredential>
  /** The refusals for a credential that cannot be spared. */
  readonly protectedBy: ReadonlyArray<Protected>
}

/** Makes the service on a shared client. */
export const make = Effect.gen(function* () {
  const shared = yield* RosterHttpApi
  const { api } = shared
  const call = makeCall(shared)

  /** The five methods of one kind of credential. */
  const methodsOf = <
    Credential extends CredentialSettings.SettingValues,
    NewCredential,
    Payload extends Sent & SubaccountScope,
    Protected extends Refusal["_tag"],
    Given
  >(
    kind: Kind<Credential, NewCredential, Payload, Protected, Given>
  ) => {
    const { protectedBy } = kind
    const read = readJson(kind.credential)
    const readList = readJson(Schema.Array(kind.credential))
    const readNew = readJson(kind.newCredential)
    const fn = (name: string) => shared.fn(`CredentialsService.${kind.name}.${name}`)
    const get = fn("get")(function* (name: string, { subaccount }: SubaccountScope = {}) {
      yield* inPath("name", name)
      return yield* call({
        ...kind.get({ params: { name }, query: { subaccount } }),
        about: name,
        read,
        refusals: ["CredentialNotFound", "InvalidInput"],
        byStatus: notFound(name)
      })
    })
    return {
      list: fn("list")(function* ({ subaccount }: SubaccountScope = {}) {
        return yield* call({
          ...kind.list({ query: { subaccount } }),
          read: readList,
          refusals: ["InvalidInput"]
        })
      }),
      get,
      create: fn("create")(function* (given: Given) {
        yield* isRecord(given)
        const payload = yield* kind.read(given)
        return yield* call({
          ...kind.create({ payload }),
          about: payload.name,
          read: readNew,
          refusals: ["NameTaken", "TooManyCredentials", "InvalidInput"],
          byStatus: taken(payload.name)
        })
      }),
      update: fn("update")(function* (name: string, given: Given) {
        yield* inPath("name", name)
        yield* isRecord(given)
        const payload = yield* kind.read(given)
        const { subaccount } = payload
        const byStatus: Record<number, () => CredentialNotFound | NameTaken> = {
          ...notFound(name),
          ...taken(payload.name)
        }
        const request = kind.update({ params: { name }, payload })
        return yield* call({
          ...request,
          about: name,
          read,
          refusals: ["CredentialNotFound", "NameTaken", "InvalidInput", ...protectedBy],
          goneAfterAmbiguous: renamed(request.operation, name, payload, get(payload.name, { subaccount })),
          byStatus
        })
      }),
      delete: fn("delete")(function* (name: string, { subaccount }: SubaccountScope = {}) {
        yield* inPath("name", name)
        return yield* call({
          ...kind.delete({ params: { name }, query: { subaccount } }),
          about: name,
          read: readNothing,
          refusals: ["CredentialNotFound", "InvalidInput", ...protectedBy],
          goneAfterAmbiguous: Effect.void,
          byStatus: notFound(name)
        })
      })
    }
  }

  return CredentialsService.of({
    apiKeys: methodsOf({
      name: "apiKeys",
      read: readApiKeyPayload,
      list: api.securityApikeysGet,
      get: api.securityApikeysByNameGet,
      create: api.securityApikeysPost,
      update: api.securityApikeysByNamePut,
      delete: api.securityApikeysByNameDelete,
      credential: ApiKey,
      newCredential: NewApiKey,
      protectedBy: ["LastManagingKey"]
    }),
    smtp: methodsOf({
      name: "smtp",
      read: (given: SmtpCredentialsPayload) => Effect.succeed(given),
      list: api.securitySmtpGet,
      get: api.securitySmtpByNameGet,
      create: api.securitySmtpPost,
      update: api.securitySmtpByNamePut,
      delete: api.securitySmtpByNameDelete,
      credential: SmtpCredentials,
      newCredential: NewSmtpCredentials,
      protectedBy: []
    })
  })
})

/** The service on a new client. */
export const layer = (options: ClientOptions) =>
  Layer.effect(CredentialsService, make).pipe(Layer.provide(RosterHttpApi.layer(options)))
