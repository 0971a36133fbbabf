import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { type Ended, failure, json, jsonOf } from "../roster.ts"
import { fakeService } from "../service.ts"

/** What other services understand and this one does not. */
const foreign = "Email LIKE '%@x.com' AND NOT status IN ('Active', 'Stale')"

/** Commands that select contacts, where something behind them selects. */
const selecting = [
  ["contacts", "list"],
  ["contacts", "delete", "--yes"],
  ["contacts", "export"]
] as const

const emails = (ended: Ended) => jsonOf<ReadonlyArray<{ readonly Email: string }>>(ended).map(({ Email }) => Email)

describe("rules of other services", () => {
  it.live("go out to the letter by --raw-rule, where --rule sends nothing", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const { env, requests } = yield* fakeService((request, response) => {
        const [status, answer] = request.url?.endsWith("/status")
          ? [200, "Error"]
          : request.url?.includes("export")
            ? [202, { Link: "https://files.example/x.csv", PublicExportID: "4f9c2f33-9f27-4d7c-8f8e-0c6b7b6f2f11" }]
            : [200, []]
        response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(answer))
      })
      for (const command of selecting) {
        const refused = yield* run([...command, "--rule", foreign], { env })
        assert.deepStrictEqual([refused.code, failure(refused).code], [2, "InvalidRule"])
      }
      assert.deepStrictEqual(requests, [])
      const codes = yield* Effect.forEach(selecting, (command) => run([...command, "--raw-rule", foreign], { env }))
      // What is to be deleted is exported first, and that export fails.
      assert.deepStrictEqual(
        codes.map(({ code }) => code),
        [0, 10, 10]
      )
      const asked = requests.map((request) => new URL(request.split(" ")[1] ?? "", env.ROSTER_BASE_URL))
      assert.deepStrictEqual(
        asked.flatMap((url) => (url.pathname.endsWith("/status") ? [] : [url.searchParams.get("rule")])),
        [foreign, foreign, foreign]
      )
      assert.isTrue(requests.every((request) => !request.includes("/contacts/delete")))
    })
  )

  it.live("are refused by a store, which shows the place, and nothing is done", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      yield* run(["contacts", "add", "a@x.com"])
      for (const command of selecting) {
        const refused = yield* run([...command, "--raw-rule", foreign])
        assert.notStrictEqual(refused.code, 0)
        assert.strictEqual(failure(refused).code, "InvalidRule")
        assert.match(failure(refused).message, /LIKE[^\n]*\n +\^ unknown operator "LIKE"; use contains/)
      }
      // What the two have in common works either way.
      assert.deepStrictEqual(emails(yield* run(["contacts", "list", "--raw-rule", "status = Active"])), ["a@x.com"])
      for (const flag of ["--raw-rule", "--rule"]) {
        const everyone = yield* run(["contacts", "delete", flag, "email != ''", "--yes", "--confirm", "1"])
        assert.deepStrictEqual([everyone.code, failure(everyone).code], [2, "InvalidInput"])
      }
      assert.deepStrictEqual(emails(yield* run(["contacts", "list"])), ["a@x.com"])
    })
  )

  it.live("are not blank, and stand beside neither a rule nor addresses", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const { env, requests } = yield* fakeService((_, response) => response.writeHead(500).end())
      for (const command of selecting) {
        for (const blank of ["", "  ", "\u00a0"]) {
          const refused = yield* run([...command, "--raw-rule", blank], { env })
          assert.deepStrictEqual([refused.code, failure(refused).code], [2, "InvalidRule"])
        }
        const both = yield* run([...command, "--raw-rule", foreign, "--rule", "All"], { env })
        assert.deepStrictEqual([both.code, failure(both).code], [2, "UsageError"])
        assert.match(failure(both).message, /--rule and --raw-rule/)
      }
      for (const args of [
        ["delete", "a@x.com", "--yes"],
        ["export", "--email", "a@x.com"]
      ]) {
        const both = yield* run(["contacts", ...args, "--raw-rule", foreign], { env })
        assert.deepStrictEqual([both.code, failure(both).code], [2, "ConflictingFilter"])
      }
      assert.deepStrictEqual(requests, [])
    })
  )
})

