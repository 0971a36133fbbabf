/** `roster conformance` against services: what it says, and that it leaves nothing behind. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { makeRosterHere } from "../inProcess.ts"
import { bin, ended, failure, jsonOf, type Roster, start } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

interface Finding {
  readonly Result: "passed" | "failed" | "skipped" | "observed"
  readonly Area: string
  readonly Case: string
  readonly Detail: string
}

type Env = Readonly<Record<string, string>>

/** Everything that the account has, as the command line shows it. */
const account = ({ run }: Roster, env: Env) =>
  Effect.forEach(
    [
      ["contacts", "list", "--all"],
      ["apikeys", "list"],
      ["smtp", "list"]
    ],
    (args) =>
      Effect.map(run([...args, "-o", "json"], { env }), ({ code, stdout }) => {
        assert.strictEqual(code, 0)
        return stdout.replaceAll(/"LastUse":"[^"]*"/g, "")
      })
  )

/** A service with a contact and a key of somebody else's, and a faulty one where a plan is given. */
const arrange = Effect.fnUntraced(function* (faults?: object) {
  const roster = yield* makeRosterHere
  const plan = join(roster.folder, "faults.json")
  if (faults !== undefined) writeFileSync(plan, JSON.stringify(faults))
  const { env } = yield* serveWithKey(roster.folder, faults === undefined ? [] : ["--faults", plan])
  for (const args of [
    ["contacts", "add", "ann@example.com"],
    ["apikeys", "create", "ci", "--access", "Export"]
  ]) {
    assert.strictEqual((yield* roster.run(args, { env })).code, 0)
  }
  return { ...roster, env, before: yield* account(roster, env) }
})

describe("roster conformance", () => {
  it.live("passes on a service of ours, says what it skips and what it sees, and leaves the account as it was", () =>
    Effect.gen(function* () {
      const { before, env, ...roster } = yield* arrange()
      const areas = ["contacts: update and delete", "contacts: delete in bulk", "interface is silent"]
      const words = areas.flatMap((area) => ["--area", area])
      const done = yield* roster.run(["conformance", "--yes", "-o", "json", ...words], { env })
      assert.strictEqual(done.code, 0, done.stderr)
      const findings = jsonOf<ReadonlyArray<Finding>>(done)
      const of = (result: Finding["Result"]) => findings.filter(({ Result }) => Result === result)
      assert.isAtLeast(of("passed").length, 10)
      assert.isAtLeast(of("observed").length, 10)
      assert.deepStrictEqual(of("failed"), [])
      for (const { Detail } of of("skipped")) assert.match(Detail, /^it needs /)
      assert.isTrue(
        of("skipped").some(
          (one) => one.Case === "deletes what a rule selects" && one.Detail.includes("may all be lost")
        )
      )
      const order = of("observed").find(({ Case }) => Case === "In which order are contacts listed?")
      assert.strictEqual(order?.Detail, "in the order of adding")
      assert.include(done.stderr, `${of("passed").length} passed, 0 failed, ${of("skipped").length} skipped.`)
      assert.deepStrictEqual(yield* account(roster, env), before)
    })
  )

  it.live("fails with 9 where a service breaks a promise, and cleans up all the same", () =>
    Effect.gen(function* () {
      const { before, env, ...roster } = yield* arrange({ "apiKeys.update": { every: { fault: "Unauthorized" } } })
      const done = yield* roster.run(["conformance", "--service", "credentials", "--yes", "-o", "json"], { env })
      assert.deepStrictEqual([done.code, failure(done).code], [9, "NotConformant"], done.stderr)
      const failed = jsonOf<ReadonlyArray<Finding>>(done).filter(({ Result }) => Result === "failed")
      assert.includeMembers(
        failed.map(({ Area, Case }) => `${Area}: ${Case}`),
        ["update", "rename"].map((write) => `credentials: reads of API keys after writes: list after ${write}`)
      )
      for (const { Case, Detail } of failed) {
        assert.match(Case, /update|rename|levels/)
        assert.match(Detail, /Unauthorized|key/)
      }
      assert.deepStrictEqual(yield* account(roster, env), before)
    })
  )

  it.live("cleans up when it is interrupted", () =>
    Effect.gen(function* () {
      const { before, env, ...roster } = yield* arrange()
      const child = start(roster.folder, ["conformance", "--yes", "-o", "ndjson"], env)
      const done = ended(child)
      const { stdout } = child
      if (stdout === null) return assert.fail("the process has no stdout")
      // By now there are contacts.
      yield* Effect.promise(() => once(stdout, "data"))
      child.kill("SIGINT")
      const { code, stderr } = yield* Effect.promise(() => done)
      assert.strictEqual(code, 130, stderr)
      assert.include(stderr, "Deleting what the cases made.")
      assert.deepStrictEqual(yield* account(roster, env), before)
    })
  )

  it.live("sends nothing before it is told to", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const { env, requests } = yield* fakeService((_, response) => response.writeHead(500).end())
      const declined = yield* run(["conformance"], { env })
      assert.strictEqual(declined.code, 3)
      assert.include(declined.stderr, "add, change and delete contacts and credentials")
      for (const [flag, value, known] of [
        ["--given", "everything", "own-account"],
        ["--area", "weather", "contacts: list"]
      ] as const) {
        const wrong = yield* run(["conformance", flag, value, "--yes"], { env })
        assert.strictEqual(wrong.code, 2)
        assert.include(wrong.stderr, known)
      }
      assert.deepStrictEqual(requests, [])
    })
  )

  it("brings no test runner into the bundle", () => {
    const folder = join(dirname(bin), "roster")
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(file.parentPath, file.name)
      if (file.isFile()) assert.notMatch(readFileSync(path, "utf8"), /\bvitest\b/, path)
    }
  })
})
