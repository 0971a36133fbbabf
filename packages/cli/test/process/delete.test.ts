import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { request as ask } from "node:http"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere, runHere } from "../inProcess.ts"
import { failure, json, jsonOf, makeLocalRoster, type Roster, temporaryFolder } from "../roster.ts"
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
      const roster = yield* makeLocalRosterHere
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
      const roster = yield* makeLocalRosterHere
      yield* arrange(roster, 3)
      const none = yield* roster.run(["contacts", "delete", "--rule", "status = Abuse", "--yes"])
      assert.deepStrictEqual([none.code, json(none)], [0, { deleted: 0, left: 0, backup: null }])
      assert.deepStrictEqual(backupsIn(roster.folder), [])
    })
  )

  it.live("K13 does nothing without --yes and without a terminal", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
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
      const roster = yield* makeLocalRosterHere
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
      const roster = yield* makeLocalRosterHere
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
      const { folder, run } = yield* makeRosterHere
      const { env, keyFile } = yield* serveWithKey(folder)
      const served: Roster = { folder, run: (args, options) => run(args, { ...options, env }) }
      yield* arrange(served, 4400)
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
      const through = ["--base-url", cut.env.ROSTER_BASE_URL, "--api-key-file", keyFile]
      const given = [...bounced, "--yes", "--confirm", "1100", "--backup", "gone.json"]
      const stopped = yield* run([...given, ...through])
      assert.deepStrictEqual([stopped.code, failure(stopped).code], [9, "PartlyDone"])
      assert.deepInclude(json(stopped), { deleted: 1000, left: 100 })
      const resume = `roster contacts delete --snapshot gone.json --yes --confirm 1100 ${through.join(" ")}`
      assert.strictEqual(failure(stopped).resume, resume)
      assert.notInclude(failure(stopped).message, "--snapshot")
      assert.notInclude(failure(stopped).hint, "rejected")
      // Somebody who bounces since then is nobody of the file.
      yield* served.run(["contacts", "add", "late@example.com", "--status", "Bounced"])
      const rest = yield* served.run(["contacts", "delete", "--snapshot", "gone.json", "--yes", "--confirm", "1100"])
      assert.strictEqual(rest.code, 0, rest.stderr)
      const left = yield* served.run(["contacts", "list", "--rule", "status = Bounced"])
      assert.deepStrictEqual(
        jsonOf<ReadonlyArray<{ Email: string }>>(left).map(({ Email }) => Email),
        ["late@example.com"]
      )
      assert.strictEqual((yield* emailsOf(served)).length, 3301)
    })
  )

  it.live("says that there is no such backup", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
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

  it.live("is read twice, and therefore not from a pipe", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRoster
      const { folder, run } = roster
      execFileSync("mkfifo", [join(folder, "pipe")])
      for (const [args, backup] of [
        [["contacts", "restore"], "-"],
        [["contacts", "restore"], "pipe"],
        [["contacts", "delete", "--yes", "--snapshot"], "-"],
        [["contacts", "delete", "--yes", "--snapshot"], "pipe"]
      ] as const) {
        const refused = yield* run([...args, backup, "--timeout", "20s"], { input: '[{"Email":"ann@example.com"}]' })
        assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UsageError"], `${args.join(" ")} ${backup}`)
        assert.include(failure(refused).message, "read more than once")
      }
      yield* arrange(roster, 4)
      const named = ["contacts", "delete", "c0@example.com", "--yes", "--backup", "-"]
      assert.strictEqual((yield* run(named)).code, 2)
      assert.strictEqual((yield* emailsOf(roster)).length, 4)
    })
  )
})

