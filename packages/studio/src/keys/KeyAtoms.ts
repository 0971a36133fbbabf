/**
 * The keys and SMTP credentials of an account: their list with the findings of the audit, and what is done with them by the
 * programs of the library. A new secret stands in an atom of its own until the person says that it is kept.
 */
import {
  type AccessLevel,
  type ApiKey,
  ApiKeyPayload,
  CredentialsService,
  EmailAddress,
  IpRange,
  purposes,
  type SmtpCredentials
} from "@roster/domain"
import { accessOf } from "@roster/domain/internal"
import { FetchTransport, RosterClient } from "@roster/http-client"
import {
  auditApiKeys,
  createWithRetry,
  type KeyFinding,
  rotateApiKey,
  rotateSmtp,
  type RosterCommand
} from "@roster/workflows"
import { Data, DateTime, Deferred, Effect, type Redacted } from "effect"
import { Atom } from "effect/reactivity"
import { askWhile } from "../session/Unsaved.tsx"
import { keysChanged } from "../session/Changes.ts"
import { runtime, session } from "../session/Session.ts"
import { keyTexts } from "../texts/KeyTexts.ts"

/** Which of the two kinds of credentials. */
export type Kind = "apikeys" | "smtp"

/** The subaccount whose credentials are shown; empty for the account itself. */
export const subaccount = Atom.keepAlive(Atom.make(""))

/** Whose credentials are meant. */
const scopeOf = (email: string) => ({ subaccount: email === "" ? undefined : email })

/** A credential of either kind as the page shows it. */
export interface ListedKey {
  readonly kind: Kind
  readonly key: ApiKey | SmtpCredentials
  /** What it may do; absent of SMTP credentials. */
  readonly levels: ApiKey["accessLevels"] | undefined
  readonly findings: ReadonlyArray<KeyFinding>
  /** Whether no other key could manage keys without this one. */
  readonly isLastManaging: boolean
}

const isLasting = ({ expires }: ApiKey, now: DateTime.Utc): boolean =>
  expires == null || DateTime.isGreaterThan(expires, now)

/** The API keys as they are shown, with what the audit says of each. */
export const listedKeys = (keys: ReadonlyArray<ApiKey>, now: DateTime.Utc): ReadonlyArray<ListedKey> => {
  const findings = auditApiKeys(keys, { now })
  const managing = keys.filter((key) => key.accessLevels.includes("ModifyAccessTokens") && isLasting(key, now))
  return keys.map((key) => ({
    kind: "apikeys",
    key,
    levels: key.accessLevels,
    findings: findings.filter(({ name }) => name === key.name),
    isLastManaging: managing.length === 1 && managing[0] === key
  }))
}

/** The API keys. */
export const keys = Atom.withReactivity(keysChanged)(
  runtime.atom((get) => {
    const of = scopeOf(get(subaccount))
    return Effect.gen(function* () {
      const { apiKeys } = yield* CredentialsService
      return listedKeys(yield* apiKeys.list(of), yield* DateTime.now)
    })
  })
)

/** The SMTP credentials. */
export const smtp = Atom.withReactivity(keysChanged)(
  runtime.atom((get) => {
    const of = scopeOf(get(subaccount))
    return Effect.gen(function* () {
      const credentials = yield* (yield* CredentialsService).smtp.list(of)
      return credentials.map((key): ListedKey => ({
        kind: "smtp",
        key,
        levels: undefined,
        findings: [],
        isLastManaging: false
      }))
    })
  })
)

/** The levels that a purpose needs, each with its purposes, as a person chooses them. */
export const choices: ReadonlyArray<{ readonly level: AccessLevel; readonly purposes: ReadonlyArray<string> }> = [
  ...Map.groupBy(purposes, accessOf)
].map(([level, those]) => ({ level, purposes: those }))

