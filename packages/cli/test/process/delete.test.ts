import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, writeFileSync } from "node:fs"
import { request as ask } from "node:http"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere, runHere } from "../inProcess.ts"
import { reportOf } from "../report.ts"
import { failure, json, jsonOf, type Roster, temporaryFolder } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

/** Contacts of which every fourth bounced. */
const arrange = Effect.fnUntraced(function* ({ folder, run }: Roster, count: number) {
  const rows = Array.from(
    { length: count },
    (_, i) => `c${i}@example.com,${i % 4 === 0 ? "Bounced" : "Active"},C ${i},=${i}`
  )
  writeFileSync(join(folder, "in.csv"), `Email,Status,FirstName,note\n${rows.join("\n")}\n`)
  assert.strictEqual((yield* run(["contacts", "import", "in.csv"])).code, 0)
})

const bounced = ["contacts", "delete", "--rule", "status = Bounced"]

const emailsOf = Effect.fnUntraced(function* ({ run }: Roster) {
  return jsonOf<ReadonlyArray<{ Email: string }>>(yield* run(["contacts", "list", "--all"])).map(({ Email }) => Email)
})

/** What is kept of a contact when it comes back. */
const profile = ({ CustomFields, Email, FirstName, Status }: Record<string, unknown>) => ({
  CustomFields,
  Email,
  FirstName,
  Status
})

