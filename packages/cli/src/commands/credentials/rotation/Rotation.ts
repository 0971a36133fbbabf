/** The common part of `apikeys rotate` and `smtp rotate`: their flags, their messages, and how they resume. */
import { CredentialsService, formatWireDate, type NewApiKey } from "@roster/domain"
import {
  type planApiKeyRotation,
  type rotateApiKey,
  type RotationOptions,
  type RotationPlan,
  RotationStep,
  type SwitchToNewKey
} from "@roster/workflows"
import { Context, Duration, Effect, Layer, Path, type PlatformError, Redacted, Schedule, type Schema } from "effect"
import { type Argument, Command, Flag } from "effect/cli"
import { apiKeyFlags, subaccount } from "../CredentialFlags.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { readKey } from "../../../settings/InputFile.ts"
import { duration, refuseFlags, withExamples } from "../../shared/CommonFlags.ts"
import { Output } from "../../../terminal/Output.ts"
import * as Results from "../../../terminal/Results.ts"
import { secretFlags, type NotDelivered, secretDelivery } from "../SecretDelivery.ts"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { settings } from "../../../settings/Settings.ts"
import type { UsageError } from "../../../errors/UsageError.ts"
import { resumeCommand, ResumeHint } from "../../../terminal/ResumeHint.ts"

const rotationFlags = {
  ...secretFlags,
  idle: duration("idle", "Delete the old one after it has been unused for this long", Duration.minutes(10)),
  grace: duration("grace", "Maximum total wait; after that, both are kept", Duration.hours(24)),
  expires: apiKeyFlags.set.expires.pipe(
    Flag.withDescription("Expiry: a date (UTC), or a time from now (default: the lifetime of the old one, from now)")
  ),
  noExpiry: apiKeyFlags.clear.expires,
  dryRun,
  subaccount
}

type RotationFlags = Command.Command.Config.Infer<typeof rotationFlags>

const checkRotation = ({ exec, expires, grace, idle, noExpiry, out }: RotationFlags) =>
  refuseFlags(
    [out !== undefined && exec !== undefined, "--out and --exec cannot be used together."],
    [expires !== undefined && noExpiry !== undefined, "--expires and --no-expiry cannot be used together."],
    [Duration.isLessThanOrEqualTo(grace, idle), "--grace is the total wait and must be longer than --idle."]
  )

/** Services record a use at most once a minute. */
const shortestIdle = Duration.minutes(2)

const describeStep = (idle: Duration.Duration) =>
  RotationStep.$match({
    Discarded: ({ successor }) => `deleted ${successor} of an earlier run, whose secret was never used`,
    Made: ({ successor }) => `created ${successor}`,
    Delivered: ({ successor }) => `delivered the secret of ${successor}`,
    Resumed: ({ from, successor }) =>
      from === "Delivered"
        ? `resuming: the secret of ${successor} was already delivered`
        : `resuming: the old one was already deleted${from === "Renamed" ? ", and nothing is left to do" : ""}`,
    Waiting: ({ lastUse, name }) =>
      lastUse === null
        ? `waiting a moment: ${name} was never used, but a use may be recorded up to a minute later`
        : `waiting until ${name} has been unused for ${Duration.format(idle)} (last use: ${formatWireDate(lastUse)})`,
    StillUsed: ({ lastUse, name }) => `${name} was used again at ${formatWireDate(lastUse)}`,
    Unanswered: ({ message }) => `no answer, checking again: ${message}`,
    Deleted: ({ name }) => `deleted the old ${name}`,
    Renamed: ({ name, successor }) => `renamed ${successor} to ${name}`
  })

const plannedWork: { readonly [State in RotationPlan["state"]]: string } = {
  Fresh: "create a successor, deliver its secret, wait until the old one is no longer used, and delete it",
  Unproven:
    "delete the unused successor of an earlier run, create and deliver a new one, wait until the old one is " +
    "no longer used, and delete it",
  Delivered:
    "wait until the old one is no longer used, and delete it: the secret of its successor was already delivered",
  Retired: "finish: the old one was already deleted",
  Renamed: "record that nothing is left to do"
}

