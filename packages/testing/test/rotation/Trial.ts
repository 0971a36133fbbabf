/** Rotations in an account of their own, on a clock that the test moves. */
import { assert } from "@effect/vitest"
import {
  CredentialName,
  CredentialsService,
  EmailAddress,
  IpRange,
  type NewApiKey,
  type NewSmtpCredentials
} from "@roster/domain"
import { rotateApiKey, rotateSmtp, type RotationOptions } from "@roster/workflows"
import { DateTime, Effect, Exit, Redacted } from "effect"
import { heldSecrets } from "./HeldSecrets.ts"

let accounts = 0

export const limits = {
  expires: DateTime.makeUnsafe("2090-12-31T00:00:00Z"),
  ipRanges: [IpRange.make("192.0.2.0/24"), IpRange.make("2001:db8::/32")]
}

export const makeTrial = Effect.gen(function* () {
  const store = yield* CredentialsService
  const subaccount = EmailAddress.make(`a${++accounts}@rotation.example`)
  const secrets = heldSecrets(store)
  const delivered: Array<{ readonly name: string; readonly secret: string }> = []
  const deliver = (made: { readonly name: string; readonly token: Redacted.Redacted<string> }) =>
    secrets.around(
      "deliver",
      Effect.sync(() => {
        secrets.hold(made.token)
        delivered.push({ name: made.name, secret: Redacted.value(made.token) })
      })
    )
  const verify = () => secrets.around("verify", Effect.void)
  const options = { subaccount, deliver, verify } as const
  const ci = CredentialName.make("ci")
  const shop = EmailAddress.make(`shop@d${accounts}.example`)
  const makeKey = (given: { readonly expires?: DateTime.Utc | null } = {}) =>
    Effect.tap(
      store.apiKeys.create({ name: ci, accessLevels: ["ViewContacts", "Export"], subaccount, ...limits, ...given }),
      ({ name, token }) => Effect.sync(() => secrets.adopt(name, token))
    )
  return {
    store,
    secrets,
    subaccount,
    delivered,
    ci,
    shop,
    makeKey,
    makeSmtp: Effect.tap(store.smtp.create({ name: shop, subaccount, ...limits }), ({ name, token }) =>
      Effect.sync(() => secrets.adopt(name, token))
    ),
    keys: store.apiKeys.list({ subaccount }),
    smtp: store.smtp.list({ subaccount }),
    rotate: <E = never, R = never>(
      more: Partial<RotationOptions<NewApiKey, E, R>> = {},
      by: CredentialsService["Service"] = secrets.service
    ) => Effect.exit(Effect.provideService(rotateApiKey(ci, { ...options, ...more }), CredentialsService, by)),
    rotateSmtp: <E = never, R = never>(
      name: string = shop,
      more: Partial<RotationOptions<NewSmtpCredentials, E, R>> = {},
      by: CredentialsService["Service"] = secrets.service
    ) => Effect.exit(Effect.provideService(rotateSmtp(name, { ...options, ...more }), CredentialsService, by))
  }
})

/** The lifetime that a credential was made with, in minutes. */
export const lifetimeOf = (
  credential: { readonly dateCreated?: DateTime.Utc; readonly expires?: DateTime.Utc | null } = {}
) =>
  credential.dateCreated === undefined || credential.expires == null
    ? undefined
    : Math.round((DateTime.toEpochMillis(credential.expires) - DateTime.toEpochMillis(credential.dateCreated)) / 60_000)

export const succeeded = <A, E>(exit: Exit.Exit<A, E>): A =>
  Exit.isSuccess(exit) ? exit.value : assert.fail(`it ended with ${String(exit.cause)}`)

export const errorOf = <A, E>(exit: Exit.Exit<A, E>): E | undefined =>
  Exit.isSuccess(exit) ? undefined : exit.cause.reasons.flatMap((r) => (r._tag === "Fail" ? [r.error] : []))[0]

export const tagOf = <A, E extends { readonly _tag: string }>(exit: Exit.Exit<A, E>): string | undefined =>
  errorOf(exit)?._tag
