/** The common part of `apikeys rotate` and `smtp rotate`: their flags and what they say. */
import { AccountService, canonicalEmail, CredentialsService, type NewApiKey } from "@roster/domain"
import { formatWireDate } from "@roster/domain/internal"
import type { rotateApiKey, RotationOptions, WithNewKey } from "@roster/workflows"
import { Context, Duration, Effect, Exit, Layer, type PlatformError, type Redacted, type Schema } from "effect"
import { type Argument, Command, Flag } from "effect/cli"
import { apiKeyFlags, subaccount } from "../CredentialFlags.ts"
import { refuseFlags, withExamples } from "../../shared/CommonFlags.ts"
import { Output } from "../../../terminal/Output.ts"
import * as Results from "../../../terminal/Results.ts"
import { secretFlags, type NotDelivered, secretDelivery, secretVerification } from "../SecretDelivery.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { keyOrigin } from "../../../settings/ApiKeySource.ts"
import { settings } from "../../../settings/Settings.ts"
import type { UsageError } from "../../../errors/UsageError.ts"
import { ResumeHint } from "../../../terminal/ResumeHint.ts"
import { parsed, parseTime, text } from "../../../settings/FlagForms.ts"

const rotationFlags = {
  ...secretFlags,
  verify: text("verify", "Then pass the new secret to this command on stdin; exit code 0 means that it works", "CMD"),
  grace: parsed(
    "grace",
    (given) =>
      given.trim() === "0"
        ? Effect.succeed(Duration.zero)
        : parseTime("grace", "write 0, or a duration as 30s, 10m, 24h or 7d")(given),
    "How long the old secret works from then on; 0 ends it at once (default: 1d)",
    "TIME"
  ),
  expires: apiKeyFlags.set.expires.pipe(
    Flag.withDescription("Expiry: a date (UTC), or a time from now (default: the lifetime of the old one, from now)")
  ),
  noExpiry: apiKeyFlags.clear.expires,
  subaccount
}

type RotationFlags = Command.Command.Config.Infer<typeof rotationFlags>

const checkRotation = ({ exec, expires, noExpiry, out }: RotationFlags) =>
  refuseFlags(
    [out !== undefined && exec !== undefined, "--out and --exec cannot be used together."],
    [expires !== undefined && noExpiry !== undefined, "--expires and --no-expiry cannot be used together."]
  )

/** Gives the service that is called with the new secret, for a key that has replaced itself. */
const keySwitch = Effect.gen(function* () {
  const on = yield* settings
  const layerOf = (secret: Redacted.Redacted<string>) =>
    on._tag === "Local" ? undefined : TargetLayer.layerWithKey(on, secret)
  const context = yield* Effect.context<Layer.Services<NonNullable<ReturnType<typeof layerOf>>>>()
  const scope = yield* Effect.scope
  const withNewKey: WithNewKey = (secret) => {
    const services = layerOf(secret)
    if (services === undefined) return Effect.undefined
    return Layer.buildWithScope(services, scope).pipe(
      Effect.map((built) => ({ credentials: Context.get(built, CredentialsService) })),
      Effect.orElseSucceed(() => undefined),
      Effect.provideContext(context)
    )
  }
  return withNewKey
})

/** Where the new secret of the key that the command calls with has to go, in words, unless it goes there. */
export const ownWords = Effect.fnUntraced(function* (name: string, { out, subaccount }: RotationFlags) {
  const on = yield* settings
  const calling = yield* Effect.option(AccountService.use(({ key }) => key))
  if (on._tag === "Local" || calling._tag === "None" || (on.key._tag === "File" && on.key.path === out)) return
  const { account, name: own } = calling.value
  if (own !== name || (subaccount !== undefined && canonicalEmail(subaccount) !== account)) return
  return `This command calls with ${name}: put its new secret where ${keyOrigin(on.key)} has the old one.`
})

type NewCredential = Pick<NewApiKey, "name" | "dateCreated" | "token">

type DeliveryError = NotDelivered | UsageError | PlatformError.PlatformError

/** The differences between API keys and SMTP credentials. */
interface Kind<New extends NewCredential> {
  readonly schema: Schema.Codec<New, unknown>
  /** What is written to a file or given to a command. */
  readonly content: (credential: New) => Redacted.Redacted<string>
  readonly rotate: (
    name: string,
    options: RotationOptions<New, DeliveryError>
  ) => ReturnType<typeof rotateApiKey<DeliveryError>>
  /** What to say if the command calls with the credential. */
  readonly ofOwn?: typeof ownWords
}

const runRotation = Effect.fnUntraced(function* <New extends NewCredential>(
  { content, ofOwn, rotate, schema }: Kind<New>,
  name: string,
  flags: RotationFlags
) {
  const { exec, expires, grace, noExpiry, out, subaccount, verify } = flags
  const output = yield* Output
  const hint = yield* ResumeHint
  const delivery = yield* secretDelivery({ exec, out }, schema, content)
  const deliver = (credential: New) =>
    Effect.suspend(() => {
      hint.interrupted = "The command was interrupted. The old secret works, and the new one if it was delivered."
      return delivery(credential)
    })
  // A key that ends with its rotation could not be asked later.
  const own = yield* ofOwn?.(name, flags) ?? Effect.undefined
  const rotated = yield* rotate(name, {
    subaccount,
    grace,
    expires: noExpiry ?? expires,
    deliver,
    verify: verify === undefined ? undefined : yield* secretVerification(verify, content),
    withNewKey: yield* keySwitch
  }).pipe(Effect.tapError(() => Effect.sync(() => void (hint.interrupted = undefined))))
  const { isResumed, old } = rotated
  const said = isResumed
    ? `An earlier run delivered the new secret, which belongs to ${rotated.name} now.`
    : `Rotated: the new secret belongs to ${rotated.name}.`
  const works = old.map(({ expires, name }) =>
    expires === null
      ? `The old secret of ${name} works, too.`
      : `The old secret works as ${name} until ${formatWireDate(expires)}.`
  )
  yield* Effect.addFinalizer((exit) => (own === undefined || Exit.isFailure(exit) ? Effect.void : output.note(own)))
  if (!isResumed && out === undefined && exec === undefined) {
    return yield* Effect.forEach([said, ...works], output.note, { discard: true })
  }
  const dates = old.map(({ expires, name }) => ({ name, expires: expires === null ? null : formatWireDate(expires) }))
  yield* Results.summary({ ok: true, name: rotated.name, old: dates, resumed: isResumed }, [said, ...works].join("\n"))
}, Effect.scoped)

/** The command that rotates one kind of credential. */
export const rotateCommand = <New extends NewCredential>(
  kind: Kind<New>,
  name: Argument.Argument<string>,
  examples: { readonly [commandLine: string]: string }
) =>
  Command.make("rotate", { name, ...rotationFlags }, ({ name, ...flags }) => runRotation(kind, name, flags)).pipe(
    Command.validate((flags) => checkRotation(flags)),
    withExamples(examples),
    Command.provide(TargetLayer.layer)
  )
