/** Rotation, whatever kind of credential it is. */
import { DateTime, Duration, Effect, Option, type Redacted, Schedule } from "effect"
import {
  CredentialNotFound,
  type CredentialOperations,
  CredentialsService,
  type EmailAddress,
  maximumCredentials,
  NameTaken,
  type SubaccountScope,
  TooManyCredentials
} from "@roster/domain"
import { createWithRetry } from "./CredentialCreation.ts"
import { RotationRefused } from "./RotationError.ts"
import type { SwitchToNewKey, Rotated, RotationOptions, RotationPlan } from "./RotationOptions.ts"
import type { RotationJournal, RotationRecord } from "./RotationRecord.ts"
import { isMadeAt, rotationState, RotationStep } from "./RotationStep.ts"
import type { Copyable } from "./CredentialCopy.ts"
import { retryUntilConfirmed } from "./LostAnswer.ts"
import type { Payload, RotationKind, Secret } from "./RotationKind.ts"
import { awaitUnused } from "./RotationWait.ts"

const defaults = { quiet: Duration.minutes(10), grace: Duration.days(1), schedule: Schedule.spaced("30 seconds") }

const nobody = () => Effect.void

const isNotFound = (error: { readonly _tag: string }): error is CredentialNotFound =>
  error._tag === "CredentialNotFound"

const isTaken = (error: { readonly _tag: string }): error is NameTaken => error._tag === "NameTaken"

export const rotationOf = <
  Old extends Copyable,
  New extends Old & Secret,
  P extends Payload,
  Kept extends { readonly _tag: string; readonly message: string } = never
