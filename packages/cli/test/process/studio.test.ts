import { assert, describe, it } from "@effect/vitest"
import * as PageClient from "@roster/workflows/PageClient"
import { Effect, Layer, Schedule } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { delimiter, join } from "node:path"
import { createInterface } from "node:readline"
import { makeRosterHere } from "../inProcess.ts"
import { failure, start } from "../roster.ts"
import { serveWithKey, stop } from "../service.ts"

/** The environment of a desktop whose browser writes down what it is to open. */
const desktop = (folder: string) => {
  const opener = join(folder, "xdg-open")
  writeFileSync(opener, `#!/bin/sh\nprintf '%s\\n' "$1" >> ${join(folder, "opened")}\n`)
  chmodSync(opener, 0o755)
  return { PATH: [folder, process.env["PATH"] ?? ""].join(delimiter), DISPLAY: ":0" }
}

/** The page of a process, whose address is its first line. The process ends with the test. */
const studio = (folder: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = start(folder, ["studio", ...args], env)
      let stderr = ""
      child.stderr?.on("data", (part: Buffer) => (stderr += part.toString()))
      if (child.stdout === null) throw new Error("the process has no stdout")
      for await (const line of createInterface({ input: child.stdout })) {
        const { hash, origin } = new URL(line)
        const key = hash.replace("#session=", "")
        const ask = async (path: string, init: RequestInit = {}) =>
          (
            await fetch(`${origin}${path}`, {
              ...init,
              headers: { accept: "text/html", "x-service-apikey": key }
            })
          ).text()
        return {
          ask: (path: string, init?: RequestInit) => Effect.promise(() => ask(path, init)),
          child,
          key,
          line,
          stderr: () => stderr
        }
      }
      throw new Error(`the page was not served: ${stderr}`)
    }),
    ({ child }) =>
      Effect.promise(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill("SIGKILL")
        await once(child, "exit")
      })
  )

describe("roster studio", () => {
  it.live("makes a new store, opens the page, and ends with Ctrl-C", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { ask, child, key, line, stderr } = yield* studio(folder, ["--db", "new.db"], desktop(folder))
      assert.match(line, /^http:\/\/127\.0\.0\.1:\d+\/#session=[\w-]{43}$/)
      assert.include(yield* ask("/"), '<div id="root">')
      assert.deepInclude(JSON.parse(yield* ask("/studio/target")), {
        name: "[local] new.db",
        identity: `[local] ${join(folder, "new.db")}`,
        isStore: true,
        flags: "--db new.db"
      })
      assert.strictEqual((yield* run(["contacts", "add", "ann@example.com", "--db", "new.db"])).code, 0)
      assert.include(yield* ask("/v4/contacts"), "ann@example.com")
      if (process.platform === "linux") {
        const opened = join(folder, "opened")
        const text = Effect.sync(() => (existsSync(opened) ? readFileSync(opened, "utf8") : ""))
        const written = yield* Effect.repeat(text, {
          until: (written) => written.endsWith("\n"),
          schedule: Schedule.spaced("20 millis")
        })
        assert.strictEqual(written, `${line}\n`)
      }
      assert.strictEqual(yield* stop(child, "SIGINT"), 0)
      assert.match(
        stderr(),
        /^\[local\] new\.db, a new store\nroster \S+ shows \[local\] new\.db to this machine alone\. .*\n$/
      )
      assert.notInclude(stderr(), key)
    })
  )

  it.live("says that a port is taken, and makes no store for nothing", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const other = createServer().listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(other, "listening"))
      yield* Effect.addFinalizer(() => Effect.sync(() => other.close()))
      // A server that listens on TCP has an address of this kind.
      const { port } = other.address() as AddressInfo
      const taken = yield* run(["studio", "--port", String(port), "--db", "new.db", "--no-open"])
      assert.deepStrictEqual([taken.code, taken.stdout, failure(taken).code], [8, "", "ServeError"])
      assert.notInclude(taken.stderr, "a new store")
      assert.isFalse(existsSync(join(folder, "new.db")))
    })
  )

  it.live("shows a service, whose key the page does not get", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const service = yield* serveWithKey(folder)
      const login = ["auth", "login", "--base-url", service.address, "-p", "production", "--protect"]
      assert.strictEqual((yield* run(login, { input: `${service.key}\n` })).code, 0)
      const { ask, key } = yield* studio(folder, ["--no-open"], { ...service.env, ...desktop(folder) })
      assert.notInclude(key, service.key)
      assert.deepInclude(JSON.parse(yield* ask("/studio/target")), {
        name: service.address,
        isStore: false,
        flags: "",
        protectedBy: "production"
      })
      assert.strictEqual(yield* ask("/v4/contacts"), "[]")
      assert.isFalse(existsSync(join(folder, "opened")))
    })
  )

  it.live(
    "lets the page of a service without rules save and remove those of the file of profiles, which are checked",
    () =>
      Effect.gen(function* () {
        const { folder } = yield* makeRosterHere
        const config = join(folder, ".config/roster")
        mkdirSync(config, { recursive: true, mode: 0o700 })
        const file = join(config, "config.json")
        writeFileSync(file, JSON.stringify({ profiles: {}, rules: { vip: "plan = 'pro'" } }), { mode: 0o600 })
        const { key, line } = yield* studio(folder, ["--db", "new.db", "--no-open"])
        const address = new URL("/studio/calls", line).href
        const withKey = HttpClient.mapRequest(HttpClientRequest.setHeader("x-service-apikey", key))
        const client = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, withKey))
        const to = PageClient.layerCalls(address).pipe(Layer.provide(client), Layer.provide(FetchHttpClient.layer))
        const { removeRule, rules, saveRule } = yield* Effect.provideContext(PageClient.calls, yield* Layer.build(to))
        assert.deepStrictEqual(yield* rules(), { vip: "plan = 'pro'" })
        yield* saveRule({ name: "new", rule: "status = Active" })
        yield* removeRule({ name: "vip" })
        assert.strictEqual(yield* Effect.flip(removeRule({ name: "vip" })), 'There is no saved rule "vip".')
        assert.include(yield* Effect.flip(saveRule({ name: "bad", rule: "status = Activ" })), "^^^^^")
        assert.include(yield* Effect.flip(saveRule({ name: "b d", rule: "status = Active" })), "letters, digits")
        assert.deepStrictEqual(yield* rules(), { new: "status = Active" })
        const unreadable = { method: "POST", body: Buffer.alloc(2 ** 26 + 1), headers: { "x-service-apikey": key } }
        assert.strictEqual((yield* Effect.promise(() => fetch(address, unreadable))).status, 413)
        assert.include(readFileSync(file, "utf8"), `"rules":{"new":"status = Active"}`)
      })
  )
})
