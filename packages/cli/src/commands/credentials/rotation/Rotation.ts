/**
 * What `apikeys rotate` and `smtp rotate` have in common: their flags, their words, and how they go on where they were stopped.
 */
import { CredentialsService, type EmailAddress, formatWireDate } from "@roster/domain"
import {
  type SwitchToNewKey,
  type Rotated,
  type RotationOptions,
  type RotationPlan,
  RotationStep
} from "@roster/workflows"
import {
  Context,
  type DateTime,
  Duration,
  Effect,
  Layer,
  Path,
  type PlatformError,
  Redacted,
  Schedule,
  type Schema
} from "effect"
import { CliError } from "effect/cli"
import { subaccount } from "../CredentialFlags.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { readKey } from "../../../settings/InputFile.ts"
import { span } from "../../shared/CommonFlags.ts"
import { Output } from "../../../terminal/Output.ts"
import * as Results from "../../../terminal/Results.ts"
import { type JournalFile, withJournal } from "./RotationJournal.ts"
import { type DeliveryFlags, deliveryFlags, secretDelivery } from "./SecretDelivery.ts"
import { KeySource, settings } from "../../../settings/Settings.ts"
import type { UsageError } from "../../../errors/UsageError.ts"
import { resumeCommand, ResumeHint } from "../../../terminal/ResumeHint.ts"

export const rotationFlags = {
  ...deliveryFlags,
  idle: span("idle", "Delete the old one after it has been unused for this long", Duration.minutes(10)),
  grace: span("grace", "Maximum total wait; after that, both are kept", Duration.hours(24)),
  dryRun,
  subaccount
}

export interface RotationFlags extends DeliveryFlags {
  readonly idle: Duration.Duration
  readonly grace: Duration.Duration
  readonly dryRun: boolean
  readonly subaccount: EmailAddress | undefined
}

export const checkRotation = ({
  exec,
  grace,
  idle,
  out
}: RotationFlags): Effect.Effect<void, CliError.ValidationError> => {
  const refuse = (message: string) => Effect.fail(new CliError.ValidationError({ message }))
  if (out !== undefined && exec !== undefined) return refuse("--out and --exec cannot be used together.")
  return Duration.isLessThanOrEqualTo(grace, idle)
    ? refuse("--grace is the total wait and must be longer than --idle.")
    : Effect.void
}

/** A use is noted once a minute at most, by the embedded service as by others. */
const shortestIdle = Duration.minutes(2)

const never = (lastUse: DateTime.Utc | null) => (lastUse === null ? "never" : formatWireDate(lastUse))

const wordsOf = (idle: Duration.Duration) =>
  RotationStep.$match({
    Discarded: ({ successor }) => `deleted ${successor} of an earlier run, whose secret was never used`,
    Made: ({ successor }) => `created ${successor}`,
    Delivered: ({ successor }) => `delivered the secret of ${successor}`,
    Resumed: ({ from, successor }) =>
      from === "Delivered"
        ? `resuming: the secret of ${successor} was already delivered`
        : `resuming: the old one was already deleted${from === "Renamed" ? ", and nothing is left to do" : ""}`,
    Waiting: ({ lastUse, name }) =>
      `waiting until ${name} has been unused for ${Duration.format(idle)} (last use: ${never(lastUse)})`,
    StillUsed: ({ lastUse, name }) => `${name} was used again at ${formatWireDate(lastUse)}`,
    Unanswered: ({ message }) => `no answer, checking again: ${message}`,
    Deleted: ({ name }) => `deleted the old ${name}`,
    Renamed: ({ name, successor }) => `renamed ${successor} to ${name}`
  })

const planned: { readonly [State in RotationPlan["state"]]: string } = {
  Fresh: "create a successor, deliver its secret, wait until the old one is no longer used, and delete it",
  Unproven:
    "delete the unused successor of an earlier run, create and deliver a new one, wait until the old one is no longer used, and delete it",
  Delivered:
    "wait until the old one is no longer used, and delete it: the secret of its successor was already delivered",
  Retired: "finish: the old one was already deleted",
  Renamed: "record that nothing is left to do",
  NameTaken: "nothing",
  NotFound: "nothing"
}

