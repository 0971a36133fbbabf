/**
 * What a key may give: nothing that it does not have itself, and never the last way in.
 */
import { assert, layer } from "@effect/vitest"
import { CredentialName, CredentialsService, EmailAddress, IpRange, type ServiceError } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Context, DateTime, Effect, Layer, Predicate, Redacted } from "effect"
import { refused } from "../../src/conformance/cases/Refused.ts"
import { ask, askJson, type Answered, refusedWith, succeeded, succeededEmpty, Wire } from "../wire/Wire.ts"
import { deleteKey, expireKey, type KeyPayload, makeKey } from "./Access.ts"

const managing = ["ModifyAccessTokens", "Security", "Export", "SendSmtp"]
const year = (number: number) => `${number}-01-01T00:00:00Z`

/** A request about keys by a key. */
const post = (payload: object, key: string, resource = "apikeys") =>
  askJson("POST", `/security/${resource}`, payload, { key })
const put = (name: string, payload: object, key: string, resource = "apikeys") =>
  askJson("PUT", `/security/${resource}/${encodeURIComponent(name)}`, payload, { key })

/** Does something with keys that are made for it, and deletes them again. */
const withKeys = <A, E, R>(
  payloads: ReadonlyArray<KeyPayload>,
  use: (tokens: ReadonlyArray<string>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const tokens = yield* Effect.forEach(payloads, (payload) => makeKey(payload))
    const result = yield* use(tokens)
    for (const { Name, Subaccount } of payloads) yield* deleteKey(Name, Subaccount)
    return result
  })

const made = Effect.fnUntraced(function* (answer: Answered, name: string, resource = "apikeys") {
  succeeded(answer, 201)
  succeededEmpty(yield* ask("DELETE", `/security/${resource}/${encodeURIComponent(name)}`))
})

