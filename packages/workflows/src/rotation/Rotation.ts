/**
 * Gives a credential a new secret now: makes a successor with the same rights, delivers and verifies its secret, and lets the old
 * one end by itself after a grace. The names say how far a run came, so that the next one goes on. (docs/decisions/rotation.md)
 */
import { Array as Arr, DateTime, Duration, Effect, Option, Order, Predicate, type Redacted } from "effect"
import {
  type ApiKey,
  type ApiKeyPayload,
  beforeWriting,
  CredentialNotFound,
  type CredentialOperations,
  CredentialsService,
  type LastManagingKey,
  type NameTaken,
  ServiceError,
  sometimes,
  type SmtpCredentials,
  type SmtpCredentialsPayload,
  InvalidInput
} from "@roster/domain"
import { fnRedacted, formatWireDate, KnownFields } from "@roster/domain/internal"
import {
  copyApiKey,
  type CopyOptions,
  copySmtp,
  createWithRetry,
  type Credential,
  type CredentialPayload,
  lastMoment,
  retryUntilConfirmed
} from "./CredentialCreation.ts"
import {
  apiKeySuccessor,
  endOfSmtpDay,
  isReplacedApiKey,
  replacedApiKey,
  smtpOrigin,
  smtpSuccessor
} from "./RotationNames.ts"
import {
  NotReplaced,
  type ReplacedCredential,
  type Rotated,
  type RotationOptions,
  RotationRefused
} from "./RotationOptions.ts"

/** What only the answer to a creation has. */
export interface Secret {
  /** The secret. */
  readonly token: Redacted.Redacted<string>
}

/** What an update of either kind may give. */
interface Changes {
  readonly name?: string | undefined
  readonly expires?: DateTime.Utc | null | undefined
  readonly subaccount?: string | undefined
}

/** The credentials that the rotation of a name is about. */
interface Family<C> {
  /** The one whose rights and lifetime a successor gets. */
  readonly current: C | undefined
  /** Those that a successor replaces. */
  readonly inUse: ReadonlyArray<C>
  /** The last successor, with which a rotation may be at work, and when it was made at the latest. */
  readonly begun: C | undefined
  readonly begunAt: DateTime.Utc | undefined
  /** Those that rotations have left. */
  readonly replaced: ReadonlyArray<C>
}

/** The differences between API keys and SMTP credentials. */
interface RotationKind<C extends Credential, P extends CredentialPayload> {
  /** The name of the public function. */
  readonly span: string
  readonly operations: (
    service: CredentialsService["Service"]
  ) => CredentialOperations<C, C & Secret, P, LastManagingKey, Changes>
  /** The payload of a credential of another name with the same rights and limits. */
  readonly copy: (credential: C, options: CopyOptions) => Effect.Effect<P, RotationRefused>
  readonly familyOf: (name: string, all: ReadonlyArray<C>) => Family<C>
  /** The name of a successor that is made on a day; `undefined` if there is no room for one. */
  readonly successor: (name: string, day: DateTime.Utc, all: ReadonlyArray<C>) => string | undefined
  /** The name of a replaced one; absent where programs log in with the name, so that it stays. */
  readonly replaced?: ((name: string, ends: DateTime.Utc, number: number) => string) | undefined
}

/** A successor belongs to the run that made it for the longer time, and that run leaves it after the shorter one. */
const ownedFor = Duration.minutes(15)
const deliveredWithin = Duration.minutes(10)

/** Longer graces are cut. */
const longestGrace = Duration.days(36_500)

const hasEnded = ({ expires }: Credential, now: DateTime.Utc): boolean =>
  expires != null && DateTime.isLessThanOrEqualTo(expires, now)

/** Whether a credential may be the one that was made, and not a later one of the same name. */
const isSame = ({ dateCreated }: Credential, made: Credential): boolean =>
  dateCreated === undefined || made.dateCreated === undefined || DateTime.Equivalence(dateCreated, made.dateCreated)

/** When a credential ends that is to work for some time still, in whole seconds: at its own end if that is earlier. */
const endAfter = ({ expires }: Credential, now: DateTime.Utc, time: Duration.Duration): DateTime.Utc => {
  const end = DateTime.min(lastMoment, DateTime.addDuration(now, Duration.min(longestGrace, time)))
  return DateTime.startOf(expires == null ? end : DateTime.min(expires, end), "second")
}

