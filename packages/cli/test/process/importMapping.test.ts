import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere } from "../inProcess.ts"
import { failure, json } from "../roster.ts"

/** Imports a file, and gives the result with what is stored then. */
const importing = Effect.fnUntraced(function* (file: string | Uint8Array, ...flags: ReadonlyArray<string>) {
  const { folder, run } = yield* makeLocalRosterHere
  writeFileSync(join(folder, "a.csv"), file)
  const done = yield* run(["contacts", "import", "a.csv", ...flags])
  const stored: unknown = json(yield* run(["contacts", "list"]))
  return { done, folder, run, stored: stored as ReadonlyArray<Record<string, unknown>> }
})

describe("what is said about an imported file", () => {
  it.live("is asked for before a text below a column without a name is lost", () =>
    Effect.gen(function* () {
      const file = "Email,,FirstName,\nbob@example.com,,Bob,\nann@example.com,x,Ann,\n"
      const refused = yield* importing(file)
      assert.deepStrictEqual([refused.done.code, refused.done.stdout, refused.stored], [2, "", []])
      assert.include(failure(refused.done).message, "Column B")
      assert.include(failure(refused.done).message, "line 3")
      assert.include(failure(refused.done).message, "x")
      assert.include(failure(refused.done).hint, "--map '#2='")
      for (const via of ["batches", "file"]) {
        const named = yield* importing(file, "--map", "#2=city", "--via", via)
        assert.strictEqual(named.done.code, 0, named.done.stderr)
        assert.deepInclude(named.stored[1], { Email: "ann@example.com", CustomFields: { city: "x" } })
        const leftOut = yield* importing(file, "--map", "#2=", "--via", via)
        assert.strictEqual(leftOut.done.code, 0, leftOut.done.stderr)
        assert.deepEqual(leftOut.stored[1]?.["CustomFields"] ?? {}, {})
      }
    })
  )

  it.live("takes other words for a status, which a row is rejected for without", () =>
    Effect.gen(function* () {
      const file = "Email,Status\nann@example.com,subscribed\nbob@example.com,active\ncem@example.com,cleaned\n"
      const plain = yield* importing(file)
      assert.strictEqual(plain.done.code, 9)
      assert.include(plain.done.stdout, "--map-value 'Status:subscribed=Active'")
      assert.include(plain.done.stdout, "Unsubscribed, Abuse, Inactive, Stale or NotConfirmed")
      const words = ["--map-value", "status:Subscribed=active", "--map-value", "Status:cleaned=Bounced"]
      for (const via of ["batches", "file"]) {
        const { done, stored } = yield* importing(file, ...words, "--via", via)
        assert.strictEqual(done.code, 0, done.stderr)
        assert.deepStrictEqual(
          stored.map(({ Status }) => Status),
          ["Active", "Active", "Bounced"]
        )
      }
      const wrong = yield* importing(file, "--map-value", "Status:subscribed=Activ")
      assert.strictEqual(wrong.done.code, 2)
      assert.include(failure(wrong.done).message, "Transactional, Engaged")
    })
  )

  it.live("keeps who has unsubscribed from getting mail again, by whatever word", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["contacts", "add", "ann@example.com", "--status", "Unsubscribed"])
      writeFileSync(join(folder, "a.csv"), "Email;Status\nann@example.com;on\n")
      for (const via of ["batches", "file"]) {
        yield* run(["contacts", "import", "a.csv", "--map-value", "Status:on=Active", "--via", via])
        assert.deepInclude(json(yield* run(["contacts", "get", "ann@example.com"])), { Status: "Unsubscribed" })
      }
    })
  )

  it.live("offers to skip the lines above the header", () =>
    Effect.gen(function* () {
      const file = "# exported 2024\nEmail|FirstName\nann@example.com|Ann\n"
      const { done } = yield* importing(file)
      assert.strictEqual(done.code, 2)
      assert.include(failure(done).message, "line 2 looks like the header")
      assert.include(failure(done).hint, "--skip-lines 1")
      const skipped = yield* importing(file, "--skip-lines", "1", "--delimiter", "|")
      assert.deepInclude(skipped.stored[0], { Email: "ann@example.com", FirstName: "Ann" })
    })
  )

  it.live("names the columns that only the service sets, and the address that would do", () =>
    Effect.gen(function* () {
      const file = 'Email,Source\n"Ann <ann@example.com>",x\n"c@example.com; d@example.com",\n'
      const { done } = yield* importing(file)
      assert.include(done.stderr, "not imported: Source")
      const { rejectedRows } = json(done) as { rejectedRows: ReadonlyArray<object> }
      assert.deepInclude(rejectedRows[0], { line: 2, suggestion: "ann@example.com" })
      assert.deepInclude(rejectedRows[1], { line: 3, suggestion: "c@example.com, d@example.com" })
    })
  )

  it.live("is part of a plan, and of a run that goes on", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "a.csv"), "Mail,Status\nann@example.com,on\n")
      const flags = ["--map", "Mail=Email", "--map-value", "Status:on=Active"]
      const planned = yield* run(["contacts", "import", "a.csv", ...flags, "--plan", "p.json"])
      assert.strictEqual(planned.code, 0, planned.stderr)
      const plan: unknown = JSON.parse(readFileSync(join(folder, "p.json"), "utf8"))
      assert.deepInclude(plan, { mapping: { columns: { Mail: "Email" }, values: { Status: { on: "Active" } } } })
    })
  )
})
