import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeRosterHere } from "../inProcess.ts"
import { type Ended, ended, failure, jsonOf, makeRoster, type Roster, start } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

const canary = "canary-7c1d9e52f0"

describe("a key", () => {
  it.live("that is wrong has an error of its own, and appears in no output", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, key } = yield* serveWithKey(folder)
      const env = { ROSTER_BASE_URL: address, ROSTER_API_KEY: canary }
      for (const args of [
        ["contacts", "list"],
        ["apikeys", "list", "-o", "table"],
        ["contacts", "import", "-"]
      ]) {
        const refused = yield* run(args, { env, input: "Email\nann@example.com\n" })
        assert.strictEqual(refused.code, 4, args.join(" "))
        assert.notInclude(refused.stdout + refused.stderr, canary)
      }
      const wrong = yield* run(["contacts", "list"], { env })
      assert.strictEqual(failure(wrong).code, "Unauthorized")

      // A good key that may not do this is refused with the level that it lacks.
      const own = { ROSTER_BASE_URL: address, ROSTER_API_KEY: key }
      const created = yield* run(["apikeys", "create", "reader", "--access", "ViewContacts"], { env: own })
      const { Token } = jsonOf<{ Token: string }>(created)
      const reader = { ROSTER_BASE_URL: address, ROSTER_API_KEY: Token }
      assert.strictEqual((yield* run(["contacts", "list"], { env: reader })).code, 0)
      const denied = yield* run(["contacts", "add", "ann@example.com"], { env: reader })
      assert.deepStrictEqual([denied.code, failure(denied).code], [4, "AccessDenied"])
      assert.include(failure(denied).message, "ModifyContacts")
      for (const { stderr, stdout } of [created, denied, yield* run(["apikeys", "list"], { env: own })]) {
        assert.notInclude(stdout + stderr, key)
      }
      assert.notInclude(denied.stderr, Token)
    })
  )

  it.live("appears in no output of a failure, whatever fails", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      writeFileSync(join(folder, "key"), `${canary}\n`)
      writeFileSync(join(folder, "two.key"), `${canary}\n${canary}\n`)
      const { env } = yield* fakeService((request, response) => {
        if (request.url?.includes("offset=1") === true) return request.socket.destroy()
        return response.writeHead(400, { "Content-Type": "application/json" }).end('{"Error":"No."}')
      })
      const url = env.ROSTER_BASE_URL
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, number]> = [
        [["contacts", "list", "--base-url", url, "--api-key-file", "key"], 7],
        [["contacts", "list", "--base-url", url, "--api-key-file", "key", "--offset", "1"], 8],
        [["contacts", "list", "--base-url", url, "--api-key-file", "two.key"], 4],
        [["contacts", "list", "--base-url", "http://127.0.0.1:9/v4", "--api-key-file", "key"], 8],
        [["contacts", "list", "--base-url", url, "--api-key-file", "key", "--api-key-header", "a b"], 2],
        [["contacts", "list", "--api-key-file", "key"], 2],
        [["--api-key", canary, "contacts", "list"], 2],
        [["contacts", "list", `--api-key=${canary}`], 2],
        [["contacts", "lst", "--api-key", canary], 2]
      ]
      for (const [index, [args, code]] of cases.entries()) {
        const failed = yield* run([...args, "-o", index % 2 === 0 ? "table" : "json"])
        assert.strictEqual(failed.code, code, `${args.join(" ")}: ${failed.stderr}`)
        assert.notInclude(failed.stdout + failed.stderr, canary, args.join(" "))
      }
    })
  )
})

/** The command lines of all processes of this machine, as each of its users can read them. */
const commandLines = (): string =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8")
      } catch {
        return ""
      }
    })
    .join("\n")