/** The first of numbered names that none has. Two runs that see the same choose the same, and the service refuses one. */
const firstFree = <Name extends string | undefined>(
  all: ReadonlyArray<Credential>,
  nameOf: (number: number) => Name
): Name => {
  const taken = new Set<string | undefined>(all.map(({ name }) => name))
  let number = 1
  while (taken.has(nameOf(number))) number++
  return nameOf(number)
}

/** A rotation may be at work with this successor, which is left alone. */
const atWork = (name: string, successor: string, until: DateTime.Utc | undefined): RotationRefused => {
  const issue =
    until === undefined
      ? `another rotation may be at work with "${successor}", and the service does not say when that was made. If none is, ` +
        `give "${successor}" another name, and rotate again.`
      : `another rotation is at work with "${successor}", or was stopped. Rotate again after ${formatWireDate(until)}.`
  return new RotationRefused({ name, issue })
}

/** Whether the service refuses the caller's own key, which a rotation has narrowed. */
const isRefusedKey = (error: { readonly _tag: string }): error is ServiceError =>
  error instanceof ServiceError && ["Unauthorized", "AccessDenied", "ExceedsGrantor"].includes(error.reason._tag)

const done = (name: string, old: ReadonlyArray<ReplacedCredential>, isResumed = false): Rotated => ({
  name,
  old,
  isResumed
})

const optionFields = KnownFields.fieldsOf<RotationOptions<unknown>>("a rotation", {
  subaccount: true,
  deliver: true,
  verify: true,
  grace: true,
  expires: true,
  withNewKey: true
})

