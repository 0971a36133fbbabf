/** The services over HTTP: the client with its settings, retries and transports. */
export * as FetchTransport from "./transport/FetchTransport.ts"
export {
  checkOptions,
  clientConfig,
  type ClientConfig,
  type ClientConfigs,
  type ClientOptions
} from "./calls/ClientOptions.ts"
export { checkSettings, InvalidSettings } from "./transport/InvalidSettings.ts"
export * as HttpAccountService from "./services/HttpAccountService.ts"
export * as HttpContactsService from "./services/HttpContactsService.ts"
export * as HttpCredentialsService from "./services/HttpCredentialsService.ts"
export * as HttpEmailsService from "./services/HttpEmailsService.ts"
export * as HttpListsService from "./services/HttpListsService.ts"
export * as HttpRunsService from "./services/HttpRunsService.ts"
export {
  defaultRetrySettings,
  type PartialRetrySettings,
  RetryPolicy,
  type RetrySettings
} from "./calls/RetryPolicy.ts"
export * from "./calls/RetryTable.ts"
export * as RosterClient from "./RosterClient.ts"
