import { assert, layer } from "@effect/vitest"
import {
  type ApiKey,
  CredentialName,
  type CredentialsService,
  EmailAddress,
  ExceedsGrantor,
  LastManagingKey,
  ServiceError
} from "@roster/domain"
import { NotReplaced, RotationRefused } from "@roster/workflows"
import { DateTime, Duration, Effect, Exit, Redacted, Schema, Struct } from "effect"
import { TestClock } from "effect/testing"
import { layerMemory } from "../../src/index.ts"
import { errorOf, lifetimeOf, limits, makeTrial, succeeded, tagOf } from "./Trial.ts"

class NobodyThere extends Schema.TaggedError<NobodyThere>()("NobodyThere", {}) {
  override readonly message = "Nobody was there."
}

const nobodyThere = () => Effect.fail(new NobodyThere({}))

const named = (keys: ReadonlyArray<ApiKey>) => keys.map(({ name }) => name)

const after = (days: number) => Effect.map(DateTime.now, (now) => DateTime.add(now, { days }))

/** A service that changes what another one tells of its API keys. */
const telling = (
  service: CredentialsService["Service"],
  tell: (key: ApiKey) => ApiKey
): CredentialsService["Service"] => {
  const { apiKeys } = service
  const list: typeof apiKeys.list = (of) => Effect.map(apiKeys.list(of), (all) => all.map(tell))
  const create: typeof apiKeys.create = (payload, options) =>
    Effect.map(apiKeys.create(payload, options), (made) => ({ ...made, ...tell(made) }))
  return { ...service, apiKeys: { ...apiKeys, create, list } }
}

/** What a service says that tells neither when a key was made nor its last use. */
const undated = (key: ApiKey): ApiKey => Struct.omit(key, ["dateCreated", "lastUse"])

