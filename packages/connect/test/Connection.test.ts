import { assert, describe, it } from "@effect/vitest"
import { ContactsService, EmailAddress } from "@roster/domain"
import { ConfigProvider, Effect, Layer, Redacted, Result } from "effect"
import type { InvalidSettings } from "@roster/http-client"
import type { StoreError } from "@roster/server"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inspect } from "node:util"
import {
  type ConnectOptions,
  type Connection,
  choose,
  type Given,
  layerConfig,
  layerLocal,
  layerRemote,
  Local,
  Remote,
  type Services
} from "../src/Connection.ts"

const apiKey = Redacted.make("secret")
const baseUrl = "https://roster.example/v4"

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-connect-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** As plain JavaScript gives them. */
const unchecked = <A>(options: object): A => options as A

describe("options that there are not", () => {
  const service = { baseUrl, key: apiKey, apiKeyHeader: undefined, apiKeyPrefix: undefined }
  it.effect.each<readonly [string, string, Layer.Layer<Services, InvalidSettings | StoreError>]>([
    ["a connection", "transformClient", layerRemote(service, unchecked({ transformClien: undefined }))],
    ["a service", "apiKeyHeader", layerRemote(unchecked({ ...service, apiKeyHeade: "X" }))],
    ["a client", "retry", layerRemote(service, { client: unchecked({ retr: { attempts: 1 } }) })],
    ["a retry policy", "attempts", layerRemote(service, { client: { retry: unchecked({ attempt: 1 }) } })],
    ["a connection", "store", layerLocal(":memory:", unchecked({ stor: {} }))],
    ["a store", "allowedSenders", layerLocal(":memory:", { store: unchecked({ allowedSender: ["any"] }) })]
  ])("of %s are refused, which names %s", ([ofWhat, name, layer]) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      assert.include(message, `${ofWhat} has no field "${name.slice(0, -1)}"; did you mean "${name}"?`)
    })
  )
})

describe("choose", () => {
  it.each<readonly [string, Given, Connection]>([
    [
      "a service",
      { baseUrl, apiKey },
      Remote({ baseUrl, key: apiKey, apiKeyHeader: undefined, apiKeyPrefix: undefined })
    ],
    [
      "a service, with a header of its own, where a local store is refused",
      { baseUrl, apiKey, apiKeyHeader: "X", apiKeyPrefix: "Bearer ", requireRemote: true },
      Remote({ baseUrl, key: apiKey, apiKeyHeader: "X", apiKeyPrefix: "Bearer " })
    ],
    ["a store", { db: "a.db" }, Local({ filename: "a.db" })],
    ["the default store", {}, Local({ filename: undefined })]
  ])("takes %s", (_, given, connection) => {
    assert.deepStrictEqual(Result.getOrThrow(choose(given)), connection)
  })

  it.each<readonly [string, Given, string]>([
    ["a service and a store", { baseUrl, apiKey, db: "a.db" }, "TwoTargets"],
    ["a service without a key", { baseUrl }, "KeyMissing"],
    ["a key alone", { apiKey }, "AddressMissing"],
    ["a key and a store", { apiKey, db: "a.db" }, "AddressMissing"],
    ["a header and a store", { apiKeyHeader: "X", db: "a.db" }, "AddressMissing"],
    ["a prefix alone", { apiKeyPrefix: "Bearer " }, "AddressMissing"],
    ["a store where it is refused", { db: "a.db", requireRemote: true }, "RemoteRequired"]
  ])("refuses %s", (_, given, problem) => {
    const refused = choose(given)
    assert.strictEqual(Result.isFailure(refused) ? refused.failure.problem : "none", problem)
  })
})

const run = (env: Record<string, string>, options?: ConnectOptions & { readonly defaultDb?: string }) =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    yield* contacts.add([{ email: EmailAddress.make("ada@example.com") }])
    return (yield* contacts.list()).map(({ email }) => email)
  }).pipe(
    Effect.provide(layerConfig(options)),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )

/** Answers in place of the network, and records what was sent. */
const answering = () => {
  const sent: Array<HttpClientRequest.HttpClientRequest> = []
  const client = HttpClient.make((request) => {
    sent.push(request)
    return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json([{ Email: "ann@example.com" }])))
  })
  return { sent, options: { transformClient: () => client } }
}