/** The settings of a key as they stand in the form. */
export interface KeySettings {
  readonly name: string
  readonly levels: ReadonlyArray<AccessLevel>
  /** In how many days it ends, or never. */
  readonly days: number | undefined
  /** The addresses and ranges from which it may be used, one a line; empty for any. */
  readonly addresses: string
}

/** The addresses of the form, one each. */
export const addressesOf = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((one) => one !== "")

/** The command that makes the same credential. */
export const createCommand = (
  kind: Kind,
  { addresses, days, levels, name }: KeySettings,
  email: string
): RosterCommand => ({
  program: `${kind} create`,
  given: [name],
  values: {
    access: kind === "smtp" || levels.length === 0 ? undefined : levels.join(","),
    expires: days === undefined ? undefined : `${days}d`,
    ipRange: addressesOf(addresses),
    subaccount: email || undefined
  }
})

/** A secret that is shown, until it is kept or thrown away. */
export interface ShownSecret {
  readonly kind: Kind
  readonly name: string
  readonly secret: Redacted.Redacted<string>
  /** Says whether the person has kept it; absent where that changes nothing. */
  readonly onKept?: ((isKept: boolean) => void) | undefined
}

/** The secret that is shown. */
export const shownSecret = Atom.keepAlive(Atom.make<ShownSecret | undefined>(undefined))

/** The limits of a new credential. */
const limitsOf = Effect.fnUntraced(function* ({ addresses, days }: KeySettings, email: string) {
  const ranges = yield* Effect.forEach(addressesOf(addresses), (one) => IpRange.fromText(one))
  return {
    ...(ranges.length === 0 ? {} : { ipRanges: ranges }),
    ...(days === undefined ? {} : { expires: DateTime.add(yield* DateTime.now, { days }) }),
    ...(email === "" ? {} : { subaccount: yield* EmailAddress.fromText(email) })
  }
})

/** Makes a credential, and shows its secret. It goes on while one looks at other views, since the secret comes once. */
export const create = Atom.keepAlive(
  runtime.fn(
    ({ kind, settings }: { readonly kind: Kind; readonly settings: KeySettings }, get) =>
      Effect.gen(function* () {
        const service = yield* CredentialsService
        const limits = yield* limitsOf(settings, get(subaccount))
        const name = settings.name.trim()
        const credential =
          kind === "apikeys"
            ? yield* createWithRetry(
                service.apiKeys,
                yield* ApiKeyPayload.fromInput({ name, accessLevels: settings.levels, ...limits })
              )
            : yield* createWithRetry(service.smtp, { name: yield* EmailAddress.fromText(name), ...limits })
        get.set(shownSecret, { kind, name: credential.name, secret: credential.token })
        return credential.name
      }),
    { reactivityKeys: keysChanged }
  )
)

/** What is edited in the form of a credential. */
export interface KeyEdited {
  readonly name: string
  readonly levels: ReadonlyArray<AccessLevel>
  /** In how many days it ends; "keep" leaves it as it is. */
  readonly ends: "keep" | "30" | "90" | "365" | "never"
  /** Addresses and ranges, one a line. */
  readonly addresses: string
}

/** What is edited and not saved: it outlives a look at another view. */
export const draft = Atom.keepAlive(Atom.make<KeyEdited | undefined>(undefined))

/** What is open over the list. */
export type Open =
  | { readonly _tag: "Create"; readonly kind: Kind; readonly levels: ReadonlyArray<AccessLevel> }
  | { readonly _tag: "Change" | "Delete" | "Leaked"; readonly listed: ListedKey }

const nowOpen = Atom.keepAlive(Atom.make<Open | undefined>(undefined))

/** What is open; what a form before it did or left is none of it. */
export const open = Atom.writable(
  (get) => get(nowOpen),
  (context, next: Open | undefined) => {
    context.set(draft, undefined)
    if (next !== undefined) {
      context.set(create, Atom.Reset)
      context.set(change, Atom.Reset)
    }
    context.set(nowOpen, next)
  }
)

