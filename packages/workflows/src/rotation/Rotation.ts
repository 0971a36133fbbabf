/**
 * Replaces the secret of a credential in use: makes a successor with the same rights, delivers its secret, and deletes
 * the old credential once it is unused. The same call resumes an interrupted rotation. (docs/decisions/rotation.md)
 */
import { Clock, DateTime, Duration, Effect, Option, Random, type Redacted, Schedule, Stream } from "effect"
import {
  type ApiKey,
  type ApiKeyPayload,
  apiKeySuccessor,
  beforeWriting,
  CredentialNotFound,
  type CredentialOperations,
  CredentialsService,
  fnRedacted,
  type InvalidInput,
  isApiKeySuccessor,
  type LastManagingKey,
  maximumCredentials,
  NameTaken,
  type ServiceError,
  sometimes,
  type SmtpCredentials,
  type SmtpCredentialsPayload,
  TooManyCredentials
} from "@roster/domain"
import { type Run, RunLog, RunLogFailure } from "../runs/RunLog.ts"
import {
  copyApiKey,
  type CopyOptions,
  copySmtp,
  createWithRetry,
  type CredentialPayload,
  retryUntilConfirmed
} from "./CredentialCreation.ts"
import {
  type Rotated,
  type RotationOptions,
  type RotationPlan,
  type RotationPlanOptions,
  RotationRefused,
  StillInUse
} from "./RotationOptions.ts"
import {
  type Credential,
  decodeRecord,
  encodeRecord,
  isMadeAt,
  makeToken,
  type RotationRecord,
  rotationState,
  RotationStep,
  smtpSuccessor
} from "./RotationState.ts"

interface Secret {
  readonly token: Redacted.Redacted<string>
}

/** The differences between API keys and SMTP credentials. */
interface RotationKind<C extends Credential, P extends CredentialPayload> {
  /** What the input of its runs says. */
  readonly kind: "apikeys" | "smtp"
  /** The names of the public functions. */
  readonly spans: { readonly plan: string; readonly rotate: string }
  readonly operations: (
    service: CredentialsService["Service"]
  ) => CredentialOperations<C, C & Secret, P, LastManagingKey>
  /** The payload of a credential of another name with the same rights and limits. */
  readonly copy: (credential: C, options: CopyOptions) => Effect.Effect<P, RotationRefused>
  /** The name of a successor; `undefined` if there is no room for one. */
  readonly successor: (name: string, token: string, day: DateTime.Utc) => string | undefined
  /** Whether a credential is the successor of one of that name, by any rotation. One that keeps its name is known to its own. */
  readonly isSuccessor: (name: string, candidate: string) => boolean
  /** Whether the successor takes the name of the old credential in the end. */
  readonly isRenamed: boolean
  /** Whether this credential could do a rotation. */
  readonly canRotate: (credential: C) => boolean
}

/** How long a credential that was never used is waited for: services may record a use up to a minute later. */
const unrecordedFor = Duration.minutes(1)

/**
 * Waits until the last use of a credential has not moved for the idle time, or it is gone. One that was never used is
 * waited for only as long as its first use may stay unrecorded. Checks once more at the end
 * of the grace, when a credential that was never used may go. Times of the service are never compared with the local
 * clock.
 *
 * Fails with `StillInUse` if the credential is not idle by then, with the service's error if the last check has no
 * answer, and with `CredentialNotFound` if the successor is gone, so that the old credential is kept.
 */