describe("layerConfig", () => {
  it.effect("uses the service of the environment, with its key", () =>
    Effect.gen(function* () {
      const { options, sent } = answering()
      const env = {
        ROSTER_BASE_URL: baseUrl,
        ROSTER_API_KEY: "secret",
        ROSTER_API_KEY_HEADER: "X-Own",
        ROSTER_API_KEY_PREFIX: "Bearer ",
        ROSTER_REQUIRE_REMOTE: "true",
        ROSTER_PROFILE: "work"
      }
      assert.deepStrictEqual(yield* run(env, options), ["ann@example.com"])
      assert.deepStrictEqual(
        sent.map(({ headers, method, url }) => [method, url, headers["x-own"]]),
        [
          ["POST", `${baseUrl}/contacts`, "Bearer secret"],
          ["GET", `${baseUrl}/contacts`, "Bearer secret"]
        ]
      )
    })
  )

  it.live("uses the store of the environment, or else the default one of the application", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const db = join(folder, "given.db")
      const defaultDb = join(folder, "default.db")
      assert.deepStrictEqual(yield* run({ ROSTER_DB: db }, { defaultDb }), ["ada@example.com"])
      assert.isFalse(readdirSync(folder).includes("default.db"))
      assert.deepStrictEqual(yield* run({}, { defaultDb }), ["ada@example.com"])
      assert.isTrue(readdirSync(folder).includes("default.db"))
    }).pipe(Effect.scoped)
  )

  it.effect.each<readonly [string, Record<string, string>, string, string | undefined]>([
    ["nothing", {}, "NothingGiven", undefined],
    ["a profile, which is the command line's", { ROSTER_PROFILE: "work" }, "ProfileGiven", ":memory:"],
    ["half of a service", { ROSTER_BASE_URL: baseUrl }, "KeyMissing", ":memory:"],
    ["a key without an address", { ROSTER_API_KEY: "secret" }, "AddressMissing", ":memory:"],
    ["a store where it is refused", { ROSTER_REQUIRE_REMOTE: "1" }, "RemoteRequired", ":memory:"]
  ])("opens nothing where the environment has %s", ([, env, problem, defaultDb]) =>
    Effect.gen(function* () {
      const { options, sent } = answering()
      const given = defaultDb === undefined ? options : { ...options, defaultDb }
      const refused = yield* Effect.flip(run(env, given))
      assert.strictEqual(refused._tag, "UnclearConnection")
      if (refused._tag !== "UnclearConnection") return
      assert.strictEqual(refused.problem, problem)
      assert.match(refused.message, /ROSTER_[A-Z_]+/)
      assert.deepStrictEqual(sent, [])
    })
  )

  it.effect.each(["TRUE", "Yes", "on\r", " 1 ", "true\r\n", "Y"])("understands that %j is on", (on) =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(run({ ROSTER_REQUIRE_REMOTE: on }, { defaultDb: ":memory:" }))
      assert.propertyVal(refused, "problem", "RemoteRequired")
      const off = { true: "FALSE", yes: "No", on: "off\r", "1": " 0 ", y: "n" }[on.trim().toLowerCase()] ?? ""
      assert.deepStrictEqual(yield* run({ ROSTER_REQUIRE_REMOTE: off }, { defaultDb: ":memory:" }), ["ada@example.com"])
    })
  )

  it.effect("names a variable that is neither on nor off", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(run({ ROSTER_REQUIRE_REMOTE: "maybe" }, { defaultDb: ":memory:" }))
      assert.strictEqual(refused._tag, "ConfigError")
      assert.match(refused.message, /true or false[^]*ROSTER_REQUIRE_REMOTE/)
    })
  )

  it.effect("takes a transport for the service, which its store does without", () =>
    Effect.gen(function* () {
      const sent: Array<string> = []
      const client = HttpClient.make((request) => {
        sent.push(request.method)
        return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json([{ Email: "ann@example.com" }])))
      })
      const options = { transport: Layer.succeed(HttpClient.HttpClient, client) }
      const env = { ROSTER_BASE_URL: baseUrl, ROSTER_API_KEY: "secret" }
      assert.deepStrictEqual(yield* run(env, options), ["ann@example.com"])
      assert.deepStrictEqual(sent, ["POST", "GET"])
      assert.deepStrictEqual(yield* run({ ROSTER_DB: ":memory:" }, options), ["ada@example.com"])
      assert.deepStrictEqual(sent, ["POST", "GET"])
    })
  )

  it.live("names no store file by the line break of a file of variables", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* run({ ROSTER_DB: `${join(folder, "a.db")}\r\n` })
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.trim() !== name),
        []
      )
      assert.isTrue(readdirSync(folder).includes("a.db"))
    }).pipe(Effect.scoped)
  )

  it.effect.each<readonly [Record<string, string>, string]>([
    [{ ROSTER_BASE_URL: "roster.example", ROSTER_API_KEY: "secret" }, "ROSTER_BASE_URL"],
    [{ ROSTER_BASE_URL: baseUrl, ROSTER_API_KEY: "two words" }, "ROSTER_API_KEY"],
    [{ ROSTER_BASE_URL: baseUrl, ROSTER_API_KEY: "k", ROSTER_API_KEY_HEADER: "X Y" }, "ROSTER_API_KEY_HEADER"],
    [{ ROSTER_BASE_URL: baseUrl, ROSTER_API_KEY: "k", ROSTER_API_KEY_PREFIX: "\n" }, "ROSTER_API_KEY_PREFIX"]
  ])("names the variable that cannot be used: %o", ([env, variable]) =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(run(env, answering().options))
      assert.strictEqual(refused._tag, "InvalidSettings")
      if (refused._tag === "InvalidSettings") assert.strictEqual(refused.variable, variable)
      assert.notInclude(inspect(refused), "two words")
    })
  )

  it.each([
    ["a store", { ROSTER_DB: ":memory:" }, /server\/src\/EmbeddedHttpClient/, /undici/i],
    [
      "a service",
      { ROSTER_BASE_URL: "http://127.0.0.1:9/v4", ROSTER_API_KEY: "k" },
      /UndiciHttpClient/,
      /packages\/server\//
    ]
  ] as const)("loads the code of %s only", (_, env, used, unused) => {
    const program = `
      import { registerHooks } from "node:module"
      const loaded = []
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
      const { Connection } = await import("@roster/connect")
      const { Effect, Layer } = await import("effect")
      const before = loaded.length
      await Effect.runPromise(Effect.scoped(Layer.build(Connection.layerConfig())))
      console.log(JSON.stringify([loaded.slice(0, before), loaded]))`
    const said = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: fileURLToPath(new URL("../../cli", import.meta.url)),
      env: { ...env },
      encoding: "utf8"
    })
    const [before, loaded] = JSON.parse(said) as [Array<string>, Array<string>]
    assert.deepStrictEqual(
      before.filter((url) => /packages\/(?:server|http-client)\//.test(url)),
      []
    )
    assert.isTrue(loaded.some((url) => used.test(url)))
    assert.deepStrictEqual(
      loaded.filter((url) => unused.test(url)),
      []
    )
  })
})