/** The service by another key, at the same address. */
const serviceBy = Effect.fnUntraced(function* (key: Redacted.Redacted<string>) {
  const on = yield* settings
  if (on._tag === "Local") return undefined
  const { layer } = yield* Effect.promise(() => import("../../../target/RemoteTarget.ts"))
  const services = yield* Layer.build(layer({ ...on, key: KeySource.Environment({ key }) }, { dryRun: false }))
  return Context.get(services, CredentialsService)
})

/** By the new secret itself: in the run that made it, or where an earlier one has written it. */
const switchToNewKey = Effect.fnUntraced(function* (out: string | undefined) {
  const context = yield* Effect.context<Effect.Services<ReturnType<typeof serviceBy>>>()
  const written = out === undefined ? undefined : Effect.map(readKey(out), (key) => Redacted.make(key))
  const by: SwitchToNewKey = (secret) => {
    const key = secret === undefined ? written : Effect.succeed(secret)
    if (key === undefined) return Effect.undefined
    // What cannot be used is not the way: all goes on by the key that was given.
    return Effect.flatMap(key, serviceBy).pipe(
      Effect.orElseSucceed(() => undefined),
      Effect.provideContext(context)
    )
  }
  return by
})

/** A store file is the same one from every folder. */
const targetName = Effect.gen(function* () {
  const path = yield* Path.Path
  const on = yield* settings
  return on._tag === "Remote" ? on.baseUrl : `file:${on.filename === undefined ? "" : path.resolve(on.filename)}`
})

interface Made {
  readonly name: string
  readonly dateCreated?: DateTime.Utc
  readonly token: Redacted.Redacted<string>
}

/** What differs between the kinds: how it is planned and done, and what of the secret is written down. */
interface Kind<New extends Made, EP, ER, R> {
  readonly kind: "apikeys" | "smtp"
  readonly schema: Schema.Codec<New, unknown>
  readonly content: (made: New) => Redacted.Redacted<string>
  readonly plan: (
    name: string,
    options: { readonly journal: JournalFile; readonly subaccount: EmailAddress | undefined }
  ) => Effect.Effect<RotationPlan, EP, R>
  readonly rotate: (
    name: string,
    options: RotationOptions<New, UsageError | PlatformError.PlatformError, never, UsageError> & {
      readonly switchToNewKey: SwitchToNewKey
    }
  ) => Effect.Effect<Rotated, ER, R>
}

/** Rotates, or says what that would be. */
export const runRotation = Effect.fnUntraced(function* <New extends Made, EP, ER, R>(
  { content, kind, plan, rotate, schema }: Kind<New, EP, ER, R>,
  name: string,
  { dryRun, exec, grace, idle, out, subaccount }: RotationFlags
) {
  const output = yield* Output
  const again = yield* resumeCommand()
  const wayOn = yield* ResumeHint
  const subject = { target: yield* targetName, kind, name, subaccount }

  const showPlan = Effect.fnUntraced(function* (journal: JournalFile) {
    const { state, successor } = yield* plan(name, { journal, subaccount })
    yield* Results.summary({ dryRun: true, state, successor }, `Would ${planned[state]} (successor: ${successor})`)
  })

  const goOn = Effect.fnUntraced(function* (journal: JournalFile) {
    if (Duration.isLessThan(idle, shortestIdle)) {
      yield* output.note("Use may be recorded only once a minute: --idle shorter than 2m can miss it.")
    }
    const deliver = yield* secretDelivery({ exec, out }, schema, content)
    const words = wordsOf(idle)
    const toNewKey = yield* switchToNewKey(out)
    return yield* rotate(name, {
      subaccount,
      journal,
      quiet: idle,
      grace,
      schedule: Schedule.spaced(Duration.min(Duration.seconds(30), Duration.times(idle, 0.25))),
      deliver: (made) =>
        Effect.andThen(out === undefined ? Effect.void : journal.expect(made, content(made)), deliver(made)),
      switchToNewKey: toNewKey,
      onStep: (step) =>
        Effect.suspend(() => {
          wayOn.command = again
          return output.note(words(step))
        })
    })
  })

  if (dryRun) return yield* withJournal(subject, out, showPlan)
  const rotated = yield* withJournal(subject, out, goOn).pipe(
    Effect.onInterrupt(() => output.note(`Interrupted. To resume:\n  ${again}`))
  )
  const said = `Rotated: the new secret belongs to ${rotated.name}`
  if (out === undefined && exec === undefined) return yield* output.note(said)
  yield* Results.summary({ ok: true, name: rotated.name, resumed: rotated.isResumed }, said)
}, Effect.scoped)
