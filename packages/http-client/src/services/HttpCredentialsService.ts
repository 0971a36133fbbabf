/** Access credentials over HTTP. */
import { type OperationId, type Refusal, resubscribeHonoured } from "@roster/api"
import {
  ApiKey,
  ApiKeyPayload,
  CredentialNotFound,
  CredentialsService,
  InvalidInput,
  type KeyedCall,
  NameTaken,
  NewApiKey,
  NewSmtpCredentials,
  OutcomeUnknown,
  ServiceError,
  SmtpCredentials,
  SmtpCredentialsPayload,
  SmtpUpdatePayload,
  type SubaccountScope,
  checkedMethods
} from "@roster/domain"
import {
  checkIdempotencyKey,
  CredentialSettings,
  readApiKeyChanges,
  readApiKeyPayload,
  readSmtpChanges,
  readSmtpPayload,
  validated
} from "@roster/domain/internal"
import { DateTime, Effect, Layer, Option, Predicate, Schema } from "effect"
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
type Sent = CredentialSettings.SettingValues & { readonly name?: string | undefined } & SubaccountScope

/** Whether a credential matches a change; omitted fields may have any value. */
const isAsSent = (sent: CredentialSettings.SettingValues, stored: CredentialSettings.SettingValues): boolean =>
  settingNames.every((name) => sent[name] === undefined || isSameSetting(sent[name], stored[name]))

/** The fields that are given. */
const defined = (changes: object) =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))

const validatedChanges = validated(SmtpUpdatePayload)

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
  const { name: next = name } = sent
  if (name === next) return Effect.fail(new CredentialNotFound({ name }))
  // A name that is not a text was refused before.
  const recovery = `Load ${JSON.stringify(String(next))}: it may be the same credential under its new name.`
  const unknown = (detail: string) =>
    new ServiceError({ operation, reason: new OutcomeUnknown({ status: 404, detail, recovery }) })
  return get.pipe(
    Effect.mapError(({ message }) => unknown(`the old name is gone, and looking under the new one failed: ${message}`)),
    Effect.filterOrFail(
      (stored) => isAsSent(sent, stored),
      () => unknown("the old name is gone, and what is under the new one is not what was sent")
    )
  )
}

type Request = ReturnType<EndpointCalls[keyof EndpointCalls]>
type Named<Rest> = Rest & { readonly params: { readonly name: string } }
type Scoped = { readonly query: SubaccountScope }

/** The differences between API keys and SMTP credentials. */
interface Kind<Credential, NewCredential, Payload, Protected, Given, Changes, GivenChanges> {
  readonly name: "apiKeys" | "smtp"
  /** Makes the payload of what a caller gives. */
  readonly read: (given: Given) => Effect.Effect<Payload, InvalidInput>
  readonly readChanges: (given: GivenChanges) => Effect.Effect<Changes, InvalidInput>
  /** The payload of a credential that was read, for a service that takes it only whole. */
  readonly whole: (read: Credential) => Effect.Effect<Payload, InvalidInput>
  readonly list: (request: Scoped) => Request
  readonly get: (request: Named<Scoped>) => Request
  readonly create: (request: { readonly payload: Payload }) => Request
  readonly update: (request: Named<{ readonly payload: Changes | Payload }>) => Request
  readonly delete: (request: Named<Scoped>) => Request
  readonly credential: Schema.Decoder<Credential>
  readonly newCredential: Schema.Decoder<NewCredential>
  /** The refusals for a credential that cannot be spared. */
  readonly protectedBy: ReadonlyArray<Protected>
}

/**
 * Makes the service on a shared client.
 * @internal
 */
