/** The tag of the operations on API keys and SMTP credentials, which share one interface. */
import type { DateTime, Effect } from "effect"
import type { ApiKey, ApiKeyForPurposes, ApiKeyPayload, ApiKeyUpdatePayload, NewApiKey } from "../credentials/ApiKey.ts"
import type { CredentialNotFound, LastManagingKey, NameTaken, TooManyCredentials } from "../credentials/Credential.ts"
import { CheckedService, keyedFields } from "./CheckedService.ts"
import type { IdempotencyKeyInUse, IdempotencyKeyReused, KeyedCall } from "./KeyedCall.ts"
import type { InvalidInput } from "../errors/InvalidInput.ts"
import { fieldsOf } from "../values/UnknownNames.ts"
import type { ServiceError } from "../errors/ServiceError.ts"
import type {
  NewSmtpCredentials,
  SmtpCredentials,
  SmtpInput,
  SmtpUpdatePayload
} from "../credentials/SmtpCredentials.ts"

/** The subaccount whose credentials are meant (default: the account itself). */
export interface SubaccountScope {
  /** The e-mail address of the subaccount. */
  readonly subaccount?: string | undefined
}

/** The operations on one kind of credential. Reading needs the access level Security, the rest ModifyAccessTokens. */
export interface CredentialOperations<Credential, NewCredential, Payload, Protected = never, Changes = Payload> {
  /** Lists all credentials of an account, without their secrets. */
  readonly list: (of?: SubaccountScope) => Effect.Effect<ReadonlyArray<Credential>, InvalidInput | ServiceError>
  /** Gets a credential by its name, without its secret. */
  readonly get: (
    name: string,
    of?: SubaccountScope
  ) => Effect.Effect<Credential, CredentialNotFound | InvalidInput | ServiceError>
  /**
   * Creates a credential. Only this answer contains its secret. Made again with the same idempotency key within an hour, it
   * gives the credential a new secret, unless that has been used. (docs/credentials.md)
   */
  readonly create: (
    payload: Payload,
    options?: KeyedCall
  ) => Effect.Effect<
    NewCredential,
    NameTaken | TooManyCredentials | IdempotencyKeyInUse | IdempotencyKeyReused | InvalidInput | ServiceError
  >
  /**
   * Changes the given fields only; another name renames it. A later end brings back one that has ended, if there is room.
   * (docs/credentials.md)
   */
  readonly update: (
    name: string,
    changes: Changes
  ) => Effect.Effect<
    Credential,
    CredentialNotFound | NameTaken | TooManyCredentials | Protected | InvalidInput | ServiceError
  >
  /** Deletes a credential. From then on the service refuses it. */
  readonly delete: (
    name: string,
    of?: SubaccountScope
  ) => Effect.Effect<void, CredentialNotFound | Protected | InvalidInput | ServiceError>
}

const scope = fieldsOf<SubaccountScope>("a scope", { subaccount: true })

const inputs = {
  list: [scope],
  get: [null, scope],
  create: ["Own", keyedFields],
  update: [null, "Own"],
  delete: [null, scope]
} as const

/** The operations on API keys and SMTP credentials. */
export class CredentialsService extends CheckedService<
  CredentialsService,
  {
    /** A key is created from a payload, or for purposes: `create({ name: "reporting", for: ["contacts:read"] })`. */
    readonly apiKeys: CredentialOperations<
      ApiKey,
      NewApiKey,
      ApiKeyPayload | ApiKeyForPurposes,
      LastManagingKey,
      ApiKeyUpdatePayload
    >
    readonly smtp: CredentialOperations<SmtpCredentials, NewSmtpCredentials, SmtpInput, never, SmtpUpdatePayload>
    /** The time by the service's clock; over HTTP that of its last answer, `undefined` where the answer did not tell it. */
    readonly serviceTime?: Effect.Effect<DateTime.Utc | undefined, ServiceError> | undefined
  }
>()("@roster/domain/CredentialsService", { apiKeys: inputs, smtp: inputs }) {}