describe("roster contacts delete by rule", () => {
  it.live("deletes by a plan, and undo brings all of it back, with the lists", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      const { run } = roster
      yield* arrange(roster, 40)
      yield* run(["lists", "add", "Gone", "c4@example.com", "--create-list"])
      const before = jsonOf<Record<string, unknown>>(yield* run(["contacts", "get", "c4@example.com"]))
      const deleted = yield* run([...bounced, "--yes"])
      assert.strictEqual(deleted.code, 0, deleted.stderr)
      assert.deepInclude(reportOf(deleted), {
        command: "delete",
        read: 10,
        done: 10,
        deleted: 10,
        outdated: 0,
        notSent: 0,
        unknown: 0
      })
      assert.strictEqual((yield* emailsOf(roster)).length, 30)
      assert.match(deleted.stderr, /To undo it: roster contacts undo \S+/)
      const undone = yield* run(["contacts", "undo", "last", "--yes"])
      assert.strictEqual(undone.code, 0, undone.stderr)
      assert.deepInclude(reportOf(undone), { command: "undo", new: 10, outdated: 0 })
      const after = jsonOf<Record<string, unknown>>(yield* run(["contacts", "get", "c4@example.com"]))
      assert.deepStrictEqual(profile(after), profile(before))
      const lists = jsonOf<ReadonlyArray<{ Name: string; Contacts: number }>>(yield* run(["lists", "list"]))
      assert.deepInclude(lists, { Name: "Gone", Contacts: 1 })
    })
  )

  it.live("says that nothing is selected", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      yield* arrange(roster, 3)
      const none = yield* roster.run(["contacts", "delete", "--rule", "status = Abuse", "--yes"])
      assert.strictEqual(none.code, 0, none.stderr)
      assert.include(reportOf(none), { read: 0, deleted: 0 })
    })
  )

  it.live("K13 does nothing without --yes and without a terminal", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const { env, requests } = yield* fakeService((_, response) => response.writeHead(500).end())
      const declined = yield* run(bounced, { env })
      assert.deepStrictEqual([declined.code, failure(declined).code], [3, "Declined"])
      const named = yield* run(["contacts", "delete", "ann@example.com"], { env })
      assert.deepStrictEqual([named.code, failure(named).code], [3, "Declined"])
      const blank = yield* run(["contacts", "delete", "--rule", "  ", "--yes"], { env })
      assert.strictEqual(blank.code, 2)
      assert.deepStrictEqual(requests, [])
    })
  )

  it.live("K13 wants the number where much would be lost, and deletes nothing on another number", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      const { run } = roster
      yield* arrange(roster, 12)
      // More than half of all, and everything.
      for (const rule of ["status = Active", "All"]) {
        const count = rule === "All" ? 12 : 9
        const asked = yield* run(["contacts", "delete", "--rule", rule, "--yes"])
        assert.deepStrictEqual([asked.code, failure(asked).code], [3, "Declined"])
        assert.include(failure(asked).message, `--confirm ${count}`)
        const other = yield* run(["contacts", "delete", "--rule", rule, "--yes", "--confirm", String(count - 1)])
        assert.deepStrictEqual([other.code, failure(other).code], [3, "Declined"])
      }
      assert.strictEqual((yield* emailsOf(roster)).length, 12)
      const all = yield* run(["contacts", "delete", "--rule", "All", "--yes", "--confirm", "12"])
      assert.strictEqual(all.code, 0, all.stderr)
      assert.deepStrictEqual(yield* emailsOf(roster), [])
      assert.strictEqual((yield* run(["contacts", "undo", "last", "--yes"])).code, 0)
      assert.strictEqual((yield* emailsOf(roster)).length, 12)
    })
  )

  it.live("counts and shows in a dry run, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      const { run } = roster
      yield* arrange(roster, 40)
      const dry = yield* run([...bounced, "--dry-run"])
      assert.strictEqual(dry.code, 0, dry.stderr)
      assert.deepStrictEqual(json(dry), {
        dryRun: true,
        read: 10,
        deleted: 10,
        statuses: { Bounced: 10 },
        sample: ["c0@example.com", "c4@example.com", "c8@example.com"],
        statusesKept: 0,
        keptStatuses: [],
        needsConfirm: false
      })
      assert.strictEqual((yield* emailsOf(roster)).length, 40)
    })
  )

  it.live("goes on in the same run after an interruption, which one undo takes back", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env, keyFile } = yield* serveWithKey(folder)
      const served: Roster = { folder, run: (args, options) => run(args, { ...options, env }) }
      yield* arrange(served, 4400)
      // It takes the first thousand, and then no more.
      let taken = 0
      const cut = yield* fakeService(
        (request, response) => {
          if (request.url?.endsWith("/contacts/changes") === true && ++taken > 1) {
            return response.writeHead(503, { "Content-Type": "application/json" }).end('{"Error":"later"}')
          }
          const { host, port } = new URL(env.ROSTER_BASE_URL)
          const headers = { ...request.headers, host }
          const onward = ask(
            { host: "127.0.0.1", port, method: request.method, path: request.url, headers },
            (answer) => {
              response.writeHead(answer.statusCode ?? 502, answer.headers)
              answer.pipe(response)
            }
          )
          return request.pipe(onward)
        },
        { knowsChanges: true }
      )
      const through = ["--base-url", cut.env.ROSTER_BASE_URL, "--api-key-file", keyFile]
      const stopped = yield* run([...bounced, "--yes", "--confirm", "1100", ...through])
      assert.deepStrictEqual([stopped.code, failure(stopped).code], [9, "PartlyDone"])
      const first = reportOf(stopped)
      assert.deepInclude(first, { deleted: 1000, unknown: 100 })
      const resume = `roster ${bounced.slice(0, 3).join(" ")} 'status = Bounced' --yes ${through.join(" ")}`
      assert.strictEqual(failure(stopped).resume, resume)
      taken = -100
      const rest = yield* run([...bounced, "--yes", ...through])
      assert.strictEqual(rest.code, 0, rest.stderr)
      const second = reportOf(rest)
      assert.deepStrictEqual([second.deleted, second.run], [100, first.run])
      assert.strictEqual((yield* emailsOf(served)).length, 3300)
      const undone = yield* run(["contacts", "undo", "last", "--yes", "--confirm", "1100", ...through])
      assert.strictEqual(undone.code, 0, undone.stderr)
      assert.strictEqual((yield* emailsOf(served)).length, 4400)
    })
  )
})