describe("roster contacts delete by address", () => {
  it.live("counts who was there, and backs them up", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      const { folder, run } = roster
      yield* arrange(roster, 6)
      const before = json(yield* run(["contacts", "get", "c0@example.com"]))
      const named = ["contacts", "delete", "c0@example.com", "C0@example.com", "nobody@example.com", "--yes"]
      const dry = yield* run([...named, "--dry-run"])
      assert.deepInclude(json(dry), { dryRun: true, count: 1, notThere: 1, sample: ["c0@example.com"] })
      assert.deepStrictEqual([backupsIn(folder), (yield* emailsOf(roster)).length], [[], 6])
      const deleted = yield* run([...named, "-o", "table"])
      assert.strictEqual(deleted.code, 0, deleted.stderr)
      const [backup = "", ...more] = backupsIn(folder)
      assert.deepStrictEqual([more, statSync(backup).mode & 0o777], [[], 0o600])
      assert.include(
        deleted.stdout,
        `Deleted 1 contact; 1 was not there. To restore, without lists: roster contacts restore ${backup}`
      )
      assert.strictEqual((yield* emailsOf(roster)).length, 5)
      assert.strictEqual((yield* run(["contacts", "restore", backup])).code, 0)
      const after = json(yield* run(["contacts", "get", "c0@example.com"]))
      assert.deepInclude(after, { CustomFields: { note: "=0" }, Email: "c0@example.com", FirstName: "C 0" })
      assert.deepInclude(before, { CustomFields: { note: "=0" }, Status: "Bounced" })
    })
  )

  it.live("ends with 5 where none of them is there, and leaves no file", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      yield* arrange(roster, 2)
      for (const flags of [[], ["--no-backup"], ["--dry-run"]]) {
        const none = yield* roster.run(["contacts", "delete", "x@example.com", "y@example.com", "--yes", ...flags])
        assert.deepStrictEqual([none.code, failure(none).code], [5, "ContactNotFound"])
        assert.include(failure(none).message, "x@example.com, y@example.com")
      }
      assert.deepStrictEqual(backupsIn(roster.folder), [])
    })
  )

  it.live("says how to delete with a key that may not read", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* serveWithKey(folder)
      yield* run(["contacts", "add", "ann@example.com"], { env })
      const writer = yield* run(["apikeys", "create", "writer", "--access", "ModifyContacts"], { env })
      const may = { ...env, ROSTER_API_KEY: jsonOf<{ Token: string }>(writer).Token }
      const named = ["contacts", "delete", "ann@example.com", "nobody@example.com", "--yes"]
      const denied = yield* run(named, { env: may })
      assert.strictEqual(denied.code, 4)
      assert.include(denied.stderr, "--no-backup")
      const deleted = yield* run([...named, "--no-backup"], { env: may })
      assert.deepStrictEqual([deleted.code, json(deleted)], [0, { deleted: 1, notThere: 1 }])
      assert.deepStrictEqual(backupsIn(folder), [])
    })
  )

  it.live("unread, only if the number is the confirmed one, and says how far it came", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const { env, requests } = yield* fakeService(({ url = "" }, response) => {
        const status = /c4/.test(url) ? 401 : /c1/.test(url) ? 404 : 200
        response.writeHead(status, { "Content-Type": "application/json" })
        response.end(status === 200 ? "" : '{"Error":"no"}')
      })
      const emails = Array.from({ length: 40 }, (_, index) => `c${index}x@example.com`)
      const named = ["contacts", "delete", ...emails, "--no-backup", "--yes"]
      const other = yield* run([...named, "--confirm", "39"], { env })
      assert.deepStrictEqual([other.code, failure(other).code], [3, "Declined"])
      assert.deepStrictEqual(requests, [])

      const stopped = yield* run([...named, "--confirm", "40"], { env })
      assert.deepStrictEqual([stopped.code, failure(stopped).code], [9, "PartlyDone"], stopped.stderr)
      const counts = jsonOf<{ deleted: number; notThere: number; left: number }>(stopped)
      assert.strictEqual(counts.deleted + counts.notThere + counts.left, 40)
      assert.isAtLeast(counts.deleted, 3)
      assert.strictEqual(counts.notThere, 1 + requests.filter((one) => /c1\dx/.test(one)).length)
      assert.isAtLeast(counts.left, 20)
      assert.strictEqual(failure(stopped).resume, `roster ${named.join(" ")} --confirm 40`)

      const refused = yield* run(["contacts", "delete", "c4@example.com", "--no-backup", "--yes"], { env })
      assert.deepStrictEqual([refused.code, failure(refused).code], [4, "Unauthorized"])
    })
  )
})

