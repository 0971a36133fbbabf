import { assert, it, layer } from "@effect/vitest"
import { type ApiKeyPayload, CredentialName, CredentialsService, EmailAddress } from "@roster/domain"
import { NotReplaced, rotateApiKey, rotateSmtp } from "@roster/workflows"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Clock, DateTime, Effect, Layer, Redacted } from "effect"
import { layerEmbedded, layerFile, layerMemory, layerServed, ServedRoster } from "../../src/index.ts"
import { lostAnswers } from "../faults/LostAnswers.ts"
import { lifetimeOf, limits } from "./Trial.ts"

const ci = CredentialName.make("ci")
const shop = EmailAddress.make("shop@rotation.example")

/** Makes one of both kinds, rotates both, and looks at what is there then. */
const rotateBoth = Effect.gen(function* () {
  const { apiKeys, smtp } = yield* CredentialsService
  const others = (yield* apiKeys.list()).map(({ name }) => name)
  const key = yield* apiKeys.create({ name: ci, accessLevels: ["ViewContacts"], ...limits })
  const login = yield* smtp.create({ name: shop, ...limits })
  const secrets: Array<string> = [key, login].map(({ token }) => Redacted.value(token))
  const deliver = ({ token }: { readonly token: Redacted.Redacted<string> }) =>
    Effect.sync(() => {
      secrets.push(Redacted.value(token))
    })
  const keyOld = (yield* rotateApiKey(ci, { deliver })).old
  const { name, old: loginOld } = yield* rotateSmtp(shop, { deliver })

  const { token: _, ...wanted } = key
  const keys = (yield* apiKeys.list()).filter((key) => !others.includes(key.name))
  assert.deepStrictEqual(
    keys.filter(({ name }) => name === ci).map((key) => ({ ...key, dateCreated: undefined, expires: lifetimeOf(key) })),
    [{ ...wanted, dateCreated: undefined, expires: lifetimeOf(wanted) }]
  )
  const logins = yield* smtp.list()
  assert.deepStrictEqual(
    logins
      .filter((one) => one.name === name)
      .map((one) => ({ lifetime: lifetimeOf(one), ipRanges: one.ipRanges, name: one.name })),
    [{ lifetime: lifetimeOf(login), ipRanges: limits.ipRanges, name }]
  )
  assert.match(name, /^shop\+\d{8}@rotation\.example$/)
  assert.deepStrictEqual([keys.length, logins.length], [2, 2])
  assert.match(keyOld[0]?.name ?? "", /^ci~old-\d{4}-\d\d-\d\d$/)
  assert.strictEqual(loginOld[0]?.name, shop)
  const tomorrow = DateTime.toEpochMillis(yield* DateTime.now) + 86_400_000
  for (const one of [...keys, ...logins].filter(({ name }) => [keyOld[0]?.name, shop].includes(name))) {
    assert.approximately(one.expires?.epochMilliseconds ?? 0, tomorrow, 3_600_000)
  }
  assert.strictEqual(new Set(secrets).size, 4)
  return secrets
})

for (const [name, services] of [
  ["SQL in memory", layerMemory],
  ["SQL on a file", layerFile],
  ["HTTP client, server, SQL on a file, in one process", layerEmbedded],
  ["HTTP client, server, SQL on a file, over a socket", layerServed]
] as const) {
  layer(services, { excludeTestServices: true, timeout: "2 minutes" })(name, (it) => {
    it.effect("a key and a login are rotated", () => Effect.asVoid(rotateBoth))
  })
}