/** The client of a key, over the socket. */
const clientOf = Effect.fnUntraced(function* (key: string) {
  const { served } = yield* Wire
  const services = yield* Layer.build(
    RosterClient.layer({ baseUrl: served.baseUrl, apiKey: Redacted.make(key) }).pipe(
      Layer.provide(UndiciHttpClient.layer())
    )
  )
  return Context.get(services, CredentialsService)
})

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("escalation", (it) => {
  it.effect("S09 a key gives no level that it lacks: to a new key, to another, to itself, or to SMTP credentials", () =>
    withKeys(
      [
        { Name: "modest", AccessLevel: ["ModifyAccessTokens", "Export"] },
        { Name: "other", AccessLevel: [] }
      ],
      ([key = ""]) =>
        Effect.gen(function* () {
          const AccessLevel = ["ModifyAccessTokens", "Export", "ViewContacts"]
          for (const answer of [
            yield* post({ Name: "greedy", AccessLevel }, key),
            yield* post({ Name: "greedy", AccessLevel, Subaccount: "sub@example.com" }, key),
            yield* put("modest", { Name: "modest", AccessLevel }, key),
            yield* put("other", { Name: "other", AccessLevel: ["ViewContacts"] }, key),
            yield* put("none", { Name: "none", AccessLevel: ["ViewContacts"] }, key)
          ])
            assert.include(refusedWith(answer, 403), "ViewContacts")
          assert.include(refusedWith(yield* post({ Name: "greedy@example.com" }, key, "smtp"), 403), "SendSmtp")
          refusedWith(yield* ask("GET", "/security/apikeys/greedy"), 404)
          refusedWith(yield* ask("GET", "/contacts", { key }), 403)
          yield* made(yield* post({ Name: "fine", AccessLevel: ["Export", "None"] }, key), "fine")
        })
    )
  )

  it.effect("S09 a key that expires makes none that outlives it, and does not outlive itself", () =>
    withKeys([{ Name: "until 2090", AccessLevel: managing, Expires: year(2090) }], ([key = ""]) =>
      Effect.gen(function* () {
        const tooLong = [{}, { Expires: null }, { Expires: year(2091) }, { Expires: "2090-01-01T00:00:01Z" }]
        for (const dates of tooLong) {
          assert.include(refusedWith(yield* post({ Name: "a", AccessLevel: [], ...dates }, key), 403), year(2090))
          assert.include(refusedWith(yield* post({ Name: "a@example.com", ...dates }, key, "smtp"), 403), year(2090))
        }
        for (const Expires of [null, year(2091)]) {
          const answer = yield* put("until 2090", { Name: "until 2090", AccessLevel: managing, Expires }, key)
          assert.include(refusedWith(answer, 403), year(2090))
        }
        for (const Expires of [year(2090), year(2089)]) {
          yield* made(yield* post({ Name: "a", AccessLevel: [], Expires }, key), "a")
          yield* made(yield* post({ Name: "a@example.com", Expires }, key, "smtp"), "a@example.com", "smtp")
        }
        succeeded(yield* put("until 2090", { Name: "until 2090", AccessLevel: managing }, key))
        refusedWith(yield* ask("GET", "/security/apikeys/a"), 404)
      })
    )
  )

  it.effect("S09 a key with ranges makes none that is good elsewhere, and does not leave its own", () =>
    withKeys(
      [
        {
          Name: "here",
          AccessLevel: managing,
          RestrictAccessToIPRange: ["127.0.0.0/8", "10.1.0.0/16", "2001:db8::/32"]
        }
      ],
      ([key = ""]) =>
        Effect.gen(function* () {
          for (const RestrictAccessToIPRange of [
            undefined,
            [],
            ["0.0.0.0/0"],
            ["::/0"],
            ["10.0.0.0/8"],
            ["10.1.0.0/15"],
            ["10.2.0.1"],
            ["127.0.0.1", "10.2.0.1"],
            ["2001:db8::/31"],
            ["::ffff:10.2.0.0/112"],
            ["2001:db9::1"]
          ]) {
            const answer = yield* post({ Name: "a", AccessLevel: [], RestrictAccessToIPRange }, key)
            assert.include(refusedWith(answer, 403), "127.0.0.0/8, 10.1.0.0/16, 2001:db8::/32")
            refusedWith(yield* post({ Name: "a@example.com", RestrictAccessToIPRange }, key, "smtp"), 403)
          }
          refusedWith(
            yield* put("here", { Name: "here", AccessLevel: managing, RestrictAccessToIPRange: [] }, key),
            403
          )
          for (const RestrictAccessToIPRange of [
            ["10.1.0.0/16"],
            ["10.1.2.3", "127.0.0.1/32"],
            ["2001:db8:1::/48"],
            ["::ffff:10.1.0.0/112"]
          ]) {
            yield* made(yield* post({ Name: "a", AccessLevel: [], RestrictAccessToIPRange }, key), "a")
          }
        })
    )
  )

  it.effect("S09 a key deletes, renames and narrows only what lies within its own bounds", () =>
    withKeys(
      [
        {
          Name: "weak",
          AccessLevel: ["ModifyAccessTokens", "Export"],
          Expires: year(2090),
          RestrictAccessToIPRange: ["127.0.0.0/8", "10.0.0.0/8"]
        },
        {
          Name: "more levels",
          AccessLevel: ["ViewContacts"],
          Expires: year(2090),
          RestrictAccessToIPRange: ["10.0.0.1"]
        },
        { Name: "longer", AccessLevel: ["Export"], Expires: year(2091), RestrictAccessToIPRange: ["10.0.0.1"] },
        { Name: "wider", AccessLevel: ["Export"], Expires: year(2090), RestrictAccessToIPRange: ["10.0.0.0/7"] },
        { Name: "anywhere", AccessLevel: ["Export"], Expires: year(2090) },
        {
          Name: "within",
          AccessLevel: ["Export", "None"],
          Expires: year(2090),
          RestrictAccessToIPRange: ["10.0.0.0/8"]
        }
      ],
      ([weak = ""]) =>
        Effect.gen(function* () {
          const narrow = { AccessLevel: [], Expires: year(2089), RestrictAccessToIPRange: ["10.0.0.1"] }
          const path = (name: string) => `/security/apikeys/${encodeURIComponent(name)}`
          for (const [name, limit] of [
            ["administrator", "ViewAccount"],
            ["more levels", "ViewContacts"],
            ["longer", year(2090)],
            ["wider", "127.0.0.0/8, 10.0.0.0/8"],
            ["anywhere", "127.0.0.0/8, 10.0.0.0/8"]
          ] as const) {
            const before = (yield* ask("GET", path(name))).text
            for (const answer of [
              yield* ask("DELETE", path(name), { key: weak }),
              yield* put(name, { Name: name, ...narrow }, weak),
              yield* put(name, { Name: "renamed", ...narrow }, weak)
            ])
              assert.include(refusedWith(answer, 403), limit, name)
            assert.strictEqual((yield* ask("GET", path(name))).text, before)
          }
          succeeded(yield* put("within", { Name: "within too", AccessLevel: ["Export"] }, weak))
          assert.deepInclude(succeeded(yield* put("within too", { Name: "within", ...narrow }, weak)), narrow)
          succeededEmpty(yield* ask("DELETE", path("within"), { key: weak }))
          succeeded(yield* post({ Name: "within", ...narrow }, weak), 201)
          // Without SendSmtp it has no say about SMTP credentials.
          const smtp = "/security/smtp/login%40example.com"
          succeeded(yield* askJson("POST", "/security/smtp", { Name: "login@example.com", ...narrow }), 201)
          assert.include(refusedWith(yield* ask("DELETE", smtp, { key: weak }), 403), "SendSmtp")
          refusedWith(yield* put("login@example.com", { Name: "new@example.com" }, weak, "smtp"), 403)
          succeededEmpty(yield* ask("DELETE", smtp))
        })
    )
  )

  it.effect("S09 the client reads each bound back as what it is", () =>
    withKeys(
      [
        {
          Name: "bound",
          AccessLevel: managing,
          Expires: year(2090),
          RestrictAccessToIPRange: ["127.0.0.1", "10.0.0.0/8"]
        }
      ],
      ([key = ""]) =>
        Effect.gen(function* () {
          const { apiKeys, smtp } = yield* clientOf(key)
          const inTime = { expires: DateTime.makeUnsafe(year(2089)), ipRanges: [IpRange.make("10.0.0.1")] }
          const name = CredentialName.make("a")
          const login = EmailAddress.make("a@example.com")
          const expectReason = Effect.fnUntraced(function* (
            call: Effect.Effect<unknown, { readonly _tag: string; readonly message: string } | ServiceError>,
            expected: object
          ) {
            const error = yield* refused(call, "ServiceError")
            assert.deepInclude(Predicate.hasProperty(error, "reason") ? error.reason : {}, expected)
          })
          const limit = { _tag: "ExceedsGrantor", field: "expires", limit: year(2090) }
          const ranges = { _tag: "ExceedsGrantor", field: "ipRanges", limit: "127.0.0.1, 10.0.0.0/8" }
          const missing = { _tag: "AccessDenied", required: "ViewContacts" }
          yield* expectReason(apiKeys.create({ name, accessLevels: [], ipRanges: inTime.ipRanges }), limit)
          yield* expectReason(apiKeys.create({ name, accessLevels: [], expires: inTime.expires }), ranges)
          yield* expectReason(apiKeys.create({ name, accessLevels: ["ViewContacts"], ...inTime }), missing)
          yield* expectReason(smtp.create({ name: login, ipRanges: inTime.ipRanges }), limit)
          yield* expectReason(smtp.create({ name: login, expires: inTime.expires }), ranges)
        })
    ).pipe(Effect.scoped)
  )

  it.effect("S09 the last key that manages keys cannot be deleted or made unable, by whomever over the network", () =>
    Effect.gen(function* () {
      const { administratorKey } = yield* Wire
      const { apiKeys } = yield* clientOf(administratorKey)
      const all = (yield* apiKeys.get("administrator")).accessLevels
      const levels = all.filter((level) => level !== "ModifyAccessTokens")
      const change = (payload: object) =>
        put("administrator", { Name: "administrator", AccessLevel: all, ...payload }, administratorKey)
      const soon = "2099-01-01T00:00:00Z"
      const refuses = Effect.gen(function* () {
        for (const answer of [
          yield* ask("DELETE", "/security/apikeys/administrator"),
          yield* change({ AccessLevel: levels }),
          yield* change({ AccessLevel: [] }),
          yield* change({ Expires: soon }),
          yield* change({ RestrictAccessToIPRange: ["192.0.2.0/24"] }),
          yield* change({ Name: "renamed", AccessLevel: levels })
        ])
          assert.include(refusedWith(answer, 409), '"administrator" is the last one that can manage keys')
      })
      yield* refuses
      // Keys of a subaccount, such as manage nothing, and such as have expired do not count.
      const expiring = { Name: "gone", AccessLevel: managing }
      yield* withKeys(
        [
          { Name: "of sub", AccessLevel: managing, Subaccount: "sub@example.com" },
          { Name: "reader", AccessLevel: ["Security"] },
          expiring
        ],
        ([, , gone = ""]) =>
          Effect.gen(function* () {
            yield* expireKey(expiring, gone)
            yield* refuses
          })
      )
      succeeded(yield* change({ RestrictAccessToIPRange: ["127.0.0.1"] }))
      succeeded(yield* change({ Name: "administrator" }))
      assert.strictEqual((yield* refused(apiKeys.delete("administrator"), "LastManagingKey")).name, "administrator")
      const downgraded = { name: CredentialName.make("administrator"), accessLevels: [] }
      assert.strictEqual(
        (yield* refused(apiKeys.update("administrator", downgraded), "LastManagingKey")).name,
        "administrator"
      )
      // With another one there it can go, and the other is the last one then.
      const heir = yield* makeKey({ Name: "heir", AccessLevel: managing, RestrictAccessToIPRange: ["127.0.0.1"] })
      assert.include(refusedWith(yield* ask("DELETE", "/security/apikeys/administrator", { key: heir }), 403), "View")
      succeededEmpty(yield* ask("DELETE", "/security/apikeys/administrator"))
      refusedWith(yield* ask("DELETE", "/security/apikeys/heir", { key: heir }), 409)
      refusedWith(yield* ask("GET", "/contacts"), 401)
    }).pipe(Effect.scoped)
  )

  it.effect("S09 of two keys that manage keys and delete each other at the same time, one stays", () =>
    Effect.gen(function* () {
      const one = yield* makeKey({ Name: "one", AccessLevel: managing })
      const two = yield* makeKey({ Name: "two", AccessLevel: managing })
      succeededEmpty(yield* ask("DELETE", "/security/apikeys/administrator"))
      const answers = yield* Effect.all(
        [ask("DELETE", "/security/apikeys/one", { key: two }), ask("DELETE", "/security/apikeys/two", { key: one })],
        { concurrency: 2 }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
      const listed = yield* Effect.forEach([one, two], (key) => ask("GET", "/security/apikeys", { key }))
      assert.deepStrictEqual(listed.map(({ status }) => status).toSorted(), [200, 401])
      // The test before has deleted the administrator key of the shared service.
    }).pipe(Effect.provide(Layer.fresh(Wire.layer)))
  )

  it.effect("S09 a manager that ends sooner, or is not good at this address, is no other manager", () =>
    Effect.gen(function* () {
      const { administratorKey, served } = yield* Wire
      const { AccessLevel } = Object(succeeded(yield* ask("GET", "/security/apikeys/administrator")))
      const Expires = year(2090)
      const here = ["127.0.0.1"]
      const elsewhere = ["192.0.2.0/24"]
      const brief = yield* makeKey({ Name: "brief", AccessLevel, Expires })
      const local = yield* makeKey({ Name: "local", AccessLevel, RestrictAccessToIPRange: here })
      yield* makeKey({ Name: "unreachable", AccessLevel, RestrictAccessToIPRange: elsewhere })
      // Within its bounds or not: nobody removes whom it does not replace.
      const removals = (name: string, key: string) =>
        Effect.all([
          ask("DELETE", `/security/apikeys/${name}`, { key }),
          put(name, { Name: name, AccessLevel: ["ViewContacts"], Expires, RestrictAccessToIPRange: here }, key),
          put(name, { Name: name, AccessLevel, Expires, RestrictAccessToIPRange: elsewhere }, key)
        ])
      for (const answer of yield* removals("administrator", brief)) {
        assert.include(refusedWith(answer, 403), Expires)
      }
      for (const answer of yield* removals("administrator", local)) {
        assert.include(refusedWith(answer, 403), "127.0.0.1")
      }
      succeededEmpty(yield* ask("DELETE", "/security/apikeys/local"))
      for (const answer of yield* removals("administrator", administratorKey)) {
        assert.include(refusedWith(answer, 409), '"administrator" is the last one')
      }
      // The owner leaves keys that end.
      const embedded = RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
        Layer.provide(EmbeddedHttpClient.layer({ filename: served.filename }))
      )
      const { apiKeys } = Context.get(yield* Layer.build(embedded), CredentialsService)
      yield* apiKeys.delete("administrator")
      const heir = yield* post({ Name: "heir", AccessLevel, Expires: "2089-12-31T23:59:59Z" }, brief)
      succeeded(heir, 201)
      refusedWith(yield* ask("DELETE", "/security/apikeys/brief", { key: brief }), 409)
      succeeded(yield* put("heir", { Name: "heir", AccessLevel, Expires, RestrictAccessToIPRange: here }, brief))
      succeededEmpty(yield* ask("DELETE", "/security/apikeys/brief", { key: brief }))
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Wire.layer)))
  )

  it.effect("S09 the owner of the store, in a process of his own, has no bounds", () =>
    Effect.gen(function* () {
      const { served } = yield* Wire
      const embedded = RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
        Layer.provide(EmbeddedHttpClient.layer({ filename: served.filename }))
      )
      const { apiKeys } = Context.get(yield* Layer.build(embedded), CredentialsService)
      const name = CredentialName.make("by the owner")
      yield* apiKeys.create({ name, accessLevels: ["ModifyBilling"] })
      for (const key of yield* apiKeys.list()) yield* apiKeys.delete(key.name)
      assert.deepStrictEqual(yield* apiKeys.list(), [])
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Wire.layer)))
  )
})
