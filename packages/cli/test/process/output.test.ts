import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf, makeRoster } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

describe("the forms of a result", () => {
  it.live("hold the same contacts", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const names = ["=1+1", 'Ann "A", Köln', "two\nlines", "\u001b[31mred"]
      const rows = names.map((name, i) => `c${i}@example.com,"${name.replaceAll('"', '""')}"`)
      writeFileSync(join(folder, "in.csv"), `Email,FirstName\n${rows.join("\n")}\n`)
      assert.strictEqual((yield* run(["contacts", "import", "in.csv"])).code, 0)
      const records = jsonOf<Array<{ FirstName: string }>>(yield* run(["contacts", "ls"]))
      assert.deepStrictEqual(
        records.map((record) => record.FirstName),
        names
      )
      const lines = (yield* run(["contacts", "list", "-o", "ndjson"])).stdout.trimEnd().split("\n")
      assert.deepStrictEqual(
        lines.map((line): unknown => JSON.parse(line)),
        records
      )
      const csv = yield* run(["contacts", "list", "-o", "csv"])
      // What a spreadsheet would run is text there, and an import takes the guard off again.
      assert.match(csv.stdout, /^Email,Status,FirstName,LastName,DateAdded\r\nc0@example\.com,Active,'=1\+1,,/)
      assert.include(csv.stdout, '"Ann ""A"", Köln"')
      const again = yield* run(["contacts", "import", "-"], { input: csv.stdout })
      assert.strictEqual(again.code, 0, again.stderr)
      const after = jsonOf<ReadonlyArray<{ FirstName: string }>>(yield* run(["contacts", "list"]))
      assert.deepStrictEqual(
        after.map((record) => record.FirstName),
        names
      )
      const table = yield* run(["contacts", "list", "-o", "table"])
      assert.notInclude(table.stdout, "\u001b")
      assert.include((yield* run(["contacts", "get", "c0@example.com", "-o", "csv"])).stdout, "'=1+1")
    })
  )

  it.live("of a mistake is one line for programs", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      for (const args of [["contacts", "lst"], ["contact"], ["contacts", "list", "--limt", "3"]]) {
        const { code, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.strictEqual(stderr.trimEnd().split("\n").length, 1, stderr)
        assert.include(failure({ stderr }).hint, "--help")
      }
    })
  )
})

describe("roster commands and completions", () => {
  it.live("know every command and flag", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const tree = jsonOf<{
        subcommands: ReadonlyArray<{ name: string; subcommands: ReadonlyArray<{ name: string }> }>
      }>(yield* run(["commands", "-o", "json"]))
      const contacts = tree.subcommands.find(({ name }) => name === "contacts")
      assert.includeMembers(contacts?.subcommands.map(({ name }) => name) ?? [], ["list", "import", "delete"])
      assert.strictEqual((yield* run(["completions", "tcsh"])).code, 2)
    })
  )
})

describe("roster status and doctor", () => {
  it.live("show what a key may do, as far as reads can tell", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, env } = yield* serveWithKey(folder)
      const reader = yield* run(["apikeys", "create", "reader", "--access", "ViewContacts"], { env })
      const { Token } = jsonOf<{ Token: string }>(reader)
      const asReader = { ...env, ROSTER_API_KEY: Token }
      const who = yield* run(["status"], { env: asReader })
      assert.deepInclude(json(who), { granted: ["ViewContacts"], lacking: ["Export", "Security"] })
      assert.notInclude(who.stdout + who.stderr, Token)
      const version = (yield* run(["--version"])).stdout.trim().replace(/^.* v?/, "")
      assert.deepInclude(json(who), { version })
      // A key without any level that reads is told, too; whoever has no key is not.
      const blind = yield* run(["apikeys", "create", "blind", "--access", "SendHttp"], { env })
      const asBlind = { ...env, ROSTER_API_KEY: jsonOf<{ Token: string }>(blind).Token }
      assert.deepInclude(json(yield* run(["status"], { env: asBlind })), { version, granted: ["SendHttp"] })
      for (const headers of [{}, { "X-Service-ApiKey": "wrong" }]) {
        for (const path of ["contacts", "openapi.json", "../health/live", "../"]) {
          const answer = yield* Effect.promise(() => fetch(new URL(path, `${address}/`), { headers }))
          assert.isNull(answer.headers.get("roster-version"), path)
        }
      }
      const odd = yield* fakeService((_, response) => {
        response.setHeader("roster-version", "1\u009b2J")
        response.writeHead(200, { "Content-Type": "application/json" }).end("[]")
      })
      const seen = yield* run(["status", "-o", "table"], { env: odd.env })
      assert.match(seen.stdout, /^version {2}1\ufffd2J$/m)
      const healthy = yield* run(["doctor"], { env: asReader })
      assert.strictEqual(healthy.code, 0, healthy.stderr)
      assert.notInclude(healthy.stdout + healthy.stderr, Token)
      assert.match(
        healthy.stdout,
        /"Check":"service","Result":"ok","Detail":"http\S+ answers, and the key is accepted"/
      )
      const refused = yield* run(["doctor"], { env: { ...env, ROSTER_API_KEY: "wrong" } })
      assert.deepStrictEqual([refused.code, failure(refused).code], [8, "Unhealthy"])
      assert.match(refused.stdout, /"Check":"service","Result":"failed","Detail":"[^"]*key/)
    })
  )

  it.live("look at the local store", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["contacts", "add", "ann@example.com"])
      assert.match((yield* run(["doctor"])).stdout, /"Check":"store","Result":"ok","Detail":"intact, 1 contact"/)
      assert.deepInclude(json(yield* run(["status"])), {
        target: "local",
        db: join(folder, "store.db"),
        from: "--db"
      })
      assert.match(
        (yield* run(["doctor"])).stdout,
        /"Check":"disk","Result":"(?:ok|warning)","Detail":"\d+ MiB are free/
      )
      const last = Effect.map(run(["doctor"]), ({ stdout }) => /"Check":"backup",(.*)\}/.exec(stdout)?.[1] ?? "")
      assert.match(yield* last, /^"Result":"warning","Detail":"none that this user made is known/)
      yield* run(["backup", "nightly.db", "--keep", "2"])
      const made = readdirSync(folder).find((name) => name.startsWith("nightly-")) ?? ""
      assert.match(yield* last, /^"Result":"ok","Detail":"the last that this user made is of 0 hours ago: /)
      assert.include(yield* last, made)
      const lastWeek = Date.now() / 1000 - 8 * 24 * 3600
      utimesSync(join(folder, made), lastWeek, lastWeek)
      assert.match(yield* last, /^"Result":"warning","Detail":"the last that this user made is of 8 days ago: /)
      rmSync(join(folder, made))
      assert.match(yield* last, /^"Result":"warning","Detail":"the last that this user made is gone from /)
      writeFileSync(join(folder, "store.db"), "not a database, not at all. ".repeat(60))
      const damaged = yield* run(["doctor"])
      assert.deepStrictEqual([damaged.code, failure(damaged).code], [8, "Unhealthy"])
    })
  )
})