/** The same service, called with another key. */
const serviceWithKey = Effect.fnUntraced(function* (key: Redacted.Redacted<string>) {
  const on = yield* settings
  if (on._tag === "Local") return undefined
  const services = yield* Layer.build(TargetLayer.layerWithKey(on, key))
  return { credentials: Context.get(services, CredentialsService) }
})

/** Calls the service with the new secret, which a later run reads from the file that an earlier one wrote. */
const keySwitch = Effect.fnUntraced(function* (out: string | undefined) {
  const context = yield* Effect.context<Effect.Services<ReturnType<typeof serviceWithKey>>>()
  const written = out === undefined ? undefined : Effect.map(readKey(out), (key) => Redacted.make(key))
  const switchToNewKey: SwitchToNewKey = (secret) => {
    const key = secret === undefined ? written : Effect.succeed(secret)
    if (key === undefined) return Effect.undefined
    // If the new key cannot be used, the rotation continues with the old one.
    return Effect.flatMap(key, serviceWithKey).pipe(
      Effect.orElseSucceed(() => undefined),
      Effect.provideContext(context)
    )
  }
  return switchToNewKey
})

type NewCredential = Pick<NewApiKey, "name" | "dateCreated" | "token">

type DeliveryError = NotDelivered | UsageError | PlatformError.PlatformError

/** The differences between API keys and SMTP credentials. */
interface Kind<New extends NewCredential> {
  readonly schema: Schema.Codec<New, unknown>
  /** What is written to a file or given to a command. */
  readonly content: (made: New) => Redacted.Redacted<string>
  readonly plan: typeof planApiKeyRotation
  readonly rotate: (
    name: string,
    options: RotationOptions<New, DeliveryError>
  ) => ReturnType<typeof rotateApiKey<DeliveryError>>
}

/** Rotates a credential, or shows the plan on a dry run. */
const runRotation = Effect.fnUntraced(function* <New extends NewCredential>(
  { content, plan, rotate, schema }: Kind<New>,
  name: string,
  { dryRun, exec, expires, grace, idle, noExpiry, out, subaccount }: RotationFlags
) {
  const output = yield* Output
  const resume = yield* resumeCommand()
  const hint = yield* ResumeHint
  const path = yield* Path.Path
  // A command line is not kept, since it may hold secrets.
  const other = exec === undefined ? "standard output" : "the command of --exec"
  const subject = {
    subaccount,
    expires: noExpiry ?? expires,
    destination: out === undefined ? other : path.resolve(out)
  }

  const rotated = Effect.gen(function* () {
    if (Duration.isLessThan(idle, shortestIdle)) {
      yield* output.note("Use may be recorded only once a minute: --idle shorter than 2m can miss it.")
    }
    const describe = describeStep(idle)
    return yield* rotate(name, {
      ...subject,
      idle,
      grace,
      schedule: Schedule.spaced(Duration.min(Duration.seconds(30), Duration.times(idle, 0.25))),
      deliver: yield* secretDelivery({ exec, out }, schema, content),
      switchToNewKey: yield* keySwitch(out),
      onStep: (step) =>
        Effect.suspend(() => {
          hint.command = resume
          return output.note(describe(step))
        })
    })
  })

  if (dryRun) {
    const { state, successor } = yield* plan(name, subject)
    const named = successor === undefined ? "" : ` (successor: ${successor})`
    return yield* Results.summary({ dryRun: true, state, successor }, `Would ${plannedWork[state]}${named}`)
  }
  const { isResumed, name: newName } = yield* rotated
  const said = `Rotated: the new secret belongs to ${newName}`
  if (out === undefined && exec === undefined) return yield* output.note(said)
  yield* Results.summary({ ok: true, name: newName, resumed: isResumed }, said)
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
    Command.provide(({ dryRun }) => RunLogLayer.layerToGoOn({ dryRun }))
  )
