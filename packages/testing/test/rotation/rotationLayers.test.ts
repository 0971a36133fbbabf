import { assert, it, layer } from "@effect/vitest"
import { CredentialName, CredentialsService, EmailAddress } from "@roster/domain"
import { rotateApiKey, rotateSmtp, RunLog } from "@roster/workflows"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { layerEmbedded, layerFile, layerMemory, layerServed, lostAnswers } from "../../src/index.ts"
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
  const options = {
    idle: "50 millis",
    schedule: Schedule.spaced("10 millis"),
    deliver: ({ token }: { readonly token: Redacted.Redacted<string> }) =>
      Effect.sync(() => {
        secrets.push(Redacted.value(token))
      })
  } as const
  yield* rotateApiKey(ci, options)
  const { name } = yield* rotateSmtp(shop, options)

  const { token: _, ...wanted } = key
  const keys = (yield* apiKeys.list()).filter((key) => !others.includes(key.name))
  assert.deepStrictEqual(
    keys.map((key) => ({ ...key, dateCreated: undefined, expires: lifetimeOf(key) })),
    [{ ...wanted, dateCreated: undefined, expires: lifetimeOf(wanted) }]
  )
  assert.deepStrictEqual(
    (yield* smtp.list()).map((one) => ({ lifetime: lifetimeOf(one), ipRanges: one.ipRanges, name: one.name })),
    [{ lifetime: lifetimeOf(login), ipRanges: limits.ipRanges, name }]
  )
  assert.match(name, /^shop\+\d{8}-[0-9a-f]{8}@rotation\.example$/)
  assert.strictEqual(new Set(secrets).size, 4)
  return secrets
}).pipe(Effect.provide(RunLog.layerMemory()))

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
    // Of both kinds: making the successor and deleting the old one; and the name, which keys alone take.
    const ofBoth = ["POST 201", "DELETE 200"]
    assert.sameMembers(lost, [...ofBoth, ...ofBoth, "PUT 200"])
  })
)
