/** The two kinds of credential, as far as tests of both have to tell them apart. */
import {
  ApiKeyPayload,
  type CredentialOperations,
  CredentialsService,
  type InvalidInput,
  type LastManagingKey,
  SmtpCredentialsPayload
} from "@roster/domain"
import { DateTime, Effect, type Redacted } from "effect"
import { place } from "../cases/Place.ts"

export interface Credential {
  readonly name: string
  readonly dateCreated?: DateTime.Utc
  readonly lastUse?: DateTime.Utc | null
  readonly expires?: DateTime.Utc | null
  readonly ipRanges?: ReadonlyArray<string>
}

export interface Fields {
  readonly expires?: DateTime.Utc | null | undefined
  readonly ipRanges?: ReadonlyArray<string> | undefined
  readonly subaccount?: string | undefined
}

export interface NamedFields extends Fields {
  readonly name: string
}

/** One kind of credential, with valid names and a payload of the fields that both kinds share. */
export interface Kind<Payload extends NamedFields> {
  readonly of: (
    service: CredentialsService["Service"]
  ) => CredentialOperations<
    Credential,
    Credential & { readonly token: Redacted.Redacted<string> },
    Payload,
    LastManagingKey,
    Fields & { readonly name?: string | undefined }
  >
  /** The payload of one that was read. */
  readonly written: (read: Credential) => Effect.Effect<Payload, InvalidInput>
  readonly names: (domain: string) => (local: string) => string
  readonly payload: (name: string, fields?: Fields) => Payload
}

export const apiKeys: Kind<ApiKeyPayload> = {
  // What was read has levels of its own.
  written: (read) => ApiKeyPayload.fromApiKey({ accessLevels: [], ...read }),
  of: (service) => service.apiKeys,
  names: (domain) => (local) => `${local} ${domain}`,
  payload: (name, fields = {}) => ({
    name,
    accessLevels: ["ViewContacts"],
    ...fields
  })
}

export const smtp: Kind<SmtpCredentialsPayload> = {
  written: SmtpCredentialsPayload.fromSmtpCredentials,
  of: (service) => service.smtp,
  names: (domain) => (local) => `${local}@${domain}`,
  payload: (name, fields = {}) => ({ name, ...fields })
}

/** The service, and a subaccount and names that no other test uses. */
export const arrange = <Payload extends NamedFields>(kind: Kind<Payload>) =>
  Effect.map(CredentialsService, (service) => {
    const { domain, email } = place()
    return {
      credentials: kind.of(service),
      subaccount: email("owner"),
      other: email("other"),
      name: kind.names(domain)
    }
  })

export const names = (credentials: ReadonlyArray<Credential>) => credentials.map((credential) => credential.name).sort()
export const millis = (date: DateTime.Utc | null | undefined) => (date == null ? null : DateTime.toEpochMillis(date))
export const ranges = ["192.0.2.0/24", "2001:db8::1"]
export const soon = DateTime.makeUnsafe("2099-01-02T03:04:05Z")
