import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { type IncomingMessage, request as httpRequest } from "node:http"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { json as readJson } from "node:stream/consumers"
import { makeRosterHere } from "../inProcess.ts"
import { failure, json, temporaryFolder } from "../roster.ts"
import { serve, serveWithKey, stop } from "../service.ts"

/** What a browser gets at the root of a service. */
const rootOf = (address: string) =>
  Effect.promise(async () => (await fetch(new URL("/", address), { headers: { accept: "text/html" } })).text())

describe("roster serve", () => {
  it.live("writes the key of a new store, prints its address, and drains on SIGTERM", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, child, env, key, keyFile, lines } = yield* serveWithKey(folder, [
        "--allow-sender",
        "*@example.com"
      ])
      assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/v4$/)
      assert.deepStrictEqual(lines, [`listening on ${address}`])
      assert.include(yield* rootOf(address), '<div id="root">')
      assert.strictEqual(readFileSync(keyFile, "utf8"), `${key}\n`)
      assert.strictEqual(statSync(keyFile).mode & 0o777, 0o600)

      assert.strictEqual((yield* run(["contacts", "add", "ann@example.com"], { env })).code, 0)
      const byFile = yield* run(["contacts", "list", "--base-url", address, "--api-key-file", keyFile])
      assert.strictEqual(byFile.code, 0, byFile.stderr)
      assert.strictEqual(byFile.stderr, "")
      const byInput = yield* run(["--api-key-file", "-", "contacts", "list", "--base-url", address], {
        input: `${key}\n`
      })
      assert.deepStrictEqual(json(byInput), json(byFile))

      const sender = ["emails", "send", "--to", "ann@example.com", "--subject", "Hi", "--from"]
      const sent = yield* run([...sender, "News <news@example.com>", "--text-file", "-"], { env, input: "Hello" })
      assert.strictEqual(sent.code, 0, sent.stderr)
      assert.hasAllKeys(json(sent), ["TransactionID", "MessageID"])
      const refused = yield* run([...sender, "ceo@bank.example", "--html", "<p>Hello"], { env })
      assert.deepStrictEqual([refused.code, failure(refused).code], [7, "NotAllowedSender"])

      assert.strictEqual(yield* stop(child, "SIGTERM"), 0)
      const gone = yield* run(["contacts", "list"], { env })
      assert.deepStrictEqual([gone.code, failure(gone).code], [8, "Unavailable"])
    })
  )

  it.live("says whether it lives and is ready, by any name and without a key", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { address, child } = yield* serveWithKey(folder, ["--access-log", "--no-studio"])
      const entries: Array<Record<string, unknown>> = []
      child.stdout?.on("data", (part: Buffer) => {
        for (const line of part.toString().trim().split("\n")) entries.push(JSON.parse(line))
      })
      const ask = (path: string) =>
        Effect.promise(async () => {
          const url = new URL(path, address)
          // fetch sets the Host header itself.
          const request = httpRequest(url, { headers: { host: "roster.internal" } }).end()
          const [response] = (await once(request, "response")) as [IncomingMessage]
          return { status: response.statusCode, body: await readJson(response) }
        })
      assert.deepStrictEqual(yield* ask("/health/live"), { status: 200, body: { status: "live" } })
      assert.deepStrictEqual(yield* ask("/health/ready"), { status: 200, body: { status: "ready" } })
      assert.strictEqual((yield* ask("/health/other")).status, 401)
      assert.strictEqual((yield* ask("/v4/contacts")).status, 421)
      assert.include(yield* rootOf(address), 'href="docs"')
      assert.strictEqual(yield* stop(child, "SIGTERM"), 0)
      assert.deepInclude(entries[0], { method: "GET", route: "/health/live", status: 200 })
    })
  )

  it.live("starts again with the same command, and makes no second key", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const first = yield* serveWithKey(folder)
      assert.strictEqual(yield* stop(first.child, "SIGINT"), 0)
      const second = yield* serveWithKey(folder)
      assert.strictEqual(second.key, first.key)
      const port = new URL(second.address).port
      const taken = yield* run(["serve", "--port", port, "--db", "other.db", "--key-file", "-"])
      assert.deepStrictEqual([taken.code, failure(taken).code], [8, "ServeError"])

      // A newer version has used the store meanwhile.
      const store = new DatabaseSync(join(folder, "served.db"))
      const ended = once(second.child, "exit")
      store.exec("INSERT INTO migrations (migration_id, name) VALUES (1000, 'later')")
      store.close()
      const [code] = yield* Effect.promise(() => ended)
      assert.strictEqual(code, (yield* run(["serve", "--port", "0", "--db", "served.db", "--key-file", "-"])).code)
      assert.include(second.stderr(), "written by a newer version of Roster: its tables are at step 1000")
    })
  )

  it.live("prints the key of a new store on purpose only, and makes no store whose key nobody would see", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const nowhere = yield* run(["serve", "--port", "0", "--db", "a.db"])
      assert.deepStrictEqual([nowhere.code, nowhere.stdout, failure(nowhere).code], [2, "", "UsageError"])
      assert.match(failure(nowhere).hint, /--key-file -/)
      assert.deepStrictEqual(readdirSync(folder), [])
      yield* run(["contacts", "add", "ann@example.com", "--db", "b.db"])
      assert.strictEqual((yield* run(["serve", "--port", "0", "--db", "b.db"])).code, 2)
      const { address, lines } = yield* serve(folder, ["--db", join(folder, "a.db"), "--key-file", "-"])
      const [key = "", ...others] = lines
      assert.deepStrictEqual(others, [`listening on ${address}`])
      const env = { ROSTER_BASE_URL: address, ROSTER_API_KEY: key }
      assert.strictEqual((yield* run(["contacts", "list"], { env })).stdout, "[]\n")
    })
  )

  it.live("refuses a profile that names a service", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env, key } = yield* serveWithKey(folder)
      const login = ["auth", "login", "--profile", "team", "--base-url", env.ROSTER_BASE_URL]
      const saved = yield* run(login, { input: key })
      assert.strictEqual(saved.code, 0, saved.stderr)
      const refused = yield* run(["serve", "--port", "0", "--profile", "team"])
      assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UsageError"])
      assert.include(failure(refused).message, "team")
    })
  )

  it.live("says how to create another key, in words that a shell takes", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const args = ["--db", "it's mine.db", "--key-file", "admin.key"]
      assert.strictEqual(yield* stop((yield* serve(folder, args)).child, "SIGINT"), 0)
      const { stderr } = yield* serve(folder, args)
      assert.include(stderr(), `roster apikeys create NAME --access LEVEL --db "it's mine.db"`)
    })
  )

  it.live("gives links under the address that clients call", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* serveWithKey(folder, ["--public-url", "https://roster.example.com/lists"])
      const exported = yield* Effect.promise(() =>
        fetch(`${env.ROSTER_BASE_URL}/contacts/export`, {
          method: "POST",
          headers: { "X-Service-ApiKey": env.ROSTER_API_KEY }
        }).then((answer) => answer.text())
      )
      assert.include(exported, "https://roster.example.com/lists/v4/exports/")
      for (const url of [
        "roster.example.com",
        "ftp://roster.example.com",
        "https://a@roster.example.com",
        "https://a/?b"
      ]) {
        const refused = yield* run(["serve", "--port", "0", "--db", "a.db", "--public-url", url])
        assert.deepStrictEqual([refused.code, refused.stdout, failure(refused).code], [2, "", "InvalidInput"])
      }
    })
  )

  it.live("overwrites no file with a key, and then creates none", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const keyFile = join(folder, "mine")
      writeFileSync(keyFile, "mine")
      const refused = yield* run(["serve", "--port", "0", "--db", "a.db", "--key-file", keyFile])
      assert.deepStrictEqual([refused.code, refused.stdout, failure(refused).code], [2, "", "FileProblem"])
      assert.strictEqual(readFileSync(keyFile, "utf8"), "mine")
      for (const name of [keyFile, "absent/key", ".", "b.db"]) {
        assert.strictEqual((yield* run(["serve", "--port", "0", "--db", "b.db", "--key-file", name])).code, 2, name)
      }
      assert.sameMembers(readdirSync(folder), ["mine"])
    })
  )

  it.live("refuses a sender that is no address", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const args = ["--db", "a.db", "--key-file", "k", "--allow-sender", "no address"]
      const refused = yield* run(["serve", "--port", "0", ...args])
      assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
      assert.include(failure(refused).message, "Invalid allow-sender")
      assert.deepStrictEqual(readdirSync(folder), [])
    })
  )

  it.live("refuses a host of files that allows nothing", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      for (const entry of ["https://files.example.com", "files.example.com/", "*.example.com", "10.0.0.0/8"]) {
        const args = ["--allow-file-url", "files.example.com:8443", "--allow-file-url", entry]
        const refused = yield* run(["serve", "--port", "0", "--db", "a.db", ...args])
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
        const { code, message } = failure(refused)
        assert.strictEqual(code, "InvalidInput")
        assert.match(message, /^Invalid allow-file-url: /)
        assert.include(message, `not "${entry}"`)
      }
      assert.notInclude(readdirSync(folder), "a.db")
    })
  )

  it.live("warns where other machines can reach it", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { lines, stderr } = yield* serve(folder, [
        "--host",
        "0.0.0.0",
        "--db",
        join(folder, "a.db"),
        "--key-file",
        join(folder, "key")
      ])
      assert.strictEqual(lines.length, 1)
      assert.match(stderr(), /^warning: 0\.0\.0\.0 /)
    })
  )
})