layer(layerMemory)("rotating an API key", (it) => {
  it.effect("changes the secret and nothing else, and leaves the old one a day under a name that says so", () =>
    Effect.gen(function* () {
      const { ci, delivered, keys, makeKey, rotate, secrets, store, subaccount } = yield* makeTrial
      const { token, ...old } = yield* makeKey()
      const ends = yield* after(1)
      const day = DateTime.formatIsoDateUtc(ends)
      assert.deepStrictEqual(succeeded(yield* rotate()), {
        name: "ci",
        old: [{ name: `ci~old-${day}`, expires: ends }],
        isResumed: false
      })
      const [replaced, key, ...others] = yield* keys
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual({ ...key, dateCreated: undefined, expires: undefined } as object, {
        ...old,
        dateCreated: undefined,
        expires: undefined
      })
      assert.strictEqual(lifetimeOf(key), lifetimeOf(old))
      assert.deepStrictEqual<unknown>(replaced, { ...old, name: `ci~old-${day}`, expires: ends })
      assert.deepStrictEqual(delivered, [{ name: "ci", secret: secrets.secretOf(ci) ?? "" }])
      assert.strictEqual(secrets.secretOf(`ci~old-${day}`), Redacted.value(token))

      // The next one on the same day leaves that one alone.
      assert.deepStrictEqual(
        succeeded(yield* rotate({ grace: "1 day" })).old.map(({ name }) => name),
        [`ci~old-${day}`, `ci~old-${day}.2`]
      )
      // It deletes what has ended, of this key alone.
      const ofAnother = CredentialName.make(`ci-2~old-${day}`)
      yield* store.apiKeys.create({ name: ofAnother, accessLevels: ["Export"], subaccount, expires: yield* after(1) })
      yield* TestClock.adjust("25 hours")
      assert.strictEqual(succeeded(yield* rotate()).old.length, 1)
      assert.deepStrictEqual(
        named(yield* keys).filter((name) => !/^ci(?:~old-.*)?$/.test(name)),
        [ofAnother]
      )
      assert.strictEqual((yield* keys).length, 3)
    })
  )

  it.effect.each([
    ["ends tomorrow", { expires: 1 }, "7 days", 1],
    ["ends next year", { expires: 365 }, "7 days", 7],
    ["never ends", { expires: null }, "90 days", 90],
    ["is to go at once", { expires: null }, "0 seconds", undefined],
    ["has ended", { expires: -1 }, "7 days", undefined]
  ] as const)(
    "leaves the old secret until the grace is over or it ends by itself: one that %s",
    ([, old, grace, days]) =>
      Effect.gen(function* () {
        const { ci, keys, makeKey, rotate, secrets } = yield* makeTrial
        const hasEnded = old.expires === -1
        yield* makeKey({ expires: old.expires === null ? null : yield* after(Math.abs(old.expires)) })
        if (hasEnded) yield* TestClock.adjust("2 days")
        const ends = days === undefined ? undefined : yield* after(days)
        const { old: left } = succeeded(yield* rotate({ grace }))
        assert.deepStrictEqual(
          left.map(({ expires }) => expires),
          ends === undefined ? [] : [ends]
        )
        assert.deepStrictEqual(named(yield* keys), [...left.map(({ name }) => name), "ci"])
        assert.isTrue(secrets.isHeld(ci))
      })
  )

  it.effect("has no room in an account with 15 keys, of which those that have ended are none", () =>
    Effect.gen(function* () {
      const { delivered, keys, makeKey, rotate, store, subaccount } = yield* makeTrial
      yield* makeKey()
      for (let i = 1; i < 15; i++) {
        const expires = i === 1 ? yield* after(1) : null
        yield* store.apiKeys.create({
          name: CredentialName.make(`k${i}`),
          accessLevels: ["Export"],
          subaccount,
          expires
        })
      }
      const before = yield* keys
      assert.strictEqual(before.length, 15)
      assert.strictEqual(tagOf(yield* rotate()), "TooManyCredentials")
      assert.deepStrictEqual([yield* keys, delivered], [before, []])
      yield* TestClock.adjust("25 hours")
      succeeded(yield* rotate())
      assert.strictEqual((yield* keys).length, 16)
    })
  )

  it.effect("refuses a key that is not there, and one that no successor can be like, before anything is made", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate, secrets, store } = yield* makeTrial
      assert.strictEqual(tagOf(yield* rotate({}, store)), "CredentialNotFound")
      yield* makeKey()
      const odd = [{ accessLevels: ["ViewContacts", "ViewTomorrow"] }, { ipRanges: ["the office"] }] as const
      for (const change of odd) {
        // A service of tomorrow has levels and ranges that are unknown today.
        const by = telling(secrets.service, (key) => ({ ...key, ...change }) as ApiKey)
        assert.strictEqual(tagOf(yield* rotate({}, by)), "RotationRefused", JSON.stringify(change))
      }
      assert.strictEqual((yield* keys).length, 1)
    })
  )

  it.effect("takes back what could not be delivered", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate } = yield* makeTrial
      const { token: _, ...old } = yield* makeKey()
      assert.strictEqual(tagOf(yield* rotate({ deliver: nobodyThere })), "NobodyThere")
      assert.deepStrictEqual<unknown>(yield* keys, [old])
      succeeded(yield* rotate())
    })
  )

  it.effect.each(["3 days", "0 seconds"])(
    "deletes nothing if the new secret is not verified: it works for the grace of %s, a quarter of an hour at least",
    (grace) =>
      Effect.gen(function* () {
        const { delivered, keys, makeKey, rotate, secrets } = yield* makeTrial
        const { token: _, ...old } = yield* makeKey()
        const ends = DateTime.addDuration(
          yield* DateTime.now,
          Duration.max(Duration.minutes(15), Duration.fromInputUnsafe(grace as Duration.Input))
        )
        const failed = errorOf(yield* rotate({ grace: grace as Duration.Input, verify: nobodyThere }))
        assert.instanceOf(failed, NotReplaced)
        assert.deepInclude(failed, { name: "ci", successor: "ci~next", expires: ends })
        for (const part of ["Nobody was there.", '"ci" and its secret', '"ci~next"'])
          assert.include(failed.message, part)
        const [kept, next] = yield* keys
        assert.deepStrictEqual<unknown>(kept, old)
        assert.deepInclude(next, { name: "ci~next", expires: ends })
        assert.isTrue(secrets.isLive(delivered[0]?.secret ?? ""))
        // The next run puts it away, or deletes it once it has ended.
        yield* TestClock.adjust("15 minutes")
        const { old: left } = succeeded(yield* rotate())
        assert.strictEqual(left.length, grace === "3 days" ? 2 : 1)
        assert.strictEqual(secrets.isLive(delivered[0]?.secret ?? ""), grace === "3 days")
        assert.strictEqual((yield* keys).length, left.length + 1)
      })
  )

  it.effect("replaces nothing by a secret that took longer than ten minutes to deliver and verify", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate } = yield* makeTrial
      yield* makeKey()
      const failed = errorOf(yield* rotate({ verify: () => TestClock.adjust("11 minutes") }))
      assert.instanceOf(failed, NotReplaced)
      assert.include(failed.message, "longer than 10m")
      assert.deepStrictEqual(named(yield* keys), ["ci", "ci~next"])
    })
  )

  it.effect(
    "leaves the successor of a run that may be at work alone, for a quarter of an hour by the service's clock",
    () =>
      Effect.gen(function* () {
        const { ci, delivered, keys, makeKey, rotate, secrets } = yield* makeTrial
        yield* makeKey()
        const began = yield* DateTime.now
        assert.isTrue(Exit.isFailure(yield* rotate({ verify: () => Effect.die("killed") })))
        const [given] = delivered
        const clockOf = (minutes: number) => ({
          ...secrets.service,
          serviceTime: Effect.succeed(DateTime.add(began, { minutes }))
        })
        // The clock of this machine says otherwise.
        yield* TestClock.adjust("2 hours")
        const refused = errorOf(yield* rotate({}, clockOf(14)))
        assert.instanceOf(refused, RotationRefused)
        assert.include(refused.message, '"ci~next"')
        assert.include(refused.message, DateTime.formatIso(DateTime.add(began, { minutes: 15 })).slice(0, 19))
        assert.deepStrictEqual(named(yield* keys), ["ci", "ci~next"])

        const { old } = succeeded(yield* rotate({ grace: "0 seconds" }, clockOf(121)))
        // Its secret may be in use: it is neither deleted nor ended before the new one is delivered.
        assert.isTrue(secrets.isLive(given?.secret ?? ""))
        assert.deepStrictEqual(
          old.map(({ expires }) => expires),
          [DateTime.add(began, { minutes: 136 })]
        )
        assert.strictEqual(secrets.secretOf(ci), delivered[1]?.secret)
      })
  )

  it.effect("leaves it alone where the service does not say when it was made, and rotates there else", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate, secrets } = yield* makeTrial
      const { expires } = yield* makeKey()
      const by = telling(secrets.service, undated)
      succeeded(yield* rotate({}, by))
      // The lifetime is not known either.
      assert.deepStrictEqual((yield* keys)[1]?.expires, expires)
      assert.isTrue(Exit.isFailure(yield* rotate({ deliver: () => Effect.die("killed") }, by)))
      yield* TestClock.adjust("30 days")
      const refused = errorOf(yield* rotate({}, by))
      assert.include(refused?.message, "does not say when that was made")
      assert.includeMembers(named(yield* keys), ["ci", "ci~next"])
    })
  )

  it.effect("finishes what the names say where a run was stopped between the last two changes", () =>
    Effect.gen(function* () {
      for (const grace of ["1 day", "0 seconds"] as const) {
        const { ci, delivered, keys, makeKey, rotate, secrets } = yield* makeTrial
        yield* makeKey()
        const { apiKeys } = secrets.service
        const stopping: CredentialsService["Service"] = {
          ...secrets.service,
          apiKeys: {
            ...apiKeys,
            update: (name, changes) => (name === "ci~next" ? Effect.die("killed") : apiKeys.update(name, changes))
          }
        }
        assert.isTrue(Exit.isFailure(yield* rotate({ grace }, stopping)))
        assert.notInclude(named(yield* keys), "ci")
        const { isResumed, old } = succeeded(yield* rotate({ grace: "5 days" }))
        assert.deepStrictEqual([isResumed, old.length], [true, grace === "1 day" ? 1 : 0])
        assert.strictEqual(secrets.secretOf(ci), delivered[0]?.secret)
        assert.deepStrictEqual(named(yield* keys), [...old.map(({ name }) => name), "ci"])
      }
    })
  )

  it.effect("does the last change with the new secret where the service refuses the caller's, and not else", () =>
    Effect.gen(function* () {
      const { ci, delivered, makeKey, rotate, secrets } = yield* makeTrial
      yield* makeKey()
      const { apiKeys } = secrets.service
      const limit = "2026-12-01T00:00:00Z"
      const reason = new ExceedsGrantor({ field: "expires", limit })
      const byOld: CredentialsService["Service"] = {
        ...secrets.service,
        apiKeys: {
          ...apiKeys,
          update: (name, changes) =>
            name === "ci~next"
              ? Effect.fail(new ServiceError({ operation: "securityApikeysByNamePut", reason }))
              : apiKeys.update(name, changes)
        }
      }
      const asked: Array<string> = []
      const withNewKey = (secret: Redacted.Redacted<string>) =>
        Effect.sync(() => {
          asked.push(Redacted.value(secret))
          return { credentials: secrets.service }
        })
      succeeded(yield* rotate({ withNewKey }, byOld))
      assert.deepStrictEqual(asked, [delivered[0]?.secret])
      assert.strictEqual(secrets.secretOf(ci), asked[0])
      assert.strictEqual(tagOf(yield* rotate({}, byOld)), "ServiceError")
      assert.isTrue(succeeded(yield* rotate({ withNewKey })).isResumed)
      succeeded(yield* rotate({ withNewKey }))
      assert.strictEqual(asked.length, 1)
    })
  )

  it.effect("says whose the new secret is where the service keeps the old one", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate, secrets } = yield* makeTrial
      yield* makeKey()
      const { apiKeys } = secrets.service
      const by: CredentialsService["Service"] = {
        ...secrets.service,
        apiKeys: {
          ...apiKeys,
          update: (name, changes) =>
            name === "ci" ? Effect.fail(new LastManagingKey({ name })) : apiKeys.update(name, changes)
        }
      }
      const failed = errorOf(yield* rotate({}, by))
      assert.instanceOf(failed, NotReplaced)
      assert.include(failed.message, "last one that can manage keys")
      assert.deepStrictEqual(named(yield* keys), ["ci", "ci~next"])
    })
  )

  it.effect("says so where its successor is gone, and leaves the successor of another run alone", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate, store, subaccount } = yield* makeTrial
      yield* makeKey()
      const gone = Effect.orDie(store.apiKeys.delete("ci~next", { subaccount }))
      assert.strictEqual(tagOf(yield* rotate({ verify: () => gone })), "CredentialNotFound")
      const other = Effect.gen(function* () {
        yield* gone
        yield* TestClock.adjust("1 second")
        yield* store.apiKeys.create({ name: "ci~next", accessLevels: ["Export"], subaccount })
      }).pipe(Effect.orDie)
      assert.strictEqual(tagOf(yield* rotate({ verify: () => other })), "CredentialNotFound")
      yield* gone
      const failing = Effect.andThen(other, nobodyThere())
      assert.strictEqual(tagOf(yield* rotate({ deliver: () => failing })), "NobodyThere")
      assert.deepStrictEqual(named(yield* keys), ["ci", "ci~next"])
    })
  )

  it.effect("gives the new secret the lifetime that the old one was made with, from now", () =>
    Effect.gen(function* () {
      const { keys, makeKey, rotate } = yield* makeTrial
      yield* makeKey({ expires: yield* after(90) })
      yield* TestClock.adjust("80 days")
      const newest = Effect.map(keys, (all) => all.at(-1))
      succeeded(yield* rotate())
      assert.strictEqual(lifetimeOf(yield* newest), 90 * 24 * 60)
      // An expired key gets a new life, too.
      yield* TestClock.adjust("100 days")
      succeeded(yield* rotate())
      assert.strictEqual(lifetimeOf(yield* newest), 90 * 24 * 60)

      succeeded(yield* rotate({ expires: Duration.days(7) }))
      assert.strictEqual(lifetimeOf(yield* newest), 7 * 24 * 60)
      const date = DateTime.makeUnsafe("2050-01-01T00:00:00Z")
      succeeded(yield* rotate({ expires: date }))
      assert.deepStrictEqual((yield* newest)?.expires, date)
      assert.strictEqual(tagOf(yield* rotate({ expires: yield* DateTime.now })), "RotationRefused")
      for (const days of [3_000_000, 99_999_999, 1e12, Number.POSITIVE_INFINITY]) {
        assert.strictEqual(tagOf(yield* rotate({ expires: Duration.days(days) })), "RotationRefused")
      }
      // A lifetime that leads out of the calendar.
      const last = DateTime.makeUnsafe("9999-12-31T23:59:59Z")
      succeeded(yield* rotate({ expires: last }))
      yield* TestClock.adjust("80 days")
      succeeded(yield* rotate())
      assert.deepStrictEqual((yield* newest)?.expires, last)
      for (const none of [null, undefined]) {
        succeeded(yield* rotate({ expires: none, grace: Number.POSITIVE_INFINITY }))
        assert.isNull((yield* newest)?.expires ?? null)
      }
    })
  )
})