export const make = Effect.gen(function* () {
  const shared = yield* RosterHttpApi
  const { api, said } = shared
  const isResubscribeHonoured = said(resubscribeHonoured)
  const call = makeCall(shared)

  /** The five methods of one kind of credential. */
  const methodsOf = <
    Credential extends CredentialSettings.SettingValues,
    NewCredential,
    Payload extends Sent & { readonly name: string },
    Protected extends Refusal["_tag"],
    Given,
    Changes extends Sent,
    GivenChanges
  >(
    kind: Kind<Credential, NewCredential, Payload, Protected, Given, Changes, GivenChanges>
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
      create: fn("create")(function* (given: Given, { idempotencyKey }: KeyedCall = {}) {
        yield* isRecord(given)
        yield* checkIdempotencyKey(idempotencyKey)
        const payload = yield* kind.read(given)
        return yield* call({
          ...kind.create({ payload }),
          about: payload.name,
          idempotencyKey,
          read: readNew,
          refusals: ["NameTaken", "TooManyCredentials", "IdempotencyKeyInUse", "IdempotencyKeyReused", "InvalidInput"],
          byStatus: taken(payload.name)
        })
      }),
      update: fn("update")(function* (name: string, given: GivenChanges) {
        yield* inPath("name", name)
        yield* isRecord(given)
        const changes = yield* kind.readChanges(given)
        const { name: next = name, subaccount } = changes
        const isWhole = changes.name !== undefined && (kind.name === "smtp" || changes.accessLevels !== undefined)
        // A service of ours keeps the settings that a change leaves out, and says so on every answer.
        const found =
          isWhole || isResubscribeHonoured.current
            ? undefined
            : yield* get(name, { subaccount }).pipe(
                // The key may be one that writes and does not read.
                Effect.catch((error) => (isResubscribeHonoured.current ? Effect.undefined : Effect.fail(error)))
              )
        const payload =
          found === undefined || isResubscribeHonoured.current
            ? changes
            : { ...(yield* kind.whole({ ...found, ...defined(changes) })), subaccount }
        const byStatus: Record<number, () => CredentialNotFound | NameTaken> = { ...notFound(name), ...taken(next) }
        const request = kind.update({ params: { name }, payload })
        return yield* call({
          ...request,
          about: name,
          read,
          refusals: ["CredentialNotFound", "NameTaken", "TooManyCredentials", "InvalidInput", ...protectedBy],
          goneAfterAmbiguous: renamed(request.operation, name, payload, get(next, { subaccount })),
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

  return checkedMethods(CredentialsService, {
    apiKeys: methodsOf({
      name: "apiKeys",
      read: readApiKeyPayload,
      readChanges: readApiKeyChanges,
      whole: ApiKeyPayload.fromApiKey,
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
      read: readSmtpPayload,
      readChanges: (given: SmtpUpdatePayload) => Effect.flatMap(readSmtpChanges(given), validatedChanges),
      whole: SmtpCredentialsPayload.fromSmtpCredentials,
      list: api.securitySmtpGet,
      get: api.securitySmtpByNameGet,
      create: api.securitySmtpPost,
      update: api.securitySmtpByNamePut,
      delete: api.securitySmtpByNameDelete,
      credential: SmtpCredentials,
      newCredential: NewSmtpCredentials,
      protectedBy: []
    }),
    serviceTime: Effect.sync(() => Option.getOrUndefined(DateTime.make(shared.lastDate.current ?? "")))
  })
})

/**
 * The service on a new client.
 *
 * ```ts
 * import { CredentialsService } from "@roster/domain"
 * import { HttpCredentialsService } from "@roster/http-client"
 * import { Effect, Redacted } from "effect"
 *
 * const baseUrl = "https://roster.example.com/v4"
 * const credentials = HttpCredentialsService.layer({ baseUrl, apiKey: Redacted.make("key") })
 *
 * export const example = CredentialsService.use(({ apiKeys }) => apiKeys.list()).pipe(Effect.provide(credentials))
 * ```
 */
export const layer = (options: ClientOptions) =>
  Layer.effect(CredentialsService, make).pipe(Layer.provide(RosterHttpApi.layer(options)))