layer(layerServed, { excludeTestServices: true, timeout: "2 minutes" })("rotations over a socket", (it) => {
  /** A client with a key, and a way to another one with the key that is delivered. */
  const clientWith = Effect.fnUntraced(function* (apiKey: Redacted.Redacted<string>) {
    const { baseUrl } = yield* ServedRoster
    const transport = yield* Layer.build(UndiciHttpClient.layer())
    return yield* Effect.provideContext(RosterClient.make({ baseUrl, apiKey }), transport)
  })
  const outcome = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.match(effect, { onSuccess: () => "done", onFailure: (error) => error._tag })

  it.effect("a managing key rotates itself, and the last one keeps its place", () =>
    Effect.gen(function* () {
      const { apiKeys } = yield* CredentialsService
      const { apiKey = Redacted.make("") } = yield* ServedRoster
      const administrator = yield* clientWith(apiKey)
      const secrets: Array<Redacted.Redacted<string>> = []
      const deliver = ({ token }: { readonly token: Redacted.Redacted<string> }) =>
        Effect.sync(() => {
          secrets.push(token)
        })
      const withNewKey = (secret: Redacted.Redacted<string>) => Effect.orDie(clientWith(secret))
      const itself = (name: string, client: typeof administrator, more: object) =>
        Effect.provideService(rotateApiKey(name, { deliver, ...more }), CredentialsService, client.credentials)

      const shorter = { expires: DateTime.add(yield* DateTime.now, { days: 9 }), withNewKey }
      const kept = yield* Effect.flip(itself("administrator", administrator, shorter))
      assert.instanceOf(kept, NotReplaced)
      assert.include(kept.message, "last one that can manage keys")
      yield* apiKeys.delete("administrator~next")

      const payload: ApiKeyPayload = { name: "robot", accessLevels: ["Security", "ModifyAccessTokens"] }
      for (const grace of ["1 day", "0 seconds"] as const) {
        const { token } = yield* apiKeys.create(payload)
        const robot = yield* clientWith(token)
        // Its own end keeps it from the last change.
        assert.strictEqual(yield* outcome(itself("robot", robot, { grace })), "ServiceError")
        const renewed = yield* clientWith(secrets.at(-1) ?? token)
        assert.isTrue((yield* itself("robot", renewed, { grace })).isResumed)
        yield* itself("robot", renewed, { grace, withNewKey })
        const last = yield* clientWith(secrets.at(-1) ?? token)
        assert.strictEqual(yield* outcome(last.credentials.apiKeys.get("robot")), "done")
        const ended = grace === "1 day" ? "done" : "ServiceError"
        assert.strictEqual(yield* outcome(renewed.credentials.apiKeys.get("robot")), ended)
        yield* apiKeys.delete("robot")
      }
    })
  )

  it.effect("the clock of the service says whether a run may be at work, not that of this machine", () =>
    Effect.gen(function* () {
      const { apiKeys } = yield* CredentialsService
      for (const name of ["clocked", "clocked~next"]) yield* apiKeys.create({ name, accessLevels: ["Export"] })
      const clock = yield* Clock.Clock
      const hour = 3_600_000
      const ahead: Clock.Clock = {
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + hour,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + hour),
        currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
        currentTimeNanos: clock.currentTimeNanos,
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (time) => clock.sleep(time)
      }
      const rotate = rotateApiKey("clocked", { deliver: () => Effect.void })
      assert.strictEqual(yield* outcome(Effect.provideService(rotate, Clock.Clock, ahead)), "RotationRefused")
      assert.deepStrictEqual((yield* apiKeys.get("clocked~next")).name, "clocked~next")
    })
  )
})

it.live("C42 rotation ends well where the first answer to each of its writes is lost", () =>
  Effect.gen(function* () {
    // The first of both POSTs makes what is rotated.
    const proxy = lostAnswers(({ method }, number) => method !== "GET" && number === (method === "POST" ? 1 : 0))
    const client = RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
      Layer.provide(proxy.layer),
      Layer.provide(EmbeddedHttpClient.layer({ filename: ":memory:" }))
    )
    const secrets = yield* Effect.provide(rotateBoth, client)
    assert.strictEqual(secrets.length, 4)
    const lost = proxy.answered.filter(({ isLost }) => isLost).map(({ method, status }) => `${method} ${status}`)
    // Of both kinds: making the successor and ending the old one; and the name, which keys alone take.
    const ofBoth = ["POST 201", "PUT 200"]
    assert.sameMembers(lost, [...ofBoth, ...ofBoth, "PUT 200"])
  })
)