layer(layerMemory)("rotating SMTP credentials", (it) => {
  it.effect("delivers a name of the day with its secret, and follows a name that was replaced", () =>
    Effect.gen(function* () {
      const { delivered, makeSmtp, rotateSmtp, secrets, shop, smtp } = yield* makeTrial
      const { token: _, ...old } = yield* makeSmtp
      const dated = (day: DateTime.Utc, end = "") =>
        shop.replace("@", `+${DateTime.formatIsoDateUtc(day).replaceAll("-", "")}${end}@`)
      const today = yield* DateTime.now
      const [ends, name] = [yield* after(1), dated(today)]
      assert.deepStrictEqual(succeeded(yield* rotateSmtp()), {
        name,
        old: [{ name: shop, expires: ends }],
        isResumed: false
      })
      assert.deepStrictEqual(delivered, [{ name, secret: secrets.secretOf(name) ?? "" }])
      const [replaced, login, ...others] = yield* smtp
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual<unknown>(replaced, { ...old, expires: ends })
      assert.deepStrictEqual({ ...login, dateCreated: undefined, expires: undefined } as object, {
        ...old,
        name,
        dateCreated: undefined,
        expires: undefined
      })
      assert.strictEqual(lifetimeOf(login), lifetimeOf(old))

      // The newest may be one that a run is at work with.
      const refused = errorOf(yield* rotateSmtp())
      assert.include(refused?.message, name)
      yield* TestClock.adjust("16 minutes")
      assert.strictEqual(succeeded(yield* rotateSmtp()).name, dated(today, "-2"))
      yield* TestClock.adjust("2 days")
      const then = yield* DateTime.now
      const third = succeeded(yield* rotateSmtp(name))
      assert.deepStrictEqual([third.name, third.old.map(({ name }) => name)], [dated(then), [dated(today, "-2")]])
      assert.strictEqual((yield* smtp).length, 2)
      yield* TestClock.adjust("16 minutes")
      assert.deepStrictEqual(succeeded(yield* rotateSmtp(shop, { grace: "0 seconds" })).old.length, 1)
      assert.strictEqual((yield* smtp).length, 2)
    })
  )

  it.effect(
    "replaces all that work after a run was stopped, and keeps the old one as the model after one that failed",
    () =>
      Effect.gen(function* () {
        const { makeSmtp, rotateSmtp, secrets, shop, smtp, store, subaccount } = yield* makeTrial
        yield* makeSmtp
        yield* store.smtp.update(shop, { expires: null, subaccount })
        const dying = { verify: () => Effect.die("killed") }
        assert.isTrue(Exit.isFailure(yield* rotateSmtp(shop, dying)))
        yield* TestClock.adjust("1 day")
        assert.strictEqual(succeeded(yield* rotateSmtp()).old.length, 2)
        assert.deepStrictEqual(
          (yield* smtp).map(({ expires }) => expires === null),
          [false, false, true]
        )
        yield* TestClock.adjust("2 days")
        assert.strictEqual(tagOf(yield* rotateSmtp(shop, { verify: nobodyThere })), "NotReplaced")
        yield* TestClock.adjust("16 minutes")
        const { name, old } = succeeded(yield* rotateSmtp())
        assert.isNull((yield* smtp).at(-1)?.expires ?? null)
        assert.deepStrictEqual([old.length, secrets.isHeld(name)], [2, true])
      })
  )

  it.effect("is done once a day where the service does not say when a login was made", () =>
    Effect.gen(function* () {
      const { makeSmtp, rotateSmtp, secrets, shop } = yield* makeTrial
      yield* makeSmtp
      const { smtp } = secrets.service
      const by: CredentialsService["Service"] = {
        ...secrets.service,
        smtp: {
          ...smtp,
          list: (of) => Effect.map(smtp.list(of), (all) => all.map(Struct.omit(["dateCreated", "lastUse"])))
        }
      }
      succeeded(yield* rotateSmtp(shop, {}, by))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(tagOf(yield* rotateSmtp(shop, {}, by)), "RotationRefused")
      yield* TestClock.adjust("1 day")
      succeeded(yield* rotateSmtp(shop, {}, by))
    })
  )

  it.effect("refuses a login without room for a date", () =>
    Effect.gen(function* () {
      const { makeSmtp, rotateSmtp, shop, store, subaccount } = yield* makeTrial
      yield* makeSmtp
      const [, domain] = shop.split("@")
      const long = EmailAddress.make(`${"a".repeat(56)}@${domain}`)
      yield* store.smtp.create({ name: long, subaccount, ...limits })
      assert.strictEqual(tagOf(yield* rotateSmtp(long)), "RotationRefused")
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(store.smtp.get(long, { subaccount }))))
    })
  )
})
