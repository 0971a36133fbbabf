import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { request as ask } from "node:http"
import { join } from "node:path"
import { failure, json, jsonOf, makeLocalRoster, makeRoster, type Roster } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

const backups = (folder: string) => join(folder, ".local", "state", "roster", "backups")
const backupsIn = (folder: string): ReadonlyArray<string> =>
  existsSync(backups(folder)) ? readdirSync(backups(folder)).map((name) => join(backups(folder), name)) : []

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

describe("roster contacts delete by rule", () => {
  it.live("backs up what it deletes, and restore brings it back", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRoster
      const { folder, run } = roster
      yield* arrange(roster, 40)
      const before = jsonOf<Record<string, unknown>>(yield* run(["contacts", "get", "c4@example.com"]))
      const deleted = yield* run([...bounced, "--yes"])
      assert.strictEqual(deleted.code, 0, deleted.stderr)
      const [backup = ""] = backupsIn(folder)
      assert.deepStrictEqual(json(deleted), { deleted: 10, left: 0, backup })
      assert.deepStrictEqual([statSync(backup).mode & 0o777, statSync(backups(folder)).mode & 0o777], [0o600, 0o700])
      assert.strictEqual((yield* emailsOf(roster)).length, 30)
      const restored = yield* run(["contacts", "restore", backup])
      assert.strictEqual(restored.code, 0, restored.stderr)
      assert.deepInclude(json(restored), { read: 10, restored: 10, refused: 0, notSent: 0, unknown: 0 })
      assert.match(restored.stderr, /Not restored: source, dates, activity and lists/)
      const profile = ({ CustomFields, Email, FirstName, Status }: Record<string, unknown>) => ({
        CustomFields,
        Email,
        FirstName,
        Status
      })
      const after = jsonOf<Record<string, unknown>>(yield* run(["contacts", "get", "c4@example.com"]))
      assert.deepStrictEqual(profile(after), profile(before))
    })
  )

  it.live("keeps no file where nothing is selected", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRoster
      yield* arrange(roster, 3)
      const none = yield* roster.run(["contacts", "delete", "--rule", "status = Abuse", "--yes"])
      assert.deepStrictEqual([none.code, json(none)], [0, { deleted: 0, left: 0, backup: null }])
      assert.deepStrictEqual(backupsIn(roster.folder), [])
    })
  )

  it.live("K13 does nothing without --yes and without a terminal", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRoster
      const { env, requests } = yield* fakeService((_, response) => response.writeHead(500).end())
      const declined = yield* run(bounced, { env })
      assert.deepStrictEqual([declined.code, failure(declined).code], [3, "Declined"])
      const named = yield* run(["contacts", "delete", "ann@example.com"], { env })
      assert.deepStrictEqual([named.code, failure(named).code], [3, "Declined"])
      const blank = yield* run(["contacts", "delete", "--rule", "  ", "--yes"], { env })
      assert.strictEqual(blank.code, 2)
      assert.deepStrictEqual(requests, [])
      assert.deepStrictEqual(backupsIn(folder), [])
    })
  )

  it.live("K13 wants the number where much would be lost, and deletes nothing on another number", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRoster
      const { folder, run } = roster
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
      assert.deepStrictEqual(backupsIn(folder), [])
      const all = yield* run([
        "contacts",
        "delete",
        "--rule",
        "All",
        "--yes",
        "--confirm",
        "12",
        "--backup",
        "all.json"
      ])
      assert.strictEqual(all.code, 0, all.stderr)
      assert.deepStrictEqual(yield* emailsOf(roster), [])
      assert.strictEqual((yield* run(["contacts", "restore", "all.json"])).code, 0)
      assert.strictEqual((yield* emailsOf(roster)).length, 12)
      const taken = yield* run([...bounced, "--yes", "--backup", "all.json"])
      assert.strictEqual(taken.code, 2)
    })
  )

  it.live("counts and shows in a dry run, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRoster
      const { folder, run } = roster
      yield* arrange(roster, 40)
      const dry = yield* run([...bounced, "--dry-run"])
      assert.strictEqual(dry.code, 0, dry.stderr)
      assert.deepStrictEqual(json(dry), {
        dryRun: true,
        count: 10,
        statuses: { Bounced: 10 },
        sample: ["c0@example.com", "c4@example.com", "c8@example.com", "c12@example.com", "c16@example.com"],
        needsConfirm: false
      })
      assert.strictEqual((yield* emailsOf(roster)).length, 40)
      assert.deepStrictEqual(backupsIn(folder), [])
    })
  )

  it.live("resumes from its file after an interruption", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRoster
      const { env } = yield* serveWithKey(folder)
      const served: Roster = { folder, run: (args, options) => run(args, { ...options, env }) }
      yield* arrange(served, 8400)
      // It takes the first thousand, and then no more.
      let taken = 0
      const cut = yield* fakeService((request, response) => {
        if (request.url?.endsWith("/contacts/delete") === true && ++taken > 1) {
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
      })
      const through = { ...env, ROSTER_BASE_URL: cut.env.ROSTER_BASE_URL }
      const stopped = yield* run([...bounced, "--yes", "--confirm", "2100", "--backup", "gone.json"], { env: through })
      assert.deepStrictEqual([stopped.code, failure(stopped).code], [9, "PartlyDone"])
      assert.deepInclude(json(stopped), { deleted: 1000, left: 1100 })
      assert.include(failure(stopped).message, "--snapshot gone.json")
      assert.notInclude(failure(stopped).hint, "rejected")
      // Somebody who bounces since then is nobody of the file.
      yield* served.run(["contacts", "add", "late@example.com", "--status", "Bounced"])
      const rest = yield* served.run(["contacts", "delete", "--snapshot", "gone.json", "--yes", "--confirm", "2100"])
      assert.strictEqual(rest.code, 0, rest.stderr)
      const left = yield* served.run(["contacts", "list", "--rule", "status = Bounced"])
      assert.deepStrictEqual(
        jsonOf<ReadonlyArray<{ Email: string }>>(left).map(({ Email }) => Email),
        ["late@example.com"]
      )
      assert.strictEqual((yield* emailsOf(served)).length, 6301)
    })
  )

  it.live("says that there is no such backup", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRoster
      writeFileSync(join(folder, "cut.json"), '[{"Email":"ann@example.com"},{"Email":')
      writeFileSync(join(folder, "other.json"), '{"a":1}')
      for (const file of ["cut.json", "other.json"]) {
        for (const args of [
          ["contacts", "restore", file],
          ["contacts", "delete", "--snapshot", file, "--yes"]
        ]) {
          const refused = yield* run(args)
          assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UnreadableBackup"], args.join(" "))
        }
      }
      assert.strictEqual((yield* run(["contacts", "restore", "absent.json"])).code, 2)
    })
  )
})

