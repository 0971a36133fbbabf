/** Credentials of both kinds, on every layer. Each test has its own subaccount, which its first credential creates. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import {
  type ApiKeyForPurposes,
  ApiKeyPayload,
  type ApiKeyUpdatePayload,
  CredentialsService,
  EmailAddress,
  IpRange,
  maximumIpRanges
} from "@roster/domain"
import { Clock, DateTime, Duration, Effect, Redacted, Schedule } from "effect"
import { inspect } from "node:util"
import { apiKeys, arrange, type Kind, millis, names, type NamedFields, ranges, smtp, soon } from "./CredentialKind.ts"
import { refused } from "../cases/Refused.ts"
import { unchecked } from "../cases/Unchecked.ts"

const ofBothKinds = <Payload extends NamedFields>(
  title: string,
  kind: Kind<Payload>,
  it: Cases<CredentialsService>
): void => {
  it.describe(`credentials: ${title}`, () => {
    it.effect("are made with a token that no other answer has", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        const before = Math.floor((yield* Clock.currentTimeMillis) / 1000) * 1000
        const made = yield* credentials.create(
          kind.payload(name("a"), {
            subaccount,
            expires: soon,
            ipRanges: ["192.0.2.0/24", IpRange.make("::1")]
          })
        )
        const token = Redacted.value(made.token)
        assert.isAtLeast(token.length, 20)
        const got = yield* credentials.get(name("a"), { subaccount })
        const listed = yield* credentials.list({ subaccount })
        for (const answer of [made, got, ...listed]) {
          const said = inspect(answer, { depth: Infinity }) + JSON.stringify(answer)
          // The failure must not show the token either.
          assert.isFalse(said.includes(token), "an answer shows the token")
          assert.deepStrictEqual(
            [answer.name, millis(answer.expires), millis(answer.lastUse)],
            [name("a"), millis(soon), null]
          )
          assert.deepStrictEqual(answer.ipRanges, ["192.0.2.0/24", "::1"])
          assert.isAtLeast(millis(answer.dateCreated) ?? 0, before)
        }
        assert.notProperty(got, "token")
        assert.strictEqual(listed.length, 1)
        const again = yield* credentials.create(kind.payload(name("b"), { subaccount }))
        assert.isFalse(Redacted.value(again.token) === token, "two credentials have the same token")
      })
    )

    it.effect("can be written back as they were read, with a change", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        const made = yield* credentials.create(kind.payload(name("a"), { subaccount, ipRanges: ranges }))
        const read = yield* credentials.get(name("a"), { subaccount })
        const whole = yield* kind.written(made)
        const changed = yield* credentials.update(name("a"), { ...whole, expires: soon, subaccount })
        assert.deepStrictEqual({ ...changed, expires: null }, { ...read, expires: null })
        assert.strictEqual(millis(changed.expires), millis(soon))
        const given = { ...(yield* kind.written(changed)), subaccount }
        assert.deepStrictEqual(yield* credentials.update(name("a"), given), changed)
        yield* credentials.delete(name("a"), { subaccount })
        const again = yield* credentials.create(given)
        assert.deepStrictEqual([millis(again.expires), again.ipRanges], [millis(soon), made.ipRanges])
      })
    )

    it.effect("change only what an update gives: an expiry, ranges, or a name alone", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        yield* credentials.create(kind.payload(name("Kept"), { subaccount, expires: soon, ipRanges: ranges }))
        const made = yield* credentials.get(name("Kept"), { subaccount })
        assert.deepStrictEqual(yield* credentials.update(name("Kept"), { subaccount }), made)
        assert.deepStrictEqual(yield* credentials.update(name("Kept"), { name: undefined, subaccount }), made)
        const endless = yield* credentials.update(name("Kept"), { expires: null, subaccount })
        assert.deepStrictEqual(endless, { ...made, expires: null })
        const ends = yield* credentials.update(name("Kept"), { expires: soon, subaccount })
        assert.deepStrictEqual(ends, made)
        const open = yield* credentials.update(name("Kept"), { ipRanges: [], subaccount })
        assert.deepStrictEqual({ ...open, ipRanges: [] }, { ...made, ipRanges: [] })
        const renamed = yield* credentials.update(name("Kept"), { name: name("new"), subaccount })
        assert.deepStrictEqual(renamed, { ...open, name: name("new") })
        yield* refused(credentials.update(name("Kept"), { expires: null, subaccount }), "CredentialNotFound")
        assert.deepStrictEqual(yield* credentials.get(name("new"), { subaccount }), renamed)
      })
    )

    it.effect("keep on change what is left out, and clear what is said to be nothing", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        yield* credentials.create(
          kind.payload(name("a"), { subaccount, expires: soon, ipRanges: [IpRange.make("192.0.2.7")] })
        )
        const kept = yield* credentials.update(name("a"), kind.payload(name("a"), { subaccount }))
        assert.deepStrictEqual([millis(kept.expires), kept.ipRanges], [millis(soon), ["192.0.2.7"]])
        const cleared = yield* credentials.update(
          name("a"),
          kind.payload(name("a"), { subaccount, expires: null, ipRanges: [] })
        )
        assert.deepStrictEqual([millis(cleared.expires), cleared.ipRanges ?? []], [null, []])
        const set = yield* credentials.update(
          name("a"),
          kind.payload(name("a"), { subaccount, expires: soon, ipRanges: [IpRange.make("2001:db8::/32")] })
        )
        assert.deepStrictEqual([millis(set.expires), set.ipRanges], [millis(soon), ["2001:db8::/32"]])
        assert.deepStrictEqual(yield* credentials.get(name("a"), { subaccount }), set)
      })
    )

    it.effect("take as many ranges as there may be", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        const ipRanges = Array.from({ length: maximumIpRanges }, (_, n) => IpRange.make(`2001:db8:0:${n}::/64`))
        const made = yield* credentials.create(kind.payload(name("many"), { subaccount, ipRanges }))
        assert.deepStrictEqual(made.ipRanges, ipRanges)
        assert.deepStrictEqual((yield* credentials.get(name("many"), { subaccount })).ipRanges, ipRanges)
      })
    )

    it.effect("are renamed by another name, and stay what they are", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        const made = yield* credentials.create(kind.payload(name("old"), { subaccount, expires: soon }))
        const renamed = yield* credentials.update(name("old"), kind.payload(name("new"), { subaccount }))
        assert.deepStrictEqual(
          [renamed.name, millis(renamed.expires), millis(renamed.dateCreated)],
          [name("new"), millis(soon), millis(made.dateCreated)]
        )
        yield* refused(credentials.get(name("old"), { subaccount }), "CredentialNotFound")
        assert.deepStrictEqual(names(yield* credentials.list({ subaccount })), [name("new")])
      })
    )

    it.effect("fail with NameTaken for a name that there is, made or renamed, and change nothing", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        yield* credentials.create(kind.payload(name("a"), { subaccount }))
        yield* credentials.create(kind.payload(name("b"), { subaccount, expires: soon }))
        assert.strictEqual(
          (yield* refused(credentials.create(kind.payload(name("a"), { subaccount })), "NameTaken")).name,
          name("a")
        )
        assert.strictEqual(
          (yield* refused(
            credentials.update(name("b"), kind.payload(name("a"), { subaccount, expires: null })),
            "NameTaken"
          )).name,
          name("a")
        )
        assert.strictEqual(millis((yield* credentials.get(name("b"), { subaccount })).expires), millis(soon))
        assert.deepStrictEqual(names(yield* credentials.list({ subaccount })), [name("a"), name("b")])
      })
    )

    it.effect("are deleted once", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        yield* credentials.create(kind.payload(name("a"), { subaccount }))
        yield* credentials.delete(name("a"), { subaccount })
        yield* refused(credentials.delete(name("a"), { subaccount }), "CredentialNotFound")
        assert.deepStrictEqual(yield* credentials.list({ subaccount }), [])
        yield* credentials.create(kind.payload(name("a"), { subaccount }))
      })
    )

    it.effect("fail with CredentialNotFound for a name that there is not, and name it", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        for (const of of [undefined, { subaccount }]) {
          assert.strictEqual((yield* refused(credentials.get(name("no"), of), "CredentialNotFound")).name, name("no"))
          yield* refused(credentials.update(name("no"), kind.payload(name("no"), of)), "CredentialNotFound")
          yield* refused(credentials.delete(name("no"), of), "CredentialNotFound")
        }
      })
    )

    it.effect("of the account and of its subaccounts do not know one another", () =>
      Effect.gen(function* () {
        const { credentials, name, other, subaccount } = yield* arrange(kind)
        yield* credentials.create(kind.payload(name("own")))
        yield* credentials.create(kind.payload(name("sub"), { subaccount }))
        assert.deepStrictEqual(names(yield* credentials.list({ subaccount })), [name("sub")])
        assert.deepStrictEqual(yield* credentials.list({ subaccount: other }), [])
        const own = names(yield* credentials.list())
        assert.deepStrictEqual([own.includes(name("own")), own.includes(name("sub"))], [true, false])
        yield* refused(credentials.get(name("sub")), "CredentialNotFound")
        yield* refused(credentials.get(name("sub"), { subaccount: other }), "CredentialNotFound")
        yield* refused(credentials.get(name("own"), { subaccount }), "CredentialNotFound")
        yield* refused(
          credentials.update(name("sub"), kind.payload(name("sub"), { expires: soon })),
          "CredentialNotFound"
        )
        yield* refused(credentials.delete(name("sub")), "CredentialNotFound")
        yield* credentials.delete(name("own"))
        assert.deepStrictEqual(names(yield* credentials.list({ subaccount })), [name("sub")])
      })
    )

    it.effect("know a subaccount by its identity", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        yield* credentials.create(kind.payload(name("a"), { subaccount: EmailAddress.make(subaccount.toUpperCase()) }))
        assert.deepStrictEqual(names(yield* credentials.list({ subaccount })), [name("a")])
      })
    )

    it.needing("own-account").effect.each([false, true])("are 15 at most, of a subaccount: %s", (isSubaccount) =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        const of = isSubaccount ? { subaccount } : {}
        // The account may already have some, such as the key of this suite.
        const there = (yield* credentials.list(of)).length
        const fresh = Array.from({ length: 15 - there }, (_, i) => name(`n${i}`))
        yield* Effect.forEach(fresh, (each) => credentials.create(kind.payload(each, of)))
        const error = yield* refused(credentials.create(kind.payload(name("more"), of)), "TooManyCredentials")
        assert.strictEqual(error.maximum, 15)
        assert.strictEqual((yield* credentials.list(of)).length, 15)
        yield* Effect.forEach(fresh, (each) => credentials.delete(each, of))
        yield* credentials.create(kind.payload(name("more"), of))
        yield* credentials.delete(name("more"), of)
      })
    )

    it.needing("own-account").effect(
      "do not count for these 15 once they have ended, and come back if there is room",
      () =>
        Effect.gen(function* () {
          const { credentials, name, subaccount: of } = yield* arrange(kind)
          const fresh = Array.from({ length: 14 }, (_, i) => name(`n${i}`))
          yield* Effect.forEach(fresh, (each) => credentials.create(kind.payload(each, { subaccount: of })))
          const ending = Effect.flatMap(DateTime.now, (now) =>
            credentials.create(
              kind.payload(name("ended"), { subaccount: of, expires: DateTime.add(now, { seconds: 2 }) })
            )
          )
          // A busy machine may come too late with it.
          yield* Effect.retry(ending, { while: ({ _tag }) => _tag === "InvalidInput", times: 9 })
          yield* credentials.create(kind.payload(name("more"), { subaccount: of })).pipe(
            Effect.retry({
              while: ({ _tag }) => _tag === "TooManyCredentials",
              schedule: Schedule.spaced("200 millis"),
              times: 600
            })
          )
          const subaccount = { subaccount: of }
          assert.strictEqual((yield* credentials.list(subaccount)).length, 16)
          yield* credentials.update(name("ended"), { ipRanges: ranges, ...subaccount })
          yield* refused(credentials.update(name("ended"), { expires: null, ...subaccount }), "TooManyCredentials")
          yield* credentials.delete(name("more"), subaccount)
          const back = yield* credentials.update(name("ended"), { expires: null, ...subaccount })
          assert.strictEqual(back.expires ?? null, null)
          yield* refused(credentials.create(kind.payload(name("more"), subaccount)), "TooManyCredentials")
        })
    )

    it.effect.each(["", ".", "..", "a\ud800"])("refuse the name %j, which no address can hold", (impossible) =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(kind)
        const payload = kind.payload(name("a"), { subaccount })
        yield* refused(credentials.get(impossible, { subaccount }), "InvalidInput")
        yield* refused(credentials.update(impossible, payload), "InvalidInput")
        yield* refused(credentials.delete(impossible, { subaccount }), "InvalidInput")
        yield* refused(credentials.create(kind.payload(impossible, { subaccount })), "InvalidInput")
        yield* credentials.create(payload)
        yield* refused(credentials.update(name("a"), kind.payload(impossible, { subaccount })), "InvalidInput")
      })
    )

    it.effect("refuse ranges and subaccounts that are none, in whatever is sent", () =>
      Effect.gen(function* () {
        const { credentials, name } = yield* arrange(kind)
        // A caller in plain JavaScript can pass unchecked values.
        const subaccount = EmailAddress.make("nobody", { disableChecks: true })
        yield* refused(
          credentials.create(
            kind.payload(name("a"), { ipRanges: [IpRange.make("everywhere", { disableChecks: true })] })
          ),
          "InvalidInput"
        )
        yield* refused(credentials.create(kind.payload(name("a"), { subaccount })), "InvalidInput")
        yield* refused(credentials.list({ subaccount }), "InvalidInput")
        yield* refused(credentials.get(name("a"), { subaccount }), "InvalidInput")
        yield* refused(credentials.delete(name("a"), { subaccount }), "InvalidInput")
      })
    )
  })
}

export const credentialsConformance = (it: Cases<CredentialsService>): void => {
  ofBothKinds("API keys", apiKeys, it)
  it.describe("credentials: the end of SMTP credentials", () => {
    it.effect("is a date of any kind, or a time from now", () =>
      Effect.gen(function* () {
        const { name, subaccount } = yield* arrange(smtp)
        const { smtp: logins } = yield* CredentialsService
        const began = yield* DateTime.now
        const made = yield* logins.create({ name: name("a"), subaccount, expires: Duration.days(90) })
        const after = (now: DateTime.Utc) => millis(DateTime.add(now, { days: 90 })) ?? 0
        // Ends travel in whole seconds.
        assert.isAtLeast(millis(made.expires) ?? 0, after(began) - 1000)
        assert.isAtMost(millis(made.expires) ?? 0, after(yield* DateTime.now))
        for (const expires of ["2099-01-02T03:04:05", "2099-01-02T04:04:05+01:00", new Date(soon.epochMilliseconds)]) {
          yield* logins.update(name("a"), { expires: null, subaccount })
          assert.strictEqual(millis((yield* logins.update(name("a"), { expires, subaccount })).expires), millis(soon))
        }
        for (const expires of ["soon", "2099-02-30", Duration.infinity]) {
          assert.strictEqual(
            (yield* refused(logins.update(name("a"), { expires, subaccount }), "InvalidInput")).field,
            "expires"
          )
          const bad = { name: name("b"), expires, subaccount }
          assert.strictEqual((yield* refused(logins.create(bad), "InvalidInput")).field, "expires")
        }
        assert.strictEqual((yield* logins.list({ subaccount })).length, 1)
      })
    )
  })
  it.describe("credentials: API keys for purposes", () => {
    it.effect("have the access levels of these, and end when they are told to", () =>
      Effect.gen(function* () {
        const { name, subaccount } = yield* arrange(apiKeys)
        const { apiKeys: keys } = yield* CredentialsService
        const given = {
          name: name("for"),
          for: ["contacts:read", "contacts:export"],
          expires: "2099-01-02T04:04:05+01:00",
          ipRanges: ["192.0.2.0/24"],
          subaccount
        } as const
        const made = yield* keys.create(given)
        assert.deepStrictEqual([...made.accessLevels].sort(), ["Export", "ViewContacts"])
        assert.deepStrictEqual([millis(made.expires), made.ipRanges], [millis(soon), ["192.0.2.0/24"]])
        const changed = yield* keys.update(given.name, { name: given.name, for: ["emails:send"], subaccount })
        assert.deepStrictEqual<unknown>(changed.accessLevels, ["SendHttp"])
        assert.deepStrictEqual([millis(changed.expires), changed.ipRanges], [millis(soon), ["192.0.2.0/24"]])
        // The same payload, made beforehand.
        const payload = yield* ApiKeyPayload.fromInput(given)
        assert.deepStrictEqual([...(yield* keys.update(given.name, payload)).accessLevels].sort(), [
          "Export",
          "ViewContacts"
        ])
        for (const [field, change] of [
          ["for", { for: null }],
          ["for", { for: ["contacts:eat"] }],
          ["accessLevels", { accessLevels: null }],
          ["accessLevels[0]", { accessLevels: ["Everything"] }],
          ["name", { name: " padded" }],
          ["expires", { expires: "soon" }],
          ["ipRanges[0]", { ipRanges: ["the office"] }],
          ["subaccount", { subaccount: "nobody" }]
        ] as const) {
          const bad = unchecked<ApiKeyForPurposes>({ ...given, name: name("bad"), ...change })
          assert.strictEqual((yield* refused(keys.create(bad), "InvalidInput")).field, field)
          assert.strictEqual((yield* refused(keys.update(given.name, bad), "InvalidInput")).field, field)
        }
        assert.strictEqual((yield* keys.list({ subaccount })).length, 1)
      })
    )

    it.effect("keep the access levels that an update leaves out, and get those of the purposes that it gives", () =>
      Effect.gen(function* () {
        const { name, subaccount } = yield* arrange(apiKeys)
        const { apiKeys: keys } = yield* CredentialsService
        yield* keys.create({ name: name("a"), accessLevels: ["ViewContacts", "Export"], subaccount })
        const levels = (changes: ApiKeyUpdatePayload) =>
          Effect.map(keys.update(name("a"), { ...changes, subaccount }), ({ accessLevels }) => [...accessLevels].sort())
        assert.deepStrictEqual(yield* levels({ expires: "2099-01-02" }), ["Export", "ViewContacts"])
        assert.deepStrictEqual(yield* levels({ accessLevels: undefined, for: undefined }), ["Export", "ViewContacts"])
        assert.deepStrictEqual(yield* levels({ for: ["contacts:write"] }), ["ModifyContacts"])
        assert.deepStrictEqual(yield* levels({ accessLevels: [] }), [])
        assert.strictEqual(millis((yield* keys.get(name("a"), { subaccount })).expires), Date.parse("2099-01-02"))
      })
    )
  })
  ofBothKinds("SMTP credentials", smtp, it)
}