/** What is changed of a credential: only what is given. */
export interface KeyChange {
  readonly kind: Kind
  readonly name: string
  readonly levels?: ReadonlyArray<AccessLevel> | undefined
  /** In how many days it ends; `null` for never. */
  readonly days?: number | null | undefined
  readonly addresses?: string | undefined
}

/** Changes a credential. */
export const change = runtime.fn(
  ({ addresses, days, kind, levels, name }: KeyChange, get) =>
    Effect.gen(function* () {
      const service = yield* CredentialsService
      const now = yield* DateTime.now
      const email = get(subaccount)
      const ranges = yield* Effect.forEach(addressesOf(addresses ?? ""), (one) => IpRange.fromText(one))
      const changes = {
        ...(addresses === undefined ? {} : { ipRanges: ranges }),
        ...(days === undefined ? {} : { expires: days === null ? null : DateTime.add(now, { days }) }),
        ...(email === "" ? {} : { subaccount: yield* EmailAddress.fromText(email) })
      }
      return kind === "apikeys"
        ? yield* service.apiKeys.update(name, { ...changes, ...(levels === undefined ? {} : { accessLevels: levels }) })
        : yield* service.smtp.update(name, changes)
    }),
  { reactivityKeys: keysChanged }
)

/** Deletes a credential, which stops working at once. */
export const remove = runtime.fn(
  ({ kind, name }: { readonly kind: Kind; readonly name: string }, get) =>
    Effect.gen(function* () {
      const service = yield* CredentialsService
      const of = scopeOf(get(subaccount))
      yield* kind === "apikeys" ? service.apiKeys.delete(name, of) : service.smtp.delete(name, of)
      return name
    }),
  { reactivityKeys: keysChanged }
)

/** The person did not keep the secret, so the rotation changes nothing. */
export class SecretNotKept extends Data.TaggedError("SecretNotKept")<{ readonly name: string }> {
  override get message(): string {
    return keyTexts.notKept(this.name)
  }
}

/** The credential that was rotated last. */
export const rotating = Atom.keepAlive(Atom.make<{ readonly kind: Kind; readonly name: string } | undefined>(undefined))

/** How long the old secret works after a rotation, as it was chosen. */
export const grace = Atom.keepAlive(Atom.make<keyof typeof keyTexts.graces>("1 day"))

/** Gives a credential a new secret, which the person says to have kept before it replaces the old one. */
export const rotate = Atom.keepAlive(
  runtime.fn(
    ({ kind, name }: { readonly kind: Kind; readonly name: string }, get) => {
      const { subaccount: email } = scopeOf(get(subaccount))
      const signedIn = get(session)
      get.set(rotating, { kind, name })
      const options = {
        subaccount: email,
        grace: get(grace),
        // The key may be that of the page itself.
        withNewKey: (secret: Redacted.Redacted<string>) =>
          signedIn === undefined || signedIn.host !== undefined
            ? Effect.undefined
            : RosterClient.make({ baseUrl: signedIn.baseUrl, apiKey: secret }).pipe(
                Effect.provide(FetchTransport.layer()),
                Effect.orElseSucceed(() => undefined)
              ),
        deliver: Effect.fnUntraced(function* (credential: {
          readonly name: string
          readonly token: Redacted.Redacted<string>
        }) {
          const kept = yield* Deferred.make<boolean>()
          get.set(shownSecret, {
            kind,
            name: credential.name,
            secret: credential.token,
            onKept: (isKept) => Deferred.doneUnsafe(kept, Effect.succeed(isKept))
          })
          if (!(yield* Deferred.await(kept))) return yield* new SecretNotKept({ name })
        })
      }
      return kind === "apikeys" ? rotateApiKey(name, options) : rotateSmtp(name, options)
    },
    { reactivityKeys: keysChanged }
  )
)

// A tab that is closed now loses the secret.
askWhile(
  (registry) =>
    registry.get(shownSecret) !== undefined ||
    registry.get(draft) !== undefined ||
    registry.get(create).waiting ||
    registry.get(rotate).waiting
)