const awaitUnused = Effect.fnUntraced(function* (options: {
  readonly name: string
  readonly successor: string
  readonly look: Effect.Effect<
    { readonly old: Credential | undefined; readonly successor: Credential | undefined },
    ServiceError | InvalidInput | RotationRefused
  >
  readonly idle: Duration.Duration
  readonly grace: Duration.Duration
  readonly schedule: Schedule.Schedule<unknown>
  readonly onStep: (step: RotationStep) => Effect.Effect<void>
}) {
  const { name, onStep, successor } = options
  const seen: {
    lastUse?: DateTime.Utc | null
    movedAt: number
    /** The error of the last check, if it had no answer. */
    error?: ServiceError | undefined
    /** The service asked not to be called before this time of the local clock, in milliseconds. */
    notBefore: number
  } = { movedAt: 0, notBefore: 0 }

  const isUnused = Effect.gen(function* () {
    if ((yield* Clock.currentTimeMillis) < seen.notBefore) return false
    const found = yield* options.look.pipe(
      Effect.catchTag(
        "ServiceError",
        Effect.fnUntraced(function* (error) {
          if (!error.isTransient) return yield* error
          seen.error = error
          // From now on: the call may have waited and asked again before it failed.
          seen.notBefore = (yield* Clock.currentTimeMillis) + Duration.toMillis(error.retryAfter ?? Duration.zero)
          yield* onStep(RotationStep.Unanswered({ message: error.message }))
        })
      )
    )
    if (found === undefined) return false
    seen.error = undefined
    if (found.successor === undefined) return yield* new CredentialNotFound({ name: successor })
    if (found.old === undefined) return true
    const now = yield* Clock.currentTimeMillis
    const last = seen.lastUse
    const next = found.old.lastUse ?? null
    if (last === undefined) {
      yield* onStep(RotationStep.Waiting({ name, lastUse: next }))
    } else if (next === null || (last !== null && DateTime.Equivalence(last, next))) {
      const idle = next === null ? Duration.min(options.idle, unrecordedFor) : options.idle
      return now - seen.movedAt >= Duration.toMillis(idle)
    } else {
      yield* onStep(RotationStep.StillUsed({ name, lastUse: next }))
    }
    seen.lastUse = next
    seen.movedAt = now
    return false
  })

  const inTime = yield* isUnused.pipe(
    Effect.repeat({ schedule: options.schedule, until: (unused) => unused }),
    Effect.timeoutOption(options.grace)
  )
  if (Option.contains(inTime, true) || (yield* isUnused)) return
  if (seen.error !== undefined) return yield* seen.error
  if (seen.lastUse != null) return yield* new StillInUse({ name, successor, lastUse: seen.lastUse })
})

/** Two rotations would each delete what the other one delivers. */
const rival = (name: string, successors: ReadonlyArray<Credential>): RotationRefused => {
  const names = successors.map((one) => `"${one.name}"`).join(" and ")
  const issue =
    `another rotation made ${names || "a successor"}, or an earlier one that has no record here. Resume that rotation ` +
    "where it began or, if nobody has the secret of its successor, delete the successor and rotate again."
  return new RotationRefused({ name, issue })
}

/** Somebody uses the credential that has the name now, which is not the one that this rotation replaces. */
const replaced = (name: string, successor: Credential): RotationRefused => {
  const issue =
    `another credential took its name after this rotation began. "${successor.name}" works too: delete the one of the ` +
    "two that nobody uses."
  return new RotationRefused({ name, issue })
}

/** The record of a run that has come so far. */
const recordOf = Effect.fnUntraced(function* (run: Run) {
  const last = yield* Stream.runLast(Stream.filter(run.earlier, (entry) => entry._tag === "Step"))
  if (Option.isNone(last)) return undefined
  return yield* Effect.mapError(decodeRecord(last.value.state), () => {
    return new RunLogFailure({ detail: `the run ${run.header.id} is no rotation` })
  })
})

