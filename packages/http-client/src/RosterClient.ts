/** All services of one address and key, on the `HttpClient` that the application provides. */
import {
  AccountService,
  ContactsService,
  CredentialsService,
  EmailsService,
  ListsService,
  RunsService
} from "@roster/domain"
import { type Config, Context, Effect, Function, Layer } from "effect"
import type { HttpClient } from "effect/http"
import { type ClientConfig, clientConfig, type ClientOptions, readOptions } from "./calls/ClientOptions.ts"
import { ClientTransform, RosterHttpApi } from "./calls/RosterHttpApi.ts"
import type { InvalidSettings } from "./transport/InvalidSettings.ts"
import * as HttpAccountService from "./services/HttpAccountService.ts"
import * as HttpContactsService from "./services/HttpContactsService.ts"
import * as HttpCredentialsService from "./services/HttpCredentialsService.ts"
import * as HttpEmailsService from "./services/HttpEmailsService.ts"
import * as HttpListsService from "./services/HttpListsService.ts"
import * as HttpRunsService from "./services/HttpRunsService.ts"

/** All services. */
export type Services =
  | AccountService
  | ContactsService
  | CredentialsService
  | EmailsService
  | RunsService
  | ListsService

/** The services of one client. */
export interface RosterClient {
  /** The operations on contacts. */
  readonly contacts: ContactsService["Service"]
  /** The operations on API keys and SMTP credentials. */
  readonly credentials: CredentialsService["Service"]
  /** The operation that sends a message. */
  readonly emails: EmailsService["Service"]
  /** The operations on what the account has besides. */
  readonly account: AccountService["Service"]
  /** The operations on runs. */
  readonly runs: RunsService["Service"]
  /** The operations on lists. */
  readonly lists: ListsService["Service"]
}

/**
 * Makes the services of one client as values, for an application with several accounts.
 *
 * ```ts
 * import { RosterClient } from "@roster/http-client"
 * import { Effect, Redacted } from "effect"
 *
 * const baseUrl = "https://roster.example.com/v4"
 *
 * export const example = Effect.gen(function* () {
 *   const { contacts } = yield* RosterClient.make({ baseUrl, apiKey: Redacted.make("key") })
 *   return yield* contacts.list({ limit: 10 })
 * })
 * ```
 */
export const make = (options: ClientOptions): Effect.Effect<RosterClient, InvalidSettings, HttpClient.HttpClient> =>
  Effect.flatMap(RosterHttpApi.make(options), (shared) =>
    Effect.provideService(
      Effect.all({
        account: HttpAccountService.make,
        contacts: HttpContactsService.make,
        credentials: HttpCredentialsService.make,
        emails: HttpEmailsService.make,
        runs: HttpRunsService.make,
        lists: HttpListsService.make
      }),
      RosterHttpApi,
      shared
    )
  )

const contextOf = ({ account, contacts, credentials, emails, lists, runs }: RosterClient) =>
  Context.make(ContactsService, contacts).pipe(
    Context.add(CredentialsService, credentials),
    Context.add(EmailsService, emails),
    Context.add(RunsService, runs),
    Context.add(ListsService, lists),
    Context.add(AccountService, account)
  )

/**
 * All services on one client. Each call makes a new client, so that an application can have several.
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { RosterClient } from "@roster/http-client"
 * import { Effect, Redacted } from "effect"
 *
 * const baseUrl = "https://roster.example.com/v4"
 * const services = RosterClient.layer({ baseUrl, apiKey: Redacted.make("key") })
 *
 * export const example = ContactsService.use((contacts) => contacts.list()).pipe(Effect.provide(services))
 * ```
 */
export const layer = (options: ClientOptions): Layer.Layer<Services, InvalidSettings, HttpClient.HttpClient> =>
  Layer.effectContext(Effect.map(make(options), contextOf))

/**
 * All services on one client, with a `Config` for each option (default: `clientConfig`, the variables `ROSTER_BASE_URL`
 * and so on). Its errors name the variable that was set, or the one that is missing.
 */
export const layerConfig = (
  wrapped: ClientConfig = clientConfig
): Layer.Layer<Services, InvalidSettings | Config.ConfigError, HttpClient.HttpClient> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { options, variables } = yield* readOptions(wrapped)
      const client = yield* Effect.mapError(make(options), (error) => error.readFrom(variables.get(error.setting)))
      return contextOf(client)
    })
  )

/**
 * Changes the `HttpClient` for the calls of one effect: to add a header, to look at the answers, to count. It sees each
 * attempt, with the request before the key is added. Services that are not on HTTP ignore it.
 */
export const withClientTransform: {
  (
    transform: (client: HttpClient.HttpClient) => HttpClient.HttpClient
  ): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    transform: (client: HttpClient.HttpClient) => HttpClient.HttpClient
  ): Effect.Effect<A, E, R>
} = Function.dual(
  2,
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    transform: (client: HttpClient.HttpClient) => HttpClient.HttpClient
  ): Effect.Effect<A, E, R> => Effect.provideService(self, ClientTransform, transform)
)