describe("--dry-run", () => {
  it.live("shows the request of a write and sends nothing", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const { env, requests } = yield* fakeService((_, response) => response.writeHead(500).end())
      const writes: ReadonlyArray<readonly [args: ReadonlyArray<string>, request: string, body: unknown]> = [
        [
          ["contacts", "add", "ann@example.com", "--first-name", "Ann"],
          "POST /contacts",
          [{ Email: "ann@example.com", FirstName: "Ann" }]
        ],
        [
          ["contacts", "update", "ann@example.com", "--last-name", "Lee"],
          "PUT /contacts/ann%40example.com",
          { LastName: "Lee" }
        ],
        [["contacts", "delete", "ann@example.com"], "DELETE /contacts/ann%40example.com", ""],
        [
          ["apikeys", "create", "ci", "--access", "Export"],
          "POST /security/apikeys",
          { Name: "ci", AccessLevel: ["Export"] }
        ],
        [["apikeys", "delete", "ci"], "DELETE /security/apikeys/ci", ""],
        [["smtp", "create", "shop@example.com"], "POST /security/smtp", { Name: "shop@example.com" }],
        [["smtp", "delete", "shop@example.com"], "DELETE /security/smtp/shop%40example.com", ""]
      ]
      for (const [args, request, body] of writes) {
        const dry = yield* run([...args, "-n"], { env })
        assert.strictEqual(dry.code, 0, dry.stderr)
        const shown = jsonOf<{ dryRun: boolean; method: string; url: string; body: string }>(dry)
        assert.strictEqual(`${shown.method} ${shown.url.replace(env.ROSTER_BASE_URL, "")}`, request)
        assert.deepStrictEqual(shown.body === "" ? "" : JSON.parse(shown.body), body)
        assert.notInclude(dry.stdout + dry.stderr, env.ROSTER_API_KEY)
      }
      assert.deepStrictEqual(requests, [])
    })
  )
})
