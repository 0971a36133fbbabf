import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { join } from "node:path"
import { hasTerminal, keys, openTerminal } from "../pty/terminal.ts"
import { makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf, makeRoster, start } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

const configFolder = (folder: string) => join(folder, ".config", "roster")
const configFile = (folder: string) => join(configFolder(folder), "config.json")
const modeOf = (path: string) => statSync(path).mode & 0o777

const secret = "secret_abcdefghijklmnopqrstuvwxyz"

describe("roster auth", () => {
  it.live("keeps a good key, and commands work on its service from then on", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, key, keyFile } = yield* serveWithKey(folder)
      const login = yield* run(["auth", "login", "--base-url", address], { input: `${key}\n` })
      assert.strictEqual(login.code, 0, login.stderr)
      assert.deepStrictEqual(json(login), {
        profile: "default",
        baseUrl: address,
        key: `…${key.slice(-4)}`,
        verdict: "accepted"
      })
      assert.notInclude(login.stdout + login.stderr, key)
      const added = yield* run(["contacts", "add", "ann@example.com"])
      // Nobody named the service here, as nobody names the default store.
      assert.strictEqual(added.stderr.split("\n")[0], `[default] ${address}`)
      assert.strictEqual((yield* run(["contacts", "list", "--profile", "default"])).stderr, "")
      const served = yield* run(["contacts", "list"], { env: { ROSTER_BASE_URL: address, ROSTER_API_KEY: key } })
      assert.deepStrictEqual(
        jsonOf<ReadonlyArray<{ Email: string }>>(served).map(({ Email }) => Email),
        ["ann@example.com"]
      )
      const again = yield* run(["auth", "login", "--base-url", address, "--key-file", keyFile, "--profile", "second"])
      assert.strictEqual(again.code, 0, again.stderr)
      assert.deepStrictEqual(
        jsonOf<ReadonlyArray<{ Name: string; InUse: boolean }>>(yield* run(["profile", "list"])).map(
          ({ InUse, Name }) => [Name, InUse]
        ),
        [
          ["default", false],
          ["second", true]
        ]
      )
      assert.strictEqual((yield* run(["auth", "logout"])).code, 0)
      const gone = yield* run(["contacts", "list"])
      assert.deepStrictEqual([gone.code, failure(gone).code], [4, "MissingKey"])
      assert.strictEqual((yield* run(["contacts", "list", "-p", "default"])).code, 0)
      // What is left of the profile can still be asked about.
      const status = yield* run(["status"])
      assert.deepStrictEqual([status.code, failure(status).code], [4, "MissingKey"])
      assert.deepStrictEqual(json(status), {
        target: "remote",
        baseUrl: address,
        from: "the profile second",
        key: null,
        source: null
      })
      const doctor = yield* run(["doctor"])
      assert.strictEqual(doctor.code, 8, doctor.stderr)
      assert.match(doctor.stdout, /"Check":"settings","Result":"failed","Detail":"The profile second has no API key/)

      const local = yield* run(["profile", "use", "local"])
      assert.strictEqual(local.code, 0, local.stderr)
      assert.deepInclude(json(yield* run(["status"])), { target: "local", from: null })
      const empty = yield* run(["contacts", "list"])
      assert.deepStrictEqual([empty.code, failure(empty).code], [5, "NoStore"])
      assert.strictEqual((yield* run(["profile", "use", "default"])).code, 0)
      assert.deepInclude(json(yield* run(["status", "-p", "local"])), { target: "local", from: null })
      const named = yield* run(["auth", "login", "--base-url", address, "-p", "local"], { input: key })
      assert.deepStrictEqual([named.code, failure(named).code], [2, "UsageError"])
    })
  )

  it.live("checks the address before the key is read, and names where it comes from", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const absent = ["--key-file", join(folder, "absent.key")]
      for (const [args, env, words] of [
        [["--base-url", "https://example.com"], {}, /--base-url .*cannot be used: its path does not end with \/v4/],
        [["--base-url", "example.com/v4"], {}, /--base-url .*cannot be used/],
        [["--base-url", "http://example.com/v4"], {}, /--base-url .*unencrypted/],
        [[], { ROSTER_BASE_URL: "https://example.com" }, /ROSTER_BASE_URL .*cannot be used/],
        [["--base-url", "https://example.com/v4", "--api-key-header", "a b"], {}, /--api-key-header .*cannot be used/],
        [[], {}, /^The address of the service is missing/]
      ] as const) {
        const refused = yield* run(["auth", "login", ...args, ...absent], { env })
        assert.strictEqual(refused.code, 2, refused.stderr)
        assert.match(failure(refused).message, words)
      }
    })
  )

  it.live("a protected profile takes no yes for its name, however its service is named", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, env, key } = yield* serveWithKey(folder)
      yield* run(["auth", "login", "--base-url", address, "-p", "production", "--protect"], { input: `${key}\n` })
      yield* run(["contacts", "add", "ann@example.com"])
      const deletion = ["contacts", "delete", "ann@example.com"]
      for (const by of [{}, { env: { ...env, ROSTER_BASE_URL: `${address}/` } }]) {
        const refused = yield* run([...deletion, "--yes"], by)
        assert.deepStrictEqual([refused.code, failure(refused).code], [3, "Declined"], refused.stderr)
        assert.include(failure(refused).message, "the profile production is protected")
        assert.strictEqual((yield* run([...deletion, "--dry-run"], by)).code, 0)
      }
      assert.strictEqual((yield* run(["apikeys", "delete", "none", "--yes"])).code, 3)
      if (!hasTerminal) return
      for (const [typed, code] of [
        ["y", 3],
        ["production", 0]
      ] as const) {
        const { ended, shows, type } = yield* openTerminal(folder, [...deletion, "--yes"])
        yield* shows("to confirm:")
        yield* type(`${typed}${keys.enter}`)
        assert.strictEqual((yield* ended).code, code)
      }
    })
  )

  it.live("doctor says what is wrong with a broken configuration", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      mkdirSync(configFolder(folder), { recursive: true, mode: 0o700 })
      writeFileSync(configFile(folder), '{"profiles":', { mode: 0o600 })
      const broken = yield* run(["doctor"])
      assert.strictEqual(broken.code, 8, broken.stderr)
      assert.match(broken.stdout, /"Check":"settings","Result":"failed","Detail":"[^"]*is not a profiles file/)
      writeFileSync(configFile(folder), '{"profiles":{}}', { mode: 0o600 })
      const mended = yield* run(["doctor"])
      assert.strictEqual(mended.code, 0, mended.stderr)
      assert.match(mended.stdout, /"Check":"store","Result":"ok","Detail":"none yet/)
      assert.throws(() => statSync(join(folder, ".local")))
    })
  )

  it.live("heeds --api-key-file and the variables of how a key is sent, and saves no empty key", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const at = ["auth", "login", "--base-url", "http://127.0.0.1:1/v4", "--no-check"]
      writeFileSync(join(folder, "key.txt"), `${secret}\n`)
      writeFileSync(join(folder, "empty.txt"), "\n")
      for (const empty of [["--key-file", "empty.txt"], ["--api-key-file", "empty.txt"], []]) {
        const refused = yield* run([...at, ...empty], { input: "" })
        assert.deepStrictEqual(
          [refused.code, failure(refused).message],
          [2, "The API key is empty, so nothing was saved."]
        )
      }
      assert.deepStrictEqual(json(yield* run(["profile", "list"])), [])
      const env = { ROSTER_PROFILE: "work", ROSTER_API_KEY_HEADER: "X-Key", ROSTER_API_KEY_PREFIX: "Bearer" }
      const saved = yield* run([...at, "--api-key-file", "key.txt"], { env, input: "" })
      assert.deepInclude(json(saved), { profile: "work", key: `…${secret.slice(-4)}` }, saved.stderr)
      const { profiles } = JSON.parse(readFileSync(configFile(folder), "utf8"))
      assert.deepInclude(profiles.work, { apiKeyHeader: "X-Key", apiKeyPrefix: "Bearer" })
      for (const [flags, words] of [
        [["--api-key-file", "key.txt", "--key-file", "key.txt"], "--key-file and --api-key-file"],
        [["--api-key-file", "key.txt", "--credential-process", "pass"], "--credential-process and --api-key-file"],
        [["--db", "a.db", "--key-file", "key.txt"], "--db is a local store"]
      ] as const) {
        const refused = yield* run([...at, ...flags])
        assert.strictEqual(refused.code, 2)
        assert.include(refused.stderr, words)
      }
    })
  )

  it.live(
    "a database of the environment is refused where nothing uses it, and -q hides no target that nobody named",
    () =>
      Effect.gen(function* () {
        const { run } = yield* makeRosterHere
        const env = { ROSTER_DATABASE_URL: "postgres://roster@127.0.0.1:1/roster" }
        const made = yield* run(["contacts", "add", "ann@example.com", "-q"])
        assert.match(made.stderr, /^\[local\] .*, a new store\n$/)
        assert.match((yield* run(["contacts", "count", "--quiet"])).stderr, /^\[local\] .*\n$/)
        for (const words of [
          ["contacts", "count"],
          ["status"],
          ["lists", "list"],
          ["contacts", "delete", "ann@example.com"]
        ]) {
          const refused = yield* run(words, { env })
          assert.deepStrictEqual([refused.code, refused.stdout], [2, ""], refused.stderr)
          assert.include(failure(refused).message, "ROSTER_DATABASE_URL is set")
        }
        assert.strictEqual(
          (yield* run(["contacts", "list", "-qocsv", "--columns", "Email"])).stdout,
          "Email\r\nann@example.com\r\n"
        )
        const named = yield* run(["contacts", "count", "--db", "a.db"], { env })
        assert.notInclude(named.stderr, "ROSTER_DATABASE_URL")
        assert.strictEqual((yield* run(["profile", "list"], { env })).code, 0)
      })
  )

  it.live("keeps nothing of a key that the service refuses", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* fakeService((_, response) =>
        response.writeHead(401, { "Content-Type": "application/json" }).end('{"Error":"Incorrect apikey"}')
      )
      const refused = yield* run(["auth", "login", "--base-url", env.ROSTER_BASE_URL], { input: secret })
      assert.deepStrictEqual([refused.code, failure(refused).code, refused.stdout], [4, "Unauthorized", ""])
      assert.throws(() => statSync(configFile(folder)))
    })
  )

  it.live("K01 keeps keys in a file that is the user's alone, whatever was there before", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      mkdirSync(configFolder(folder), { recursive: true })
      chmodSync(configFolder(folder), 0o755)
      writeFileSync(configFile(folder), '{"profiles":{}}', { mode: 0o644 })
      const before = process.umask(0)
      const login = yield* run(["auth", "login", "--base-url", "https://example.com/v4", "--no-check"], {
        input: secret
      }).pipe(Effect.ensuring(Effect.sync(() => process.umask(before))))
      assert.strictEqual(login.code, 0, login.stderr)
      assert.deepStrictEqual([modeOf(configFolder(folder)), modeOf(configFile(folder))], [0o700, 0o600])
      assert.include(readFileSync(configFile(folder), "utf8"), secret)
      const said = [
        login,
        yield* run(["status"]),
        yield* run(["profile", "list"]),
        yield* run(["contacts", "get", "nobody", "-o", "table"])
      ]
      for (const { stderr, stdout } of said) assert.notInclude(stdout + stderr, secret.slice(7))
    })
  )

  it.live("K02 leaves the old file or the new one, however its writer ends", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const args = ["auth", "login", "--base-url", "https://example.com/v4", "--no-check", "--profile"]
      yield* run([...args, "first"], { input: secret })
      let killed = 0
      for (let attempt = 0; attempt < 8; attempt++) {
        const child = start(folder, [...args, `p${attempt}`])
        const ended = once(child, "exit")
        child.stdin?.end(secret)
        // Killed when its lock, its draft or its end is seen, or whatever comes first.
        while (child.exitCode === null && child.signalCode === null) {
          const found = [`${configFile(folder)}.lock`, `${configFile(folder)}.new`].some(
            (path) => statSync(path, { throwIfNoEntry: false }) !== undefined
          )
          if (found) child.kill("SIGKILL")
          yield* Effect.promise(() => new Promise((resume) => setImmediate(resume)))
        }
        yield* Effect.promise(() => ended)
        if (child.signalCode === "SIGKILL") killed++
        const listed = yield* run(["profile", "list"])
        assert.strictEqual(listed.code, 0, listed.stderr)
        assert.include(listed.stdout, '"first"')
      }
      assert.isAbove(killed, 0)
      // The lock of a dead command is nobody's.
      const last = yield* run([...args, "last"], { input: secret })
      assert.strictEqual(last.code, 0, last.stderr)
    })
  )

  it.live("loses no profile of commands that write at once", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const names = ["a", "b", "c", "d"]
      const login = (name: string) =>
        run(["auth", "login", "--base-url", "https://example.com/v4", "--no-check", "-p", name], { input: secret })
      const ended = yield* Effect.forEach(names, login, { concurrency: 4 })
      assert.deepStrictEqual(
        ended.map(({ code }) => code),
        [0, 0, 0, 0]
      )
      const listed = jsonOf<ReadonlyArray<{ Name: string }>>(yield* run(["profile", "list"]))
      assert.sameMembers(
        listed.map(({ Name }) => Name),
        names
      )
    })
  )

  it.live("asks a command for the key, each time", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, keyFile } = yield* serveWithKey(folder)
      const login = yield* run(["auth", "login", "--base-url", address, "--credential-process", `cat '${keyFile}'`])
      assert.strictEqual(login.code, 0, login.stderr)
      assert.notInclude(readFileSync(configFile(folder), "utf8"), readFileSync(keyFile, "utf8").trim())
      assert.strictEqual((yield* run(["contacts", "list"])).code, 0)
      // Once each time, also where the key is shown and used.
      const counting = `echo asked >> '${folder}/asked'; cat '${keyFile}'`
      yield* run(["auth", "login", "--base-url", address, "--no-check", "--credential-process", counting])
      for (const command of ["status", "doctor"]) {
        writeFileSync(join(folder, "asked"), "")
        assert.strictEqual((yield* run([command])).code, 0, command)
        assert.strictEqual(readFileSync(join(folder, "asked"), "utf8"), "asked\n", command)
      }
      writeFileSync(keyFile, "")
      const none = yield* run(["contacts", "list"])
      assert.deepStrictEqual(
        [none.code, failure(none).message],
        [2, "The credential command of the profile printed no key."]
      )
    })
  )

  it.live("takes the key of a profile to the address of that profile alone", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const kept = ["auth", "login", "--base-url", "https://example.com/v4", "--no-check", "--require-remote"]
      yield* run(kept, { input: secret })
      const elsewhere = yield* run(["contacts", "list", "--base-url", "http://127.0.0.1:1/v4"])
      assert.deepStrictEqual([elsewhere.code, failure(elsewhere).code], [4, "MissingKey"])
      // Either of them is enough.
      const local = yield* run(["contacts", "list", "--db", "x.db"], { env: { ROSTER_REQUIRE_REMOTE: "false" } })
      assert.deepStrictEqual([local.code, failure(local).code], [2, "UsageError"])
      assert.match(failure(local).message, /profile default forbids/)
      const unknown = yield* run(["contacts", "list", "-p", "nope"])
      assert.match(failure(unknown).hint, /default/)
      const forbidden = yield* run(["contacts", "list", "-p", "a/b"])
      assert.strictEqual(forbidden.code, 2)
    })
  )
})