describe("a rule with a custom field whose name is nearly that of another field", () => {
  it.live("is done as it says if that is meant, and the name that was perhaps meant is noted", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      yield* run(["contacts", "add", "a@x.com", "--field", "city=Rome"])
      const list = ["contacts", "list", "--rule", "stauts = 'Active' OR City = 'Rome' OR emial != ''"]
      const refused = yield* run(list)
      assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UsageError"])
      const listed = yield* run([...list, "--allow-unknown-field"])
      assert.deepStrictEqual([listed.code, emails(listed)], [0, ["a@x.com"]])
      assert.deepStrictEqual(listed.stderr.trimEnd().split("\n"), [
        'The rule takes "stauts" for a custom field; did you mean "status"?',
        'The rule takes "emial" for a custom field; did you mean "email"?'
      ])
      const deleted = yield* run(["contacts", "delete", "--rule", "stauts != 'Active'", "--yes"])
      assert.strictEqual(deleted.code, 2)
      assert.match(deleted.stderr, /^The rule takes "stauts"/)
      assert.include(failure(deleted).message, 'no contact has "stauts"')
    })
  )

  it.live("says once which contacts it leaves out, and writes to others only if that is allowed", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      for (const score of ["1.5", "1,5"]) {
        yield* run(["contacts", "add", `${score}@x.com`.replace(",", "x"), "--field", `score=${score}`])
      }
      const rule = ["--rule", "score > 1 AND score < 9"]
      const left = 'The rule cannot compare a value of 1 contact, which it leaves out: "score" is "1,5", '
      const note = `${left}which is not a number such as 12.5.`
      for (const command of ["list", "count", "export"]) {
        assert.strictEqual((yield* run(["contacts", command, ...rule])).stderr, `${note}\n`, command)
        assert.strictEqual((yield* run(["contacts", command, "--rule", "score = 1"])).stderr, "", command)
      }
      const unplaced = { contacts: 1, field: "score", kind: "number", example: "1,5" }
      assert.deepStrictEqual(json(yield* run(["contacts", "count", ...rule])), { contacts: 1, unplaced })
      for (const write of [
        ["update", "--field", "seen=yes"],
        ["delete", "--confirm", "1"]
      ]) {
        const dry = yield* run(["contacts", ...write, ...rule, "--dry-run"])
        assert.deepInclude(json(dry), { read: 1, unplaced })
        const refused = yield* run(["contacts", ...write, ...rule, "--yes"])
        assert.deepInclude(failure(refused), {
          code: "Declined",
          message: `Nothing was done. ${note}`,
          hint: "To go on without them, add --allow-unplaced."
        })
        const done = yield* run(["contacts", ...write, ...rule, "--yes", "--allow-unplaced"])
        assert.strictEqual(done.code, 0, done.stderr)
        assert.include(done.stderr, note)
      }
      assert.deepStrictEqual(emails(yield* run(["contacts", "list"])), ["1x5@x.com"])
      // Nobody is selected, so nothing is asked.
      const nobody = yield* run(["contacts", "delete", ...rule, "--yes"])
      assert.deepStrictEqual([nobody.code, nobody.stderr.includes(note)], [0, true])
    })
  )

  it.live("is refused for its bare word, with the name that was perhaps meant", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const refused = yield* run(["contacts", "list", "--rule", "stauts = Active"])
      assert.strictEqual(refused.code, 2)
      assert.match(failure(refused).message, /\^{6} a text in quotes is needed here; .*did you mean "status"\?/)
      const other = yield* run(["contacts", "list", "--rule", "city = Rome"])
      assert.match(failure(other).message, /\^{4} a text in quotes is needed here; write 'Rome'/)
    })
  )
})