const rotationOf = <C extends Credential, P extends CredentialPayload>(kind: RotationKind<C, P>) =>
  fnRedacted(kind.span)(function* <E = never, R = never>(name: string, options: RotationOptions<C & Secret, E, R>) {
    yield* KnownFields.checkFields(optionFields, options)
    const { deliver, expires, subaccount, verify, withNewKey } = options
    // A new secret that nobody keeps would be in the way of the next run.
    if (!Predicate.isFunction(deliver)) {
      return yield* new InvalidInput({ field: "deliver", issue: "it is the function that keeps the new secret" })
    }
    const grace = Option.getOrUndefined(Duration.fromInput(options.grace ?? "1 day"))
    if (grace === undefined) {
      return yield* new InvalidInput({ field: "grace", issue: 'it is a duration, such as "7 days"' })
    }
    const service = yield* CredentialsService
    const operations = kind.operations(service)

    /** The credentials of the account without the one that this run made, and the time of the answer by the service's clock. */
    const look = Effect.fnUntraced(function* (made?: C) {
      const all = yield* operations.list({ subaccount })
      const now = (yield* service.serviceTime ?? Effect.undefined) ?? (yield* DateTime.now)
      const isThere = made !== undefined && all.some((one) => one.name === made.name && isSame(one, made))
      const others = all.filter((one) => one.name !== made?.name)
      return { ...kind.familyOf(name, others), all, now, isThere }
    })
    type Look = Effect.Success<ReturnType<typeof look>>

    const stillWorking = ({ inUse, now, replaced }: Look) =>
      replaced
        .filter((one) => !hasEnded(one, now) && !inUse.includes(one))
        .map((one): ReplacedCredential => ({ name: one.name, expires: one.expires ?? null }))

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

    const endAt = (credential: string, ends: DateTime.Utc) =>
      retryUntilConfirmed(
        Effect.asVoid(operations.update(credential, { expires: ends, subaccount })),
        Effect.succeed(false)
      )

    /** Gives one that was replaced its end, and the name that says so. One that has come to its end is deleted. */
    const putAway = Effect.fnUntraced(function* ({ all, now }: Look, credential: C, time: Duration.Duration) {
      const ends = endAfter(credential, now, time)
      if (DateTime.isLessThanOrEqualTo(ends, now)) return yield* Effect.as(remove(credential.name), [])
      const { replaced } = kind
      if (replaced === undefined) {
        yield* endAt(credential.name, ends)
        return [{ name: credential.name, expires: ends }]
      }
      const kept = firstFree(all, (number) => replaced(name, ends, number))
      const update = operations.update(credential.name, { name: kept, expires: ends, subaccount })
      yield* retryUntilConfirmed(Effect.asVoid(update), isThere(kept))
      return [{ name: kept, expires: ends }]
    })

    /** Gives a successor the name, unless another run has just done so. */
    const renamedBy = ({ get, update }: typeof operations, successor: C) => {
      const isDone = beforeWriting(get(name, { subaccount })).pipe(
        Effect.map((found) => isSame(found, successor)),
        Effect.catchTag("CredentialNotFound", () => Effect.succeed(false))
      )
      const unlessDone = (error: CredentialNotFound | NameTaken) =>
        Effect.flatMap(isDone, (done) => (done ? Effect.void : Effect.fail(error)))
      return retryUntilConfirmed(Effect.asVoid(update(successor.name, { name, subaccount })), isDone).pipe(
        Effect.catchTags({ CredentialNotFound: unlessDone, NameTaken: unlessDone })
      )
    }

    const before = yield* look()
    const { begun, begunAt, current, now } = before
    if (current === undefined) {
      if (begun === undefined) return yield* new CredentialNotFound({ name })
      yield* sometimes("a rotation finishes what another one began")
      yield* renamedBy(operations, begun)
      return done(name, stillWorking(before), true)
    }
    if (begun !== undefined && !hasEnded(begun, now)) {
      const until = begunAt === undefined ? undefined : DateTime.addDuration(begunAt, ownedFor)
      if (until === undefined || DateTime.isGreaterThan(until, now)) return yield* atWork(name, begun.name, until)
    }
    const successor = kind.successor(name, now, before.all)
    if (successor === undefined) {
      const issue = "its part before the @ has no room for a date. Make another one under a shorter name."
      return yield* new RotationRefused({ name, issue })
    }
    const overtaken = () => Effect.fail(atWork(name, successor, DateTime.addDuration(now, ownedFor)))
    const payload = yield* kind.copy(current, { name: successor, subaccount, expires, now })
    for (const one of before.replaced.filter((one) => hasEnded(one, now))) yield* remove(one.name)
    // Programs may have the secret of a stopped run, so it works at least until they have the new one.
    const kept = Duration.max(grace, ownedFor)
    if (begun?.name === successor) {
      yield* sometimes("a successor of a stopped rotation is not yet put away")
      yield* Effect.catchTags(putAway(before, begun, kept), {
        CredentialNotFound: () => Effect.void,
        NameTaken: overtaken
      })
    }
    const began = yield* DateTime.now
    const made = yield* Effect.catchTag(createWithRetry(operations, payload), "NameTaken", overtaken)
    yield* sometimes("a successor is made and not yet delivered")

    const takeBack = Effect.flatMap(look(made), ({ isThere }) => (isThere ? remove(successor) : Effect.void))
    const given = kind.replaced === undefined ? made : { ...made, name }
    yield* deliver(given).pipe(Effect.tapError(() => Effect.ignore(takeBack)))
    yield* sometimes("a secret is delivered and the old one not yet replaced")

    const notReplaced = Effect.fnUntraced(function* (detail: string) {
      const expires = yield* look(made).pipe(
        Effect.filterOrFail(({ isThere }) => isThere),
        Effect.map(({ now }) => endAfter(made, now, kept)),
        Effect.tap((ends) => endAt(successor, ends)),
        Effect.orElseSucceed(() => undefined)
      )
      return yield* new NotReplaced({ name, successor, detail, ...(expires === undefined ? {} : { expires }) })
    })
    if (verify !== undefined) {
      yield* Effect.catch(verify(given), ({ message }) => notReplaced(`its verification failed (${message}).`))
    }

    const then = yield* look(made)
    const old = stillWorking(then)
    const { dateCreated } = made
    if (!then.isThere) {
      // Another run may have finished this one.
      const { current: holder } = then
      const isDone =
        holder !== undefined && dateCreated !== undefined && isSame(holder, made) && !isSame(holder, current)
      return isDone ? done(name, old) : yield* new CredentialNotFound({ name: successor })
    }
    const latest = DateTime.addDuration(began, deliveredWithin)
    if (DateTime.isGreaterThan(yield* DateTime.now, latest)) {
      return yield* notReplaced(`that took longer than ${Duration.format(deliveredWithin)}.`)
    }
    for (const one of then.inUse) {
      const replaced = yield* putAway(then, one, grace).pipe(
        Effect.catchTags({
          CredentialNotFound: () => Effect.succeed([]),
          LastManagingKey: ({ message }) => notReplaced(message)
        })
      )
      old.push(...replaced)
    }
    if (kind.replaced === undefined) return done(successor, old)
    yield* sometimes("an old credential is replaced and its name is free")
    yield* renamedBy(operations, made).pipe(
      Effect.catchIf(isRefusedKey, (error) =>
        (withNewKey?.(made.token) ?? Effect.undefined).pipe(
          Effect.flatMap((by) =>
            by === undefined ? Effect.fail(error) : renamedBy(kind.operations(by.credentials), made)
          )
        )
      )
    )
    return done(name, old)
  })