>(
  kind: RotationKind<Old, New, P, Kept>
) => {
  type Operations = CredentialOperations<Old, New, P, Kept>
  type Options<E, R, JE> = RotationOptions<New, E, R, JE> & { readonly switchToNewKey?: SwitchToNewKey<R> | undefined }

  /** The successor is known by its name, which was noted where it does not follow from the old one's. */
  const find = Effect.fnUntraced(function* (
    operations: Operations,
    name: string,
    of: SubaccountScope,
    record: RotationRecord | undefined
  ) {
    const all = yield* operations.list(of)
    const named = (wanted: string | undefined) => all.find((credential) => credential.name === wanted)
    const names = kind.successors(name, yield* DateTime.now)
    const noted = kind.renames ? names[0] : record?.successor
    const state = rotationState({ old: named(name), successor: named(noted), record })
    const free = names.filter((candidate) => candidate === noted || named(candidate) === undefined)
    return { count: all.length, names, free, state }
  })

  const isThere = (operations: Operations, name: string, of: SubaccountScope) =>
    operations.get(name, of).pipe(
      Effect.as(true),
      Effect.catchIf(isNotFound, () => Effect.succeed(false))
    )

  const remove = (operations: Operations, name: string, of: SubaccountScope) =>
    retryUntilConfirmed(
      operations.delete(name, of).pipe(Effect.catchIf(isNotFound, () => Effect.void)),
      Effect.map(isThere(operations, name, of), (there) => !there)
    )

  /** The name is written down before the successor is made: whatever becomes of this run, the next one knows whose it is. */
  const make = Effect.fnUntraced(function* <E, R, JE>(
    operations: Operations,
    old: Old,
    names: ReadonlyArray<string>,
    { journal, subaccount }: Options<E, R, JE>
  ) {
    let taken = new NameTaken({ name: old.name })
    for (const successor of names) {
      const payload = yield* kind.copy(old, successor, subaccount)
      yield* journal.save({ successor, phase: "Started" })
      const made = yield* createWithRetry(operations, payload).pipe(
        Effect.asSome,
        Effect.catchIf(isTaken, (error) => {
          taken = error
          return Effect.succeedNone
        })
      )
      if (Option.isSome(made)) return made.value
    }
    return yield* taken
  })

  /** Makes a successor and hands its secret over. Between the two, and until that is noted, nothing else can fail or stop it. */
  const succeed = Effect.fnUntraced(function* <E, R, JE>(
    operations: Operations,
    old: Old,
    names: ReadonlyArray<string>,
    options: Options<E, R, JE>
  ) {
    const { deliver, journal, onStep = nobody, subaccount } = options
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const made = yield* restore(make(operations, old, names, options))
        const { dateCreated, name: successor } = made
        yield* onStep(RotationStep.Made({ successor }))
        yield* restore(deliver(made)).pipe(
          Effect.tapError(() => Effect.ignore(remove(operations, successor, { subaccount })))
        )
        const created = dateCreated === undefined ? {} : { created: dateCreated }
        yield* journal.save({ successor, phase: "Delivered", ...created })
        yield* onStep(RotationStep.Delivered({ successor }))
        return made
      })
    )
  })

  /** The operations by the new secret, where they can be had: looking with the old one would be using it. */
  const operationsBy = Effect.fnUntraced(function* <E, R, JE>(
    operations: Operations,
    successor: Old,
    secret: Redacted.Redacted<string> | undefined,
    { switchToNewKey, subaccount }: Options<E, R, JE>
  ) {
    if (switchToNewKey === undefined || !kind.rotates(successor)) return operations
    const service = yield* switchToNewKey(secret)
    if (service === undefined) return operations
    const others = kind.operations(service)
    return Option.isSome(yield* Effect.option(others.list({ subaccount }))) ? others : operations
  })

  /** The successor takes the name, as it is by then: somebody may have changed it since. */
  const rename = Effect.fnUntraced(function* <E, R, JE>(
    operations: Operations,
    successor: Old,
    name: string,
    { journal, onStep = nobody, subaccount }: Options<E, R, JE>
  ) {
    const { dateCreated } = successor
    const created = dateCreated === undefined ? {} : { created: dateCreated }
    yield* journal.save({ successor: successor.name, phase: "Retired", ...created })
    const payload = yield* kind.copy(yield* operations.get(successor.name, { subaccount }), name, subaccount)
    yield* retryUntilConfirmed(
      Effect.asVoid(operations.update(successor.name, payload)),
      isThere(operations, name, { subaccount })
    )
    yield* onStep(RotationStep.Renamed({ successor: successor.name, name }))
  })

  const retire = Effect.fnUntraced(function* <E, R, JE>(
    operations: Operations,
    old: Old,
    successor: Old,
    options: Options<E, R, JE>
  ) {
    const { onStep = nobody, subaccount } = options
    const { name } = old
    const look = Effect.map(operations.list({ subaccount }), (all) => ({
      old: all.find((credential) => credential.name === name),
      successor: all.find(
        (credential) => credential.name === successor.name && isMadeAt(credential, successor.dateCreated)
      )
    }))
    yield* awaitUnused({
      name,
      successor: successor.name,
      look,
      quiet: Duration.fromInputUnsafe(options.quiet ?? defaults.quiet),
      grace: Duration.fromInputUnsafe(options.grace ?? defaults.grace),
      schedule: options.schedule ?? defaults.schedule,
      onStep
    })
    yield* remove(operations, name, { subaccount })
    yield* onStep(RotationStep.Deleted({ name }))
  })

  /** Where to begin, or why that cannot be: said before anything is made. */
  const begin = Effect.fnUntraced(function* <JE>(
    operations: Operations,
    name: string,
    { journal, subaccount }: { readonly journal: RotationJournal<JE>; readonly subaccount?: EmailAddress | undefined }
  ) {
    const { count, free, names, state } = yield* find(operations, name, { subaccount }, yield* journal.load)
    if (state._tag === "NotFound") return yield* new CredentialNotFound({ name })
    if (state._tag === "NameTaken") return yield* new NameTaken({ name })
    if (state._tag === "Fresh" || state._tag === "Unproven") {
      const [first = name] = free
      yield* kind.copy(state.old, first, subaccount)
      if (names.length === 0) {
        const issue = "its part before the @ has no room for a date. Make another one under a shorter name."
        return yield* new RotationRefused({ name, issue })
      }
      if (state._tag === "Fresh" && count >= maximumCredentials) {
        return yield* new TooManyCredentials({ maximum: maximumCredentials })
      }
    }
    return { state, free }
  })

  const plan = Effect.fnUntraced(function* <JE>(
    name: string,
    options: { readonly journal: RotationJournal<JE>; readonly subaccount?: EmailAddress | undefined }
  ) {
    const operations = kind.operations(yield* CredentialsService)
    const { free, state } = yield* begin(operations, name, options)
    const planned: RotationPlan = {
      state: state._tag,
      successor: "successor" in state ? state.successor.name : (free[0] ?? name)
    }
    return planned
  })

  const rotate = Effect.fnUntraced(function* <E, R, JE>(name: string, options: Options<E, R, JE>) {
    const { journal, onStep = nobody, subaccount } = options
    const given = kind.operations(yield* CredentialsService)
    const { free, state } = yield* begin(given, name, options)
    const isResumed = state._tag !== "Fresh" && state._tag !== "Unproven"
    if (isResumed) yield* onStep(RotationStep.Resumed({ from: state._tag, successor: state.successor.name }))
    let operations = given
    let { successor } = "successor" in state ? state : { successor: state.old }
    if (state._tag === "Unproven") {
      yield* remove(given, successor.name, { subaccount })
      yield* onStep(RotationStep.Discarded({ successor: successor.name }))
    }
    if ("old" in state) {
      const made = isResumed ? undefined : yield* succeed(given, state.old, free, options)
      successor = made ?? successor
      operations = yield* operationsBy(given, successor, made?.token, options)
      yield* retire(operations, state.old, successor, options)
    }
    if (kind.renames && state._tag !== "Renamed") yield* rename(operations, successor, name, options)
    yield* journal.clear
    const rotated: Rotated = { name: kind.renames ? name : successor.name, isResumed }
    return rotated
  })

  return { plan, rotate }
}