describe("saved rules", () => {
  it.live("stand for their text wherever a rule is given, and are checked when they are saved", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      for (const [email, plan] of [
        ["ann@example.com", "pro"],
        ["bob@example.com", "free"]
      ] as const) {
        yield* run(["contacts", "add", email, "--field", `plan=${plan}`])
      }
      const wrong = yield* run(["rules", "save", "vip", "plan = pro"])
      assert.deepStrictEqual([wrong.code, failure(wrong).code], [2, "InvalidRule"])
      assert.strictEqual((yield* run(["rules", "save", "v i p", "plan = 'pro'"])).code, 2)
      assert.strictEqual((yield* run(["rules", "save", "vip", "plan = 'free'"])).code, 0)
      assert.strictEqual((yield* run(["rules", "save", "vip", "plan = 'pro'"])).code, 0)
      assert.deepStrictEqual(jsonOf(yield* run(["rules", "list"])), [{ Name: "vip", Rule: "plan = 'pro'" }])
      assert.deepStrictEqual(emails(yield* run(["contacts", "list", "--rule", "@vip"])), ["ann@example.com"])
      assert.deepInclude(json(yield* run(["contacts", "delete", "--rule", "@vip", "--dry-run"])), {
        read: 1,
        sample: ["ann@example.com"]
      })
      // A login keeps them.
      yield* run(["auth", "login", "-p", "x", "--base-url", "https://example.com/v4", "--no-check"], { input: "k" })
      yield* run(["profile", "use", "local"])
      for (const command of selecting) {
        const unknown = yield* run([...command, "--rule", "@vpi"])
        assert.deepStrictEqual([unknown.code, failure(unknown).code], [2, "InvalidRule"])
        assert.include(failure(unknown).message, 'there is no saved rule "vpi"; did you mean "vip"')
      }
      // One of before is in the file of profiles, and is brought here by a command that both say.
      const config = join(folder, ".config/roster/config.json")
      writeFileSync(
        config,
        JSON.stringify({ ...JSON.parse(readFileSync(config, "utf8")), rules: { old: "plan = 'old'" } })
      )
      const bringing = `roster rules save old "plan = 'old'"`
      assert.include((yield* run(["rules", "list"])).stderr, bringing)
      const inFile = yield* run(["contacts", "count", "--rule", "@old"])
      assert.deepStrictEqual([inFile.code, failure(inFile).code], [2, "InvalidRule"])
      assert.include(failure(inFile).hint, bringing)
      assert.strictEqual((yield* run(["rules", "save", "old", "plan = 'old'"])).code, 0)
      assert.strictEqual((yield* run(["contacts", "count", "--rule", "@old"])).code, 0)
      assert.notInclude((yield* run(["rules", "list"])).stderr, bringing)
      for (const name of ["vip", "old"]) assert.strictEqual((yield* run(["rules", "remove", name])).code, 0)
      assert.deepStrictEqual(jsonOf(yield* run(["rules", "list"])), [])
      assert.strictEqual((yield* run(["rules", "remove", "vip"])).code, 5)
    })
  )

  it.live("are kept in the file of profiles for a service that keeps none", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env, requests } = yield* fakeService((request, response) => {
        const isThere = request.url?.startsWith("/v4/contacts") === true
        response.writeHead(isThere ? 200 : 404, { "Content-Type": "application/json" }).end(isThere ? "[]" : "{}")
      })
      assert.strictEqual((yield* run(["rules", "save", "vip", "plan = 'pro'"], { env })).code, 0)
      assert.deepStrictEqual(jsonOf(yield* run(["rules", "list"], { env })), [{ Name: "vip", Rule: "plan = 'pro'" }])
      assert.include(readFileSync(join(folder, ".config/roster/config.json"), "utf8"), '"vip"')
      assert.strictEqual((yield* run(["contacts", "list", "--rule", "@vip", "--allow-unknown-field"], { env })).code, 0)
      assert.include(requests.at(-1), "plan")
      assert.strictEqual((yield* run(["rules", "remove", "vip"], { env })).code, 0)
      const gone = yield* run(["rules", "remove", "vip"], { env })
      assert.deepStrictEqual([gone.code, failure(gone).code], [5, "SavedRuleNotFound"])
    })
  )
})