const apiKeys = rotationOf<ApiKey, ApiKeyPayload>({
  span: "rotateApiKey",
  operations: (service) => service.apiKeys,
  copy: copyApiKey,
  familyOf: (name, all) => {
    const current = all.find((key) => key.name === name)
    const begun = all.find((key) => key.name === apiKeySuccessor(name))
    return {
      current,
      inUse: current === undefined ? [] : [current],
      begun,
      begunAt: begun?.dateCreated,
      replaced: all.filter((key) => isReplacedApiKey(key.name, name))
    }
  },
  successor: apiKeySuccessor,
  replaced: replacedApiKey
})

const endOf = ({ expires }: Credential): number => (expires == null ? Infinity : DateTime.toEpochMillis(expires))

/** When a rotation made a login, at the latest; `undefined` if none did. */
const madeAt = ({ dateCreated, name }: SmtpCredentials): DateTime.Utc | undefined => {
  const day = endOfSmtpDay(name)
  return day === undefined ? undefined : (dateCreated ?? day)
}

const byAge = Order.mapInput(Order.Number, (login: SmtpCredentials) => madeAt(login)?.epochMilliseconds ?? -Infinity)

const smtp = rotationOf<SmtpCredentials, SmtpCredentialsPayload>({
  span: "rotateSmtp",
  operations: (service) => service.smtp,
  copy: copySmtp,
  familyOf: (name, all) => {
    const origin = smtpOrigin(name)
    const family = Arr.sort(
      all.filter((login) => smtpOrigin(login.name) === origin),
      byAge
    )
    const begun = family.findLast((login) => madeAt(login) !== undefined)
    // A successor of a stopped run may be in use, too: the one that works longest is, the newest of several.
    const longest = Math.max(...family.map(endOf))
    const inUse = family.filter((login) => endOf(login) === longest)
    const current = inUse.at(-1)
    return {
      current,
      inUse,
      begun,
      begunAt: begun && madeAt(begun),
      replaced: family.filter((login) => login !== current)
    }
  },
  successor: (name, day, all) => firstFree(all, (number) => smtpSuccessor(name, day, number))
})

/**
 * Gives an API key a new secret. The key of that name has it from then on; the old secret works for the grace, in a key of
 * another name that says when it ends. Fails with `RotationRefused` before anything is made if another rotation is at work or
 * no successor can have the same rights and limits, and with `NotReplaced` if the new secret does not pass its verification.
 *
 * ```ts
 * import { rotateApiKey } from "@roster/workflows"
 * import { Console, Redacted } from "effect"
 *
 * export const example = rotateApiKey("nightly", {
 *   deliver: ({ token }) => Console.error(`a secret of ${Redacted.value(token).length} characters`),
 *   grace: "7 days"
 * })
 * ```
 */
export const rotateApiKey = apiKeys

/**
 * Gives SMTP credentials a new secret like `rotateApiKey`, under a new name with the day, since the name is the login: that of
 * the newest successor, if the given one has any.
 *
 * ```ts
 * import { rotateSmtp } from "@roster/workflows"
 * import { Console, Redacted } from "effect"
 *
 * export const example = rotateSmtp("mailer@example.com", {
 *   deliver: ({ token }) => Console.error(`a password of ${Redacted.value(token).length} characters`),
 *   grace: "7 days"
 * })
 * ```
 */
export const rotateSmtp = smtp