const rotationOf = <C extends Credential, P extends CredentialPayload>(kind: RotationKind<C, P>) => {
  /** Makes a name for a successor. */
  const successorName = Effect.fnUntraced(function* (name: string) {
    const successor = kind.successor(name, yield* makeToken, yield* DateTime.now)
    if (successor !== undefined) return successor
    const issue = "its part before the @ has no room for a date. Make another one under a shorter name."
    return yield* new RotationRefused({ name, issue })
  })

  /** Finds where to begin, and refuses what cannot be done before anything is made. */
  const begin = Effect.fnUntraced(function* (name: string, options: RotationPlanOptions) {
    const { destination, expires, subaccount } = options
    const operations = kind.operations(yield* CredentialsService)
    const input = { kind: kind.kind, name, subaccount: subaccount ?? null }
    const run = yield* (yield* RunLog).open({ command: "rotate", input })
    const record = yield* recordOf(run)
    const all = yield* operations.list({ subaccount })
    const named = (wanted: string | undefined) => all.find((credential) => credential.name === wanted)
    const successors = all.filter((one) => one.name === record?.successor || kind.isSuccessor(name, one.name))
    const [successor] = successors
    if (successors.length > 1) return yield* rival(name, successors)
    const state = rotationState({ old: named(name), successor, record })
    if (state._tag === "NotFound") return yield* new CredentialNotFound({ name })
    if (state._tag === "NameTaken") return yield* new NameTaken({ name })
    if (state._tag === "Foreign") return yield* rival(name, successors)
    if (state._tag === "Delivered" && !isMadeAt(state.old, record?.replaces)) {
      return yield* replaced(name, state.successor)
    }
    if (state._tag === "Fresh" || state._tag === "Unproven") {
      yield* kind.copy(state.old, { name, subaccount, expires })
      yield* successorName(name)
      if (state._tag === "Fresh" && all.length >= maximumCredentials) {
        return yield* new TooManyCredentials({ maximum: maximumCredentials })
      }
    }
    const earlier = record?.destination
    const mayBeThere = "successor" in state && record?.phase !== "Started"
    if (mayBeThere && earlier !== undefined && destination !== undefined && destination !== earlier) {
      const again = `Resume with that destination, or delete "${state.successor.name}" and rotate again.`
      const issue = `an earlier run delivered its new secret elsewhere (${earlier}), and it is kept nowhere else. ${again}`
      return yield* new RotationRefused({ name, issue })
    }
    return { operations, record, run, state }
  })

  const plan = fnRedacted(kind.spans.plan)(function* (name: string, options: RotationPlanOptions = {}) {
    const { state } = yield* begin(name, options)
    const successor = "successor" in state ? state.successor.name : undefined
    const planned: RotationPlan = { state: state._tag, successor }
    return planned
  }, Effect.scoped)

  const rotate = fnRedacted(kind.spans.rotate)(function* <E = never, R = never>(
    name: string,
    options: RotationOptions<C & Secret, E, R>
  ) {
    const { deliver, expires, onStep = () => Effect.void, subaccount, switchToNewKey } = options
    const begun = yield* begin(name, options)
    const { operations: given, record, run } = begun
    const idle = Duration.fromInputUnsafe(options.idle ?? "10 minutes")
    // Replaced by those of the new key, once it works.
    let operations = given

    const isThere = (credential: string) =>
      beforeWriting(operations.get(credential, { subaccount })).pipe(
        Effect.as(true),
        Effect.catchTag("CredentialNotFound", () => Effect.succeed(false))
      )

    const remove = (credential: string) =>
      retryUntilConfirmed(
        operations.delete(credential, { subaccount }).pipe(Effect.catchTag("CredentialNotFound", () => Effect.void)),
        Effect.map(isThere(credential), (there) => !there)
      )

    const replacedAt = "old" in begun.state ? begun.state.old.dateCreated : record?.replaces
    const replaces = replacedAt === undefined ? {} : { replaces: replacedAt }
    const save = (record: RotationRecord) => run.append({ _tag: "Step", state: encodeRecord(record) })

    /** What a later run has to know of a successor. Where its secret went does not change when a run resumes. */
    const saveMade = ({ dateCreated, name: successor }: C, phase: RotationRecord["phase"]) => {
      const destination = phase === "Delivering" ? options.destination : known
      known = destination
      return save({
        successor,
        phase,
        ...replaces,
        ...(dateCreated === undefined ? {} : { created: dateCreated }),
        ...(destination === undefined ? {} : { destination })
      })
    }
    let known = record?.destination

    /** The successors that other rotations of the same credential have made. */
    const rivals = (own: string) =>
      Effect.map(operations.list({ subaccount }), (all) =>
        all.filter((one) => one.name !== own && kind.isSuccessor(name, one.name))
      )

    /**
     * Makes a successor that no other rotation competes with. Of two that see one another both withdraw, and each tries
     * again after a pause of its own. The name is noted before it is used, so that the next run recognises its credential.
     */
    const make = Effect.fnUntraced(function* (old: C) {
      for (let attempts = 3; ; attempts--) {
        const successor = yield* successorName(name)
        const payload = yield* kind.copy(old, { name: successor, subaccount, expires })
        yield* save({ successor, phase: "Started", ...replaces })
        const made = yield* createWithRetry(operations, payload)
        if ((yield* rivals(successor)).length === 0) return made
        yield* sometimes("a rotation meets a rival")
        yield* remove(successor)
        yield* Effect.sleep(Duration.seconds(yield* Random.nextBetween(1, 10)))
        const others = yield* rivals(successor)
        if (others.length > 0 || attempts === 1) return yield* rival(name, others)
      }
    })

    /** Makes, delivers and records the successor; an interruption cannot separate these steps. */
    const makeAndDeliver = (old: C) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const made = yield* restore(make(old))
          const successor = made.name
          yield* onStep(RotationStep.Made({ successor }))
          yield* sometimes("a successor is made and not yet recorded")
          yield* saveMade(made, "Delivering")
          yield* restore(deliver(made)).pipe(Effect.tapError(() => Effect.ignore(remove(successor))))
          yield* sometimes("a secret is delivered and not yet recorded")
          yield* saveMade(made, "Delivered")
          yield* onStep(RotationStep.Delivered({ successor }))
          return made
        })
      )

    /** Continues with the new key if it works, since checking with the old key would use it. */
    const switchKeys = Effect.fnUntraced(function* (successor: C, secret: Redacted.Redacted<string> | undefined) {
      if (switchToNewKey === undefined || !kind.canRotate(successor)) return
      const service = yield* switchToNewKey(secret)
      if (service === undefined) return
      const others = kind.operations(service.credentials)
      if (Option.isSome(yield* Effect.option(others.list({ subaccount })))) operations = others
    })

    const retire = Effect.fnUntraced(function* (old: C, successor: C) {
      const look = Effect.gen(function* () {
        const all = yield* operations.list({ subaccount })
        const named = all.find((credential) => credential.name === name)
        if (named !== undefined && !isMadeAt(named, old.dateCreated)) return yield* replaced(name, successor)
        return {
          old: named,
          successor: all.find((one) => one.name === successor.name && isMadeAt(one, successor.dateCreated))
        }
      })
      yield* awaitUnused({
        name,
        successor: successor.name,
        look,
        idle,
        grace: Duration.fromInputUnsafe(options.grace ?? "1 day"),
        schedule: options.schedule ?? Schedule.spaced("30 seconds"),
        onStep
      })
      yield* sometimes("an old credential is unused and not yet deleted")
      yield* remove(name)
      yield* onStep(RotationStep.Deleted({ name }))
    })

    /** Copies the successor as it is now, since it may have been changed. */
    const rename = Effect.fnUntraced(function* (successor: C) {
      yield* sometimes("a successor has not yet its name")
      yield* saveMade(successor, "Retired")
      const now = yield* operations.get(successor.name, { subaccount })
      const payload = yield* kind.copy(now, { name, subaccount, expires: "AsItIs" })
      yield* retryUntilConfirmed(Effect.asVoid(operations.update(successor.name, payload)), isThere(name))
      yield* onStep(RotationStep.Renamed({ successor: successor.name, name }))
    })

    /** Somebody may have begun to use a secret whose delivery a kill left open: that is waited for before it is replaced. */
    const settled = Effect.fnUntraced(function* (state: typeof begun.state) {
      if (state._tag !== "Unproven" || record?.phase !== "Delivering") return state
      const { name: successor } = state.successor
      yield* onStep(RotationStep.Waiting({ name: successor, lastUse: null }))
      yield* Effect.sleep(Duration.min(idle, unrecordedFor))
      const found = yield* operations.get(successor, { subaccount })
      return found.lastUse == null ? state : { ...state, _tag: "Delivered" as const }
    })

    const state = yield* settled(begun.state)
    const isResumed = state._tag !== "Fresh" && state._tag !== "Unproven"
    let successor: C
    let secret: Redacted.Redacted<string> | undefined
    if (isResumed) {
      successor = state.successor
      yield* onStep(RotationStep.Resumed({ from: state._tag, successor: successor.name }))
    } else {
      if (state._tag === "Unproven") {
        yield* remove(state.successor.name)
        yield* onStep(RotationStep.Discarded({ successor: state.successor.name }))
      }
      const made = yield* makeAndDeliver(state.old)
      successor = made
      secret = made.token
    }
    if ("old" in state) {
      yield* switchKeys(successor, secret)
      yield* retire(state.old, successor)
    }
    if (kind.isRenamed && state._tag !== "Renamed") yield* rename(successor)
    yield* run.end
    const rotated: Rotated = { name: kind.isRenamed ? name : successor.name, isResumed }
    return rotated
  }, Effect.scoped)

  return { plan, rotate }
}

