import { assert, layer } from "@effect/vitest"
import {
  CredentialName,
  CredentialsService,
  EmailAddress,
  formatWireDate,
  ServiceError,
  RateLimited,
  Unauthorized,
  Unavailable
} from "@roster/domain"
import { planApiKeyRotation, planSmtpRotation, rotateApiKey, RunLog } from "@roster/workflows"
import { Cause, DateTime, Duration, Effect, Exit, Fiber, Redacted, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { layerMemory, refused } from "../../src/index.ts"
import { lifetimeOf, makeTrial, passing, succeeded, tagOf } from "./Trial.ts"

/** The successor of a rotation that an earlier version began. */
const former = CredentialName.make("ci~next")

const successorName = /^ci~next-[0-9a-f]{8}$/

const failing = (reason: ServiceError["reason"]) => new ServiceError({ operation: "securityApikeysGet", reason })

class NobodyThere extends Schema.TaggedError<NobodyThere>()("NobodyThere", {}) {}

/** Runs something while a credential is used every minute. */
const whileUsed = Effect.fnUntraced(function* <A, E, R>(use: Effect.Effect<void>, effect: Effect.Effect<A, E, R>) {
  const using = yield* Effect.forkChild(Effect.repeat(use, Schedule.spaced("1 minute")))
  const result = yield* effect
  yield* Fiber.interrupt(using)
  return result
})

layer(layerMemory)("rotating an API key", (it) => {
  it.effect("tells each step, and changes the secret and nothing else", () =>
    Effect.gen(function* () {
      const { ci, delivered, keys, makeKey, rotate, secrets, steps } = yield* makeTrial
      const { token, ...old } = yield* makeKey
      assert.deepStrictEqual(succeeded(yield* rotate()), { name: "ci", isResumed: false })
      assert.deepStrictEqual(
        steps.map(({ _tag }) => _tag),
        ["Made", "Delivered", "Waiting", "Deleted", "Renamed"]
      )
      const [key] = yield* keys
      assert.deepStrictEqual(
        { ...key, dateCreated: undefined, expires: undefined },
        { ...old, dateCreated: undefined, expires: undefined }
      )
      assert.strictEqual(lifetimeOf(key), lifetimeOf(old))
      assert.deepStrictEqual(
        delivered.map(({ secret }) => secret),
        [secrets.secretOf(ci)]
      )
      assert.match(delivered[0]?.name ?? "", successorName)
      assert.notStrictEqual(secrets.secretOf(ci), Redacted.value(token))
    })
  )

  it.effect("keeps both while the old one is used, and continues when it is not", () =>
    Effect.gen(function* () {
      const { ci, delivered, keys, makeKey, rotate, secrets, steps } = yield* makeTrial
      yield* makeKey
      const inUse = yield* whileUsed(secrets.use(ci), rotate())
      assert.strictEqual(tagOf(inUse), "StillInUse")
      assert.strictEqual((yield* keys).length, 2)
      assert.include(
        steps.map(({ _tag }) => _tag),
        "StillUsed"
      )
      steps.length = 0
      assert.deepStrictEqual(succeeded(yield* rotate()), { name: "ci", isResumed: true })
      assert.deepStrictEqual(
        steps.map(({ _tag }) => _tag),
        ["Resumed", "Waiting", "Deleted", "Renamed"]
      )
      assert.strictEqual(delivered.length, 1)
      assert.strictEqual((yield* keys).length, 1)
    })
  )

  it.effect("waits the whole idle time after the last use", () =>
    Effect.gen(function* () {
      const { ci, makeKey, options, rotate, secrets } = yield* makeTrial
      yield* makeKey
      let usedAt = 0
      let deletedAt = 0
      let looks = 0
      const now = Effect.map(DateTime.now, DateTime.toEpochMillis)
      const result = yield* rotate(
        {
          idle: "5 minutes",
          onStep: (step) =>
            Effect.gen(function* () {
              yield* options.onStep(step)
              if (step._tag === "Deleted") deletedAt = yield* now
            })
        },
        {
          ...secrets.service,
          apiKeys: {
            ...secrets.service.apiKeys,
            // Used before the wait, and between its third look and the fourth.
            list: (of) =>
              Effect.gen(function* () {
                const look = looks++
                if (look === 1 || look === 4) {
                  yield* secrets.use(ci)
                  usedAt = yield* now
                }
                return yield* secrets.service.apiKeys.list(of)
              })
          }
        }
      )
      succeeded(result)
      assert.isAbove(usedAt, 0)
      assert.strictEqual(Math.min(looks, 5), 5)
      assert.isAtLeast(deletedAt - usedAt, 5 * 60_000)
    })
  )

  it.effect("waits no longer than a minute for one that was never used", () =>
    Effect.gen(function* () {
      const { makeKey, options, rotate } = yield* makeTrial
      yield* makeKey
      const now = Effect.map(DateTime.now, DateTime.toEpochMillis)
      const times = new Map<string, number>()
      const onStep: typeof options.onStep = (step) => Effect.map(now, (time) => void times.set(step._tag, time))
      succeeded(yield* rotate({ idle: "10 minutes", onStep }))
      const waited = (times.get("Deleted") ?? 0) - (times.get("Waiting") ?? 0)
      assert.isAtLeast(waited, 60_000)
      assert.isBelow(waited, 3 * 60_000)
    })
  )

  it.effect.each([
    ["1 minute", "1 hour"],
    ["2 minutes", "2 minutes"],
    ["0 seconds", "1 hour"]
  ] as const)("does not keep a key that nobody ever used: after %s of grace, with a idle time of %s", ([grace, idle]) =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate, steps } = yield* makeTrial
      yield* makeKey
      assert.deepStrictEqual(succeeded(yield* rotate({ grace, idle })), { name: "ci", isResumed: false })
      assert.strictEqual((yield* keys).length, 1)
      assert.strictEqual(steps.at(-1)?._tag, "Renamed")
    })
  )

  it.effect("looks once more at the end of the grace: what has been quiet for long enough by then goes", () =>
    Effect.gen(function* () {
      const { ci, keys, makeKey, rotate, secrets } = yield* makeTrial
      yield* makeKey
      yield* secrets.use(ci)
      // The schedule looks at 0 and 7 minutes.
      const rarely = { schedule: Schedule.spaced("7 minutes"), grace: "10 minutes", idle: "9 minutes" } as const
      assert.deepStrictEqual(succeeded(yield* rotate(rarely)), { name: "ci", isResumed: false })
      assert.strictEqual((yield* keys).length, 1)
    })
  )

  it.effect(
    "keeps a key that was used at all where the grace is shorter than the idle time, and says when it was used",
    () =>
      Effect.gen(function* () {
        const { ci, keys, makeKey, rotate, secrets, subaccount } = yield* makeTrial
        yield* makeKey
        yield* secrets.use(ci)
        const used = (yield* secrets.service.apiKeys.list({ subaccount }))[0]?.lastUse
        assert.isNotNull(used ?? null)
        const kept = yield* rotate({ grace: "5 minutes", idle: "1 hour" })
        assert.strictEqual(tagOf(kept), "StillInUse")
        const said = Exit.isFailure(kept) ? kept.cause.reasons.find(Cause.isFailReason)?.error : undefined
        assert.deepStrictEqual(said?._tag === "StillInUse" ? said.lastUse : undefined, used)
        assert.strictEqual((yield* keys).length, 2)
      })
  )

  it.effect("looks for room before it makes anything", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate, steps, store, subaccount } = yield* makeTrial
      yield* makeKey
      for (let i = 1; i < 15; i++) {
        yield* store.apiKeys.create({ name: CredentialName.make(`k${i}`), accessLevels: ["Export"], subaccount })
      }
      const before = yield* keys
      assert.strictEqual(before.length, 15)
      assert.strictEqual(tagOf(yield* rotate()), "TooManyCredentials")
      assert.deepStrictEqual(yield* keys, before)
      assert.deepStrictEqual(steps, [])
      // An undelivered successor of an earlier run makes room itself.
      yield* store.apiKeys.delete("k1", { subaccount })
      assert.isTrue(Exit.isFailure(yield* rotate({ deliver: () => Effect.die("killed") })))
      assert.strictEqual((yield* keys).length, 15)
      succeeded(yield* rotate())
      assert.strictEqual((yield* keys).length, 14)
    })
  )

  it.effect("refuses a key that is not there", () =>
    Effect.gen(function* () {
      const { makeSmtp, rotate } = yield* makeTrial
      yield* makeSmtp
      assert.strictEqual(tagOf(yield* rotate()), "CredentialNotFound")
    })
  )

  it.effect("refuses credentials without a possible successor: expired, or with unknown levels or ranges", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate, secrets } = yield* makeTrial
      yield* makeKey
      const changed = (change: object): CredentialsService["Service"] => ({
        ...secrets.service,
        apiKeys: {
          ...secrets.service.apiKeys,
          list: (of) => Effect.map(secrets.service.apiKeys.list(of), (all) => all.map((key) => ({ ...key, ...change })))
        }
      })
      for (const change of [{ accessLevels: ["ViewContacts", "ViewTomorrow"] }, { ipRanges: ["the office"] }]) {
        assert.strictEqual(tagOf(yield* rotate({}, changed(change))), "RotationRefused", JSON.stringify(change))
      }
      assert.strictEqual((yield* keys).length, 1)
    })
  )

  it.effect("voids a secret that could not be delivered, and changes nothing", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate } = yield* makeTrial
      const { token: _, ...old } = yield* makeKey
      assert.strictEqual(tagOf(yield* rotate({ deliver: () => Effect.fail(new NobodyThere({})) })), "NobodyThere")
      assert.deepStrictEqual(yield* keys, [old])
    })
  )

  it.effect("keeps a successor that was used, whoever made it, and takes none for its own that never was", () =>
    Effect.gen(function* () {
      const { ci, delivered, keys, makeKey, rotate, secrets, steps, store, subaccount } = yield* makeTrial
      yield* makeKey
      const name = CredentialName.make("ci~next-7f3a90c1")
      const other = yield* store.apiKeys.create({ name, accessLevels: ["Export"], subaccount })
      secrets.adopt(name, other.token)
      yield* secrets.use(name)
      assert.isTrue(succeeded(yield* rotate()).isResumed)
      assert.strictEqual(secrets.secretOf(ci), Redacted.value(other.token))
      assert.deepStrictEqual(delivered, [])

      for (const unused of [former, name]) {
        steps.length = 0
        yield* store.apiKeys.create({ name: unused, accessLevels: ["Export"], subaccount })
        const before = yield* keys
        const refused = yield* rotate()
        assert.strictEqual(tagOf(refused), "RotationRefused")
        assert.include(Exit.isFailure(refused) ? String(refused.cause) : "", `"${unused}"`)
        assert.deepStrictEqual([yield* keys, steps], [before, []])
        yield* store.apiKeys.delete(unused, { subaccount })
      }
    })
  )

  it.effect("believes no record of another successor, or of another key", () =>
    Effect.gen(function* () {
      const { delivered, keys, makeKey, remember, rotate, store, subaccount } = yield* makeTrial
      yield* makeKey
      yield* store.apiKeys.create({ name: former, accessLevels: ["Export"], subaccount })
      const before = yield* keys
      const created = "2001-01-01 00:00:00"
      for (const phase of ["Started", "Delivered", "Retired"] as const) {
        yield* remember({ successor: former, phase, created })
        assert.strictEqual(tagOf(yield* rotate()), "RotationRefused")
      }
      assert.deepStrictEqual([yield* keys, delivered], [before, []])
    })
  )

  it.effect("takes no name that was taken in the meantime", () =>
    Effect.gen(function* () {
      const { keys, makeKey, remember, rotate, store, subaccount } = yield* makeTrial
      yield* makeKey
      const { dateCreated } = yield* store.apiKeys.create({ name: former, accessLevels: ["Export"], subaccount })
      assert.isDefined(dateCreated)
      yield* remember({
        successor: former,
        phase: "Retired",
        ...(dateCreated === undefined ? {} : { created: formatWireDate(dateCreated) })
      })
      assert.strictEqual(tagOf(yield* rotate()), "NameTaken")
      assert.strictEqual((yield* keys).length, 2)
    })
  )

  it.effect("keeps the old one where the successor is gone meanwhile", () =>
    Effect.gen(function* () {
      const { delivered, keys, makeKey, options, rotate, store, subaccount } = yield* makeTrial
      yield* makeKey
      const result = yield* rotate({
        onStep: (step) =>
          Effect.andThen(
            options.onStep(step),
            step._tag === "Waiting"
              ? Effect.orDie(store.apiKeys.delete(delivered[0]?.name ?? "", { subaccount }))
              : Effect.void
          )
      })
      assert.strictEqual(tagOf(result), "CredentialNotFound")
      assert.deepStrictEqual(
        (yield* keys).map(({ name }) => name),
        ["ci"]
      )
    })
  )

  it.effect("keeps polling while the service is away, but not if it refuses the key", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate, secrets, steps } = yield* makeTrial
      yield* makeKey
      /** The looks that are answered so. The first two lists, where to begin and for rivals, are none. */
      const answering = (from: number, to: number, reason: ServiceError["reason"]): CredentialsService["Service"] => {
        let lists = 0
        return {
          ...secrets.service,
          apiKeys: {
            ...secrets.service.apiKeys,
            list: (of) =>
              Effect.suspend(() => {
                const look = lists++
                return look >= from && look < to ? Effect.fail(failing(reason)) : secrets.service.apiKeys.list(of)
              })
          }
        }
      }
      const away = new Unavailable({ detail: "away" })
      const gone = yield* rotate({}, answering(2, Infinity, away))
      assert.strictEqual(tagOf(gone), "ServiceError")
      assert.isAbove(steps.filter(({ _tag }) => _tag === "Unanswered").length, 50)
      const before = yield* DateTime.now
      assert.strictEqual(tagOf(yield* rotate({}, answering(2, Infinity, new Unauthorized({})))), "ServiceError")
      assert.isBelow(DateTime.toEpochMillis(yield* DateTime.now) - DateTime.toEpochMillis(before), 10 * 60_000)
      assert.strictEqual((yield* keys).length, 2)
      succeeded(yield* rotate({}, answering(1, 20, away)))
    })
  )

  it.effect("does not look again before the service allows it", () =>
    Effect.gen(function* () {
      const { makeKey, rotate, secrets, steps } = yield* makeTrial
      yield* makeKey
      const { apiKeys } = secrets.service
      let looks = 0
      const asked: Array<number> = []
      const throttled: CredentialsService["Service"] = {
        ...secrets.service,
        apiKeys: {
          ...apiKeys,
          // The first two are for where to begin and for rivals.
          list: (of) =>
            Effect.gen(function* () {
              const look = looks++
              if (look === 3) asked.push(DateTime.toEpochMillis(yield* DateTime.now))
              if (look !== 2) return yield* apiKeys.list(of)
              // The call itself waits and asks again before it fails.
              yield* Effect.sleep("100 seconds")
              asked.push(DateTime.toEpochMillis(yield* DateTime.now))
              return yield* failing(new RateLimited({ retryAfter: 1800 }))
            })
        }
      }
      succeeded(yield* rotate({}, throttled))
      assert.strictEqual(steps.filter(({ _tag }) => _tag === "Unanswered").length, 1)
      const [refused = 0, next = 0] = asked
      assert.isAtLeast(next - refused, 1_800_000)
    })
  )

  it.effect("rotates the key that it works with itself, where the new one can do the rest", () =>
    Effect.gen(function* () {
      const { ci, keys, rotate, secrets, store, subaccount } = yield* makeTrial
      const accessLevels = ["Security", "ModifyAccessTokens"] as const
      const made = yield* store.apiKeys.create({ name: ci, accessLevels, subaccount })
      secrets.adopt(ci, made.token)
      const { apiKeys } = secrets.service
      /** Every look uses the key that it looks with, until that is gone. */
      const byOld: CredentialsService["Service"] = {
        ...secrets.service,
        apiKeys: { ...apiKeys, list: (of) => Effect.andThen(secrets.use(ci), apiKeys.list(of)) }
      }
      assert.strictEqual(tagOf(yield* rotate({}, byOld)), "StillInUse")
      const asked: Array<string | undefined> = []
      const switchToNewKey = (secret: Redacted.Redacted<string> | undefined) =>
        Effect.sync(() => {
          asked.push(secret && Redacted.value(secret))
          return { credentials: secrets.service }
        })
      // A later run has the secret no more: who wrote it down has to know.
      succeeded(yield* rotate({ switchToNewKey }, byOld))
      assert.deepStrictEqual(asked, [undefined])
      succeeded(yield* rotate({ switchToNewKey }, byOld))
      assert.deepStrictEqual(asked, [undefined, secrets.secretOf(ci)])
      // One where the new key is refused is not gone on with.
      const refusing = {
        ...secrets.service,
        apiKeys: { ...apiKeys, list: () => Effect.fail(failing(new Unauthorized({}))) }
      }
      assert.strictEqual(
        tagOf(yield* rotate({ switchToNewKey: () => Effect.succeed({ credentials: refusing }) }, byOld)),
        "StillInUse"
      )
      assert.strictEqual((yield* keys).length, 2)
    })
  )

  it.effect("gives the new secret the lifetime that the old one was made with, from now", () =>
    Effect.gen(function* () {
      const { ci, keys, rotate, secrets, store, subaccount } = yield* makeTrial
      const expires = DateTime.add(yield* DateTime.now, { days: 90 })
      const made = yield* store.apiKeys.create({ name: ci, accessLevels: ["Export"], subaccount, expires })
      secrets.adopt(ci, made.token)
      yield* TestClock.adjust("80 days")
      const began = yield* DateTime.now
      succeeded(yield* rotate())
      const ends = (yield* keys)[0]?.expires
      assert.isTrue(ends != null && DateTime.isGreaterThanOrEqualTo(ends, DateTime.add(began, { days: 90 })))
      assert.strictEqual(lifetimeOf((yield* keys)[0]), 90 * 24 * 60)
      // An expired key gets a new life, too.
      yield* TestClock.adjust("100 days")
      succeeded(yield* rotate())
      assert.strictEqual(lifetimeOf((yield* keys)[0]), 90 * 24 * 60)

      succeeded(yield* rotate({ expires: Duration.days(7) }))
      assert.strictEqual(lifetimeOf((yield* keys)[0]), 7 * 24 * 60)
      const date = DateTime.makeUnsafe("2050-01-01T00:00:00Z")
      succeeded(yield* rotate({ expires: date }))
      assert.deepStrictEqual((yield* keys)[0]?.expires, date)
      assert.strictEqual(tagOf(yield* rotate({ expires: yield* DateTime.now })), "RotationRefused")
      for (const days of [3_000_000, 99_999_999, 1e12, Number.POSITIVE_INFINITY]) {
        assert.strictEqual(tagOf(yield* rotate({ expires: Duration.days(days) })), "RotationRefused")
      }
      // A lifetime that leads out of the calendar.
      const last = DateTime.makeUnsafe("9999-12-31T23:59:59Z")
      succeeded(yield* rotate({ expires: last }))
      yield* TestClock.adjust("80 days")
      succeeded(yield* rotate())
      assert.deepStrictEqual((yield* keys)[0]?.expires, last)
      for (const none of [null, undefined]) {
        succeeded(yield* rotate({ expires: none }))
        assert.isNull((yield* keys)[0]?.expires ?? null)
      }
    })
  )

  it.effect("resumes with the destination that the secret went to, and refuses another one", () =>
    Effect.gen(function* () {
      const { ci, delivered, keys, makeKey, options, rotate, secrets, store, subaccount } = yield* makeTrial
      yield* makeKey
      for (const deliver of [options.deliver, () => Effect.die("killed in the delivery")]) {
        const before = delivered.length
        yield* whileUsed(secrets.use(ci), rotate({ destination: "vault", deliver }))
        assert.strictEqual((yield* keys).length, 2)
        const other = yield* rotate({ destination: "file" })
        assert.strictEqual(tagOf(other), "RotationRefused")
        assert.include(Exit.isFailure(other) ? String(other.cause) : "", "vault")
        assert.strictEqual((yield* keys).length, 2)
        succeeded(yield* rotate({ destination: "vault" }))
        assert.strictEqual(delivered.length, before + 1)
        assert.strictEqual(secrets.secretOf(ci), delivered.at(-1)?.secret)
      }
      // Without the successor there is no secret that would be lost.
      yield* whileUsed(secrets.use(ci), rotate({ destination: "vault" }))
      yield* store.apiKeys.delete(delivered.at(-1)?.name ?? "", { subaccount })
      assert.isFalse(succeeded(yield* rotate({ destination: "file" })).isResumed)
    })
  )

  it.effect("keeps a secret whose delivery a kill left open, if it is used before long", () =>
    Effect.gen(function* () {
      const { ci, delivered, makeKey, options, rotate, secrets } = yield* makeTrial
      yield* makeKey
      const killed = yield* rotate({
        deliver: (made) => Effect.andThen(options.deliver(made), Effect.die("killed before it was told"))
      })
      assert.isTrue(Exit.isFailure(killed))
      const [given] = delivered
      const resumed = yield* rotate({
        onStep: (step) => (step._tag === "Waiting" && step.name === given?.name ? secrets.use(step.name) : Effect.void)
      })
      assert.isTrue(succeeded(resumed).isResumed)
      assert.strictEqual(secrets.secretOf(ci), given?.secret)
      assert.strictEqual(delivered.length, 1)
    })
  )

  it.effect("is one of two that begin at once, by logs of their own, and its secret works", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 20; round++) {
        const { ci, keys, makeKey, options, secrets } = yield* makeTrial
        yield* makeKey
        const both = Effect.forEach(
          ["one", "other"],
          () => {
            const delivered: Array<string> = []
            const deliver = ({ token }: { readonly token: Redacted.Redacted<string> }) =>
              Effect.sync(() => {
                secrets.hold(token)
                delivered.push(Redacted.value(token))
              })
            return rotateApiKey(ci, { ...options, deliver }).pipe(
              Effect.provideService(CredentialsService, secrets.service),
              Effect.provide(RunLog.layerMemory()),
              Effect.exit,
              Effect.map((exit) => ({ exit, delivered }))
            )
          },
          { concurrency: "unbounded" }
        )
        const ended = succeeded(yield* passing(both))
        const [done, ...others] = ended.filter(({ exit }) => Exit.isSuccess(exit))
        assert.deepStrictEqual(others, [])
        assert.strictEqual(done?.delivered.at(-1), secrets.secretOf(ci))
        assert.deepStrictEqual(
          ended.flatMap(({ exit }) => tagOf(exit) ?? []),
          ["RotationRefused"]
        )
        assert.deepStrictEqual(
          (yield* keys).map(({ name }) => name),
          ["ci"]
        )
      }
    })
  )

  it.effect("keeps both where another credential took the name of the old one", () =>
    Effect.gen(function* () {
      const { ci, delivered, keys, makeKey, options, rotate, secrets, store, subaccount } = yield* makeTrial
      yield* makeKey
      const replace = Effect.gen(function* () {
        yield* store.apiKeys.delete(ci, { subaccount })
        yield* TestClock.adjust("1 second")
        const { token } = yield* store.apiKeys.create({ name: ci, accessLevels: ["Export"], subaccount })
        secrets.adopt(ci, token)
      })
      const once = yield* Effect.cached(Effect.orDie(replace))
      const onStep: typeof options.onStep = (step) => (step._tag === "Waiting" ? once : Effect.void)
      for (const again of [rotate({ onStep }), rotate()]) {
        assert.strictEqual(tagOf(yield* again), "RotationRefused")
        assert.strictEqual((yield* keys).length, 2)
      }
      assert.strictEqual(delivered.length, 1)
    })
  )

  it.effect("is one at a time", () =>
    Effect.gen(function* () {
      const { makeKey, options, rotate } = yield* makeTrial
      yield* makeKey
      const tags: Array<string | undefined> = []
      succeeded(
        yield* rotate({
          onStep: (step) =>
            Effect.andThen(
              options.onStep(step),
              step._tag === "Waiting" ? Effect.map(rotate(), (other) => void tags.push(tagOf(other))) : Effect.void
            )
        })
      )
      assert.deepStrictEqual(tags, ["RunTaken"])
    })
  )

  it.effect("prints what it would do, and does nothing", () =>
    Effect.gen(function* () {
      const { ci, keys, makeKey, options, provided, remember, store, subaccount } = yield* makeTrial
      yield* makeKey
      const plan = provided(planApiKeyRotation(ci, options))
      assert.deepStrictEqual(yield* plan, { state: "Fresh", successor: undefined })
      yield* store.apiKeys.create({ name: former, accessLevels: ["Export"], subaccount })
      yield* refused(plan, "RotationRefused")
      yield* remember({ successor: former, phase: "Started" })
      assert.deepStrictEqual(yield* plan, { state: "Unproven", successor: former })
      yield* store.apiKeys.delete(ci, { subaccount })
      yield* refused(plan, "CredentialNotFound")
      assert.strictEqual((yield* keys).length, 1)
    })
  )
})