describe("roster contacts delete by address", () => {
  it.live("counts who was there, and brings them back", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      const { run } = roster
      yield* arrange(roster, 6)
      const before = jsonOf<Record<string, unknown>>(yield* run(["contacts", "get", "c0@example.com"]))
      const named = ["contacts", "delete", "c0@example.com", "C0@example.com", "nobody@example.com", "--yes"]
      const dry = yield* run([...named, "--dry-run"])
      assert.deepInclude(json(dry), { dryRun: true, deleted: 1, notThere: 1, sample: ["c0@example.com"] })
      assert.strictEqual((yield* emailsOf(roster)).length, 6)
      const deleted = yield* run(named)
      assert.strictEqual(deleted.code, 0, deleted.stderr)
      assert.deepInclude(json(deleted), { deleted: 1, notThere: 1 })
      assert.include(deleted.stderr, "There is no contact nobody@example.com.")
      assert.strictEqual((yield* emailsOf(roster)).length, 5)
      assert.strictEqual((yield* run(["contacts", "undo", "last", "--yes"])).code, 0)
      const after = jsonOf<Record<string, unknown>>(yield* run(["contacts", "get", "c0@example.com"]))
      assert.deepStrictEqual(profile(after), profile(before))
    })
  )

  it.live("ends with 5 where none of them is there", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      yield* arrange(roster, 2)
      for (const flags of [[], ["--dry-run"]]) {
        const none = yield* roster.run(["contacts", "delete", "x@example.com", "y@example.com", "--yes", ...flags])
        assert.deepStrictEqual([none.code, failure(none).code], [5, "ContactNotFound"])
        assert.include(failure(none).message, "x@example.com, y@example.com")
      }
    })
  )

  it.live("reads nothing with a key that may not, says so before, and what nobody knows after it", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* serveWithKey(folder)
      yield* run(["contacts", "add", "ann@example.com"], { env })
      const writer = yield* run(["apikeys", "create", "writer", "--access", "ModifyContacts"], { env })
      const may = { ...env, ROSTER_API_KEY: jsonOf<{ Token: string }>(writer).Token }
      const named = ["contacts", "delete", "ann@example.com", "nobody@example.com"]
      const declined = yield* run([...named, "--yes", "--confirm", "3"], { env: may })
      assert.deepStrictEqual([declined.code, failure(declined).code], [3, "Declined"])
      assert.match(declined.stderr, /cannot be planned/)
      assert.strictEqual((yield* run(["contacts", "get", "ann@example.com"], { env })).code, 0)
      const deleted = yield* run([...named, "--yes"], { env: may })
      assert.strictEqual(deleted.code, 0, deleted.stderr)
      assert.include(reportOf(deleted), { read: 2, done: 2, unknownWhetherNew: 2, notSent: 0, unknown: 0 })
      assert.match(deleted.stderr, /cannot be planned[^]*To undo it: /)
      assert.strictEqual((yield* run(["contacts", "get", "ann@example.com"], { env })).code, 5)
      const byRule = yield* run([...bounced, "--yes"], { env: may })
      assert.deepStrictEqual([byRule.code, failure(byRule).code], [4, "AccessDenied"])
    })
  )
})

describe("--dry-run", () => {
  it.live("creates nothing, no store either", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const csv = join(folder, "in.csv")
      writeFileSync(join(folder, "in.csv"), "Email\nann@example.com\n")
      for (const store of [[], ["--db", join(folder, "new.db")]]) {
        for (const [args, code] of [
          [["contacts", "update", "ann@example.com", "--first-name", "A"], 5],
          [["contacts", "delete", "ann@example.com"], 5],
          [["contacts", "delete", "--rule", "status = Bounced"], 5],
          [["contacts", "import", csv], 0],
          [["lists", "remove", "News", "ann@example.com"], 5]
        ] as const) {
          const dry = yield* runHere([...args, "--dry-run", ...store], { env: { HOME: folder } })
          assert.strictEqual(dry.code, code, `${args.join(" ")}: ${dry.stderr}`)
        }
      }
      assert.deepStrictEqual(readdirSync(folder, { recursive: true }), ["in.csv"])
    })
  )
})