describe("a key on the way to a command", () => {
  it.live.skipIf(process.platform !== "linux")(
    "K04 comes by the environment, standard input, a file or a command",
    () =>
      Effect.gen(function* () {
        const { folder } = yield* makeRoster
        const key = join(folder, "key")
        writeFileSync(key, `${canary}\n`, { mode: 0o600 })
        let asked = () => {}
        const heard: Array<unknown> = []
        // The service never answers, so that the command is there to be looked at.
        const { env } = yield* fakeService((request) => {
          heard.push(request.headers["x-service-apikey"])
          asked()
        })
        const { ROSTER_BASE_URL: url } = env
        const config = { profile: "a", profiles: { a: { baseUrl: url, credentialProcess: `cat '${key}'` } } }
        const list = ["contacts", "list"]
        const ways: ReadonlyArray<readonly [ReadonlyArray<string>, Readonly<Record<string, string>>, string]> = [
          [list, { ROSTER_BASE_URL: url, ROSTER_API_KEY: canary }, ""],
          [[...list, "--base-url", url, "--api-key-file", key], {}, ""],
          [[...list, "--base-url", url, "--api-key-file", "-"], {}, canary],
          [["auth", "login", "--base-url", url], {}, canary],
          [["auth", "login", "--base-url", url, "--key-file", key], {}, ""],
          [["auth", "login", "--base-url", url, "--credential-process", config.profiles.a.credentialProcess], {}, ""]
        ]
        for (const [args, given, input] of ways) {
          heard.length = 0
          const waiting = new Promise<void>((resolve) => {
            asked = resolve
          })
          const child = start(folder, args, given)
          const exit = once(child, "exit")
          child.stdin?.end(input)
          yield* Effect.promise(() => Promise.race([waiting, exit]))
          const seen = commandLines()
          assert.include(seen, "roster.js")
          assert.notInclude(seen, canary, args.join(" "))
          child.kill("SIGKILL")
          yield* Effect.promise(() => exit)
          assert.deepStrictEqual(heard, [canary], args.join(" "))
        }
      })
  )

  it.live("K04 is refused as an argument, wherever it is typed, and is not said again", () =>
    Effect.gen(function* () {
      const here = yield* makeRosterHere
      const asProcess = yield* makeRoster
      const { env, requests } = yield* fakeService((_, response) => response.writeHead(500).end())
      const url = env.ROSTER_BASE_URL
      const list = ["contacts", "list", "--base-url", url]
      const places = (key: string): ReadonlyArray<ReadonlyArray<string>> => [
        [key],
        ["contacts", key],
        [...list, key],
        [...list, "--api-key", key],
        [...list, `--api-key=${key}`],
        ["contacts", "get", key],
        [...list, "--api-key-file", key],
        [...list, "--profile", key],
        ["auth", "login", "--base-url", url, key],
        ["auth", "login", "--base-url", url, "--key", key],
        ["auth", "login", "--base-url", url, "--key-file", key],
        ["apikeys", "create", "ci", "--access", key]
      ]
      const refuse = Effect.fnUntraced(function* (by: Roster, key: string, args: ReadonlyArray<string>) {
        const refused = yield* by.run([...args, "-o", args.length % 2 === 0 ? "table" : "json"])
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""], args.join(" "))
        assert.notInclude(refused.stderr, key.slice(0, 12), args.join(" "))
      })
      const ours = "roster_1cm9losicpqnguqvjs7pdv1cc0tc5tyxoip3an0dpk7sw"
      for (const args of places(ours)) yield* refuse(here, ours, args)
      // As a process it says no more.
      for (const args of [[ours], [...list, "--api-key", ours]]) yield* refuse(asProcess, ours, args)
      // A key of another service is recognised by the same code, wherever it is.
      for (const key of [
        "F5D1E3C0A97B48629D1FA0C2B3E4D5F60718293A4B5C6D7E8F90A1B2C3D4E5F6F5D1E3C0A97B48629D1FA0C2B3E4D5F6",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dcQm5Xw"
      ]) {
        yield* refuse(here, key, [...list, "--api-key", key])
      }
      assert.deepStrictEqual(requests, [])
    })
  )
})

describe("a key while a command goes wrong", () => {
  it.live("K18 appears in no output, whatever is traced and however it ends", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRoster
      const { env } = yield* fakeService((request, response) => {
        if (request.url?.includes("offset=1") === true) return request.socket.destroy()
        if (request.url?.includes("offset=2") === true) return request.socket.end("SSH-2.0-OpenSSH\r\n")
        if (request.url?.includes("offset=3") === true)
          return response.writeHead(302, { Location: "http://evil.invalid/" }).end()
        response.writeHead(200, { "Content-Type": "application/json" })
        return response.end(request.url?.includes("offset=4") === true ? '[{"Email":1}]' : "[]")
      })
      const given = { ...env, ROSTER_API_KEY: canary }
      const list = ["contacts", "list"]
      const traces: ReadonlyArray<Readonly<Record<string, string>>> = [
        { NODE_DEBUG: "http,net,tls,undici,fetch,child_process" },
        { NODE_OPTIONS: "--trace-uncaught --trace-warnings --trace-exit --stack-trace-limit=200" },
        { NODE_OPTIONS: "--max-old-space-size=8" },
        { ROSTER_REQUIRE_REMOTE: "perhaps" },
        { LOG_LEVEL: "Trace", EFFECT_LOG_LEVEL: "All", DEBUG: "*" }
      ]
      const said: Array<Ended> = []
      for (const trace of traces) said.push(yield* run(list, { env: { ...given, ...trace } }))
      for (const offset of ["1", "2", "3", "4"]) {
        said.push(yield* run([...list, "--offset", offset], { env: { ...given, ...traces[0], ...traces[1] } }))
      }
      const child = start(folder, [...list, "--timeout", "1ms"], given)
      said.push(yield* Effect.promise(() => ended(child)))
      // Something was traced, and something did go wrong.
      assert.isAbove(said.filter(({ code }) => code !== 0).length, 4)
      assert.isTrue(said.some(({ stderr }) => /UNDICI|NET/.test(stderr)))
      for (const { stderr, stdout } of said) assert.notInclude(stdout + stderr, canary)
    })
  )
})