layer(layerMemory)("rotating SMTP credentials", (it) => {
  it.effect("delivers name and secret, under a name of the day, and of the next time that day", () =>
    Effect.gen(function* () {
      const today = DateTime.formatIsoDateUtc(yield* DateTime.now).replaceAll("-", "")
      const { delivered, makeSmtp, rotateSmtp, secrets, shop, smtp } = yield* makeTrial
      const { token: _, ...old } = yield* makeSmtp
      const [, domain] = shop.split("@")
      const dated = new RegExp(`^shop\\+${today}-[0-9a-f]{8}@${domain}$`)
      const { name } = succeeded(yield* rotateSmtp())
      assert.match(name, dated)
      assert.deepStrictEqual(delivered, [{ name, secret: secrets.secretOf(name) ?? "" }])
      const [login, ...others] = yield* smtp
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(
        { ...login, dateCreated: undefined, expires: undefined },
        { ...old, name, dateCreated: undefined, expires: undefined }
      )
      assert.strictEqual(lifetimeOf(login), lifetimeOf(old))
      assert.match(succeeded(yield* rotateSmtp(name)).name, dated)
    })
  )

  it.effect("refuses a login without room for a date", () =>
    Effect.gen(function* () {
      const { makeSmtp, options, provided, rotateSmtp, shop, store, subaccount } = yield* makeTrial
      yield* makeSmtp
      const [, domain] = shop.split("@")
      const long = EmailAddress.make(`${"a".repeat(56)}@${domain}`)
      yield* store.smtp.create({ name: long, subaccount })
      assert.strictEqual(tagOf(yield* rotateSmtp(long)), "RotationRefused")
      yield* refused(provided(planSmtpRotation(long, options)), "RotationRefused")
      assert.isTrue(Exit.isSuccess(yield* passing(store.smtp.get(long, { subaccount }))))
    })
  )
})