describe("--dry-run", () => {
  it.live("shows the request of a write, and sends only requests that read", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const { env, requests } = yield* fakeService(({ url = "" }, response) => {
        const isThere = /ann%40|\/ci$|shop%40|limit=1$/.test(url)
        response.writeHead(isThere ? 200 : 404, { "Content-Type": "application/json" })
        response.end(isThere ? (url.endsWith("limit=1") ? "[]" : "{}") : '{"Error":"There is none."}')
      })
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
        [
          ["contacts", "add", "ann@example.com", "--list", "News & more"],
          "POST /contacts?listnames=News+%26+more",
          [{ Email: "ann@example.com" }]
        ],
        [["contacts", "delete", "ann@example.com", "--no-backup"], "DELETE /contacts/ann%40example.com", ""],
        [
          ["apikeys", "create", "new", "--access", "Export"],
          "POST /security/apikeys",
          { Name: "new", AccessLevel: ["Export"] }
        ],
        [["apikeys", "delete", "ci"], "DELETE /security/apikeys/ci", ""],
        [["smtp", "create", "new@example.com"], "POST /security/smtp", { Name: "new@example.com" }],
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
      assert.deepStrictEqual(
        requests.filter((request) => !request.startsWith("GET ")),
        []
      )
    })
  )

  it.live("ends as the run would", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { env } = yield* serveWithKey(folder)
      const home = { HOME: folder }
      for (const args of [
        ["contacts", "add", "ann@example.com"],
        ["apikeys", "create", "ci", "--for", "export"],
        ["apikeys", "create", "other", "--for", "export"],
        ["smtp", "create", "shop@team.example", "--subaccount", "team@example.com"]
      ]) {
        assert.strictEqual((yield* runHere(args, { env: { ...env, ...home } })).code, 0)
      }
      const team = ["--subaccount", "team@example.com"]
      const writes: ReadonlyArray<readonly [code: number, args: ReadonlyArray<string>]> = [
        [5, ["contacts", "update", "nobody@example.com", "--first-name", "N"]],
        [5, ["contacts", "delete", "nobody@example.com", "--yes"]],
        [5, ["contacts", "delete", "nobody@example.com", "--yes", "--no-backup"]],
        [5, ["apikeys", "delete", "none", "--yes"]],
        [6, ["apikeys", "create", "ci", "--for", "export"]],
        [6, ["apikeys", "update", "ci", "--rename", "other"]],
        [6, ["smtp", "create", "shop@team.example", ...team]],
        [0, ["smtp", "update", "shop@team.example", "--no-expiry", ...team]],
        [0, ["smtp", "delete", "shop@team.example", "--yes", ...team]],
        [0, ["apikeys", "update", "ci", "--no-expiry"]],
        [0, ["apikeys", "delete", "other", "--yes"]]
      ]
      for (const [code, args] of writes) {
        for (const dry of [["--dry-run"], []]) {
          const ended = yield* runHere([...args, ...dry], { env: { ...env, ...home } })
          assert.strictEqual(ended.code, code, `${[...args, ...dry].join(" ")}: ${ended.stderr}`)
        }
      }
      const wrong = { ...env, ...home, ROSTER_API_KEY: "wrong-key-0123456789" }
      const refused = yield* runHere(["contacts", "add", "bob@example.com", "--dry-run"], { env: wrong })
      assert.strictEqual(refused.code, 4, refused.stderr)
      const dead = { ...env, ...home, ROSTER_BASE_URL: "http://127.0.0.1:9/v4" }
      assert.strictEqual((yield* runHere(["contacts", "add", "b@example.com", "-n"], { env: dead })).code, 8)
    })
  )

  it.live("creates nothing, no store either", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const [csv, backup] = [join(folder, "in.csv"), join(folder, "in.json")]
      writeFileSync(join(folder, "in.csv"), "Email\nann@example.com\n")
      writeFileSync(join(folder, "in.json"), '[{"Email":"ann@example.com"}]')
      for (const store of [[], ["--db", join(folder, "new.db")]]) {
        for (const [args, code] of [
          [["contacts", "add", "ann@example.com"], 0],
          [["contacts", "update", "ann@example.com", "--first-name", "A"], 5],
          [["contacts", "delete", "ann@example.com"], 5],
          [["contacts", "delete", "--rule", "status = Bounced"], 5],
          [["contacts", "import", csv], 0],
          [["contacts", "restore", backup], 0],
          [["lists", "remove", "News", "ann@example.com"], 5],
          [["jobs", "cancel", "3fa85f64-5717-4562-b3fc-2c963f66afa6"], 5],
          [["apikeys", "create", "ci", "--for", "export"], 0],
          [["apikeys", "rotate", "ci", "--out", join(folder, "ci.key")], 5],
          [["smtp", "delete", "shop@example.com"], 5]
        ] as const) {
          const dry = yield* runHere([...args, "--dry-run", ...store], { env: { HOME: folder } })
          assert.strictEqual(dry.code, code, `${args.join(" ")}: ${dry.stderr}`)
        }
      }
      const left = readdirSync(folder, { recursive: true }).filter(
        (name) => !["in.csv", "in.json"].includes(String(name))
      )
      assert.deepStrictEqual(left, [])
    })
  )
})