const apiKeys = rotationOf<ApiKey, ApiKeyPayload>({
  kind: "apikeys",
  spans: { plan: "planApiKeyRotation", rotate: "rotateApiKey" },
  operations: (service) => service.apiKeys,
  copy: copyApiKey,
  successor: apiKeySuccessor,
  isSuccessor: isApiKeySuccessor,
  isRenamed: true,
  canRotate: ({ accessLevels }) => accessLevels.includes("Security") && accessLevels.includes("ModifyAccessTokens")
})

const smtp = rotationOf<SmtpCredentials, SmtpCredentialsPayload>({
  kind: "smtp",
  spans: { plan: "planSmtpRotation", rotate: "rotateSmtp" },
  operations: (service) => service.smtp,
  copy: copySmtp,
  successor: smtpSuccessor,
  isSuccessor: () => false,
  isRenamed: false,
  canRotate: () => false
})

/**
 * Rotates an API key, which gets its old name back. Fails before anything is made if there is no such key, no room for
 * one more (`TooManyCredentials`), or no successor with the same rights and limits (`RotationRefused`). Fails with
 * `StillInUse`, and keeps both keys, if the old one is still used when the grace is over.
 *
 * ```ts
 * import { rotateApiKey } from "@roster/workflows"
 * import { Console, Redacted } from "effect"
 *
 * export const example = rotateApiKey("nightly", {
 *   deliver: ({ token }) => Console.error(`a secret of ${Redacted.value(token).length} characters`),
 *   grace: "0 seconds"
 * })
 * ```
 */
export const rotateApiKey = apiKeys.rotate

/**
 * Rotates SMTP credentials like `rotateApiKey`, but the successor has another name, since the name is the login.
 *
 * ```ts
 * import { rotateSmtp } from "@roster/workflows"
 * import { Console, Redacted } from "effect"
 *
 * export const example = rotateSmtp("mailer@example.com", {
 *   deliver: ({ token }) => Console.error(`a password of ${Redacted.value(token).length} characters`),
 *   grace: "0 seconds"
 * })
 * ```
 */
export const rotateSmtp = smtp.rotate

/**
 * Tells where `rotateApiKey` would begin, and changes nothing.
 *
 * ```ts
 * import { planApiKeyRotation } from "@roster/workflows"
 *
 * export const example = planApiKeyRotation("nightly", { destination: "the vault" })
 * ```
 */
export const planApiKeyRotation = apiKeys.plan

/**
 * Tells where `rotateSmtp` would begin, and changes nothing.
 *
 * ```ts
 * import { planSmtpRotation } from "@roster/workflows"
 *
 * export const example = planSmtpRotation("mailer@example.com", { destination: "the vault" })
 * ```
 */
export const planSmtpRotation = smtp.plan
