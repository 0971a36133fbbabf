import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { makeLocalRosterHere } from "../inProcess.ts"
import { type Ended, failure, json, jsonOf, longRun } from "../roster.ts"

const emails = (ended: Ended): ReadonlyArray<string> =>
  jsonOf<ReadonlyArray<{ readonly Email: string }>>(ended).map(({ Email }) => Email)

/** A local roster whose store has Ann, with every field that `contacts add` can set. */
const withAnn = Effect.gen(function* () {
  const roster = yield* makeLocalRosterHere
  const names = ["--first-name", "Ann", "--last-name", "Lee", "--status", "Engaged"]
  const fields = ["--field", "city=Köln", "--field", "note=a=b"]
  const added = yield* roster.run(["contacts", "add", "Ann@example.com", ...names, ...fields, "--list", "News"])
  assert.strictEqual(added.code, 0, added.stderr)
  return { ...roster, added }
})

describe("roster contacts, on a store file", () => {
  it.live("add prints the contact, and says that the store is new", () =>
    Effect.gen(function* () {
      const { added, folder } = yield* withAnn
      assert.strictEqual(added.stderr, `[local] ${join(folder, "store.db")}, a new store\n`)
      assert.include(json(added), {
        Email: "Ann@example.com",
        Status: "Engaged",
        FirstName: "Ann",
        Source: "ContactApi"
      })
    })
  )

  it.live("update changes the given fields and no others", () =>
    Effect.gen(function* () {
      const { run } = yield* withAnn
      const updated = yield* run([
        "contacts",
        "update",
        "ann@example.com",
        "--last-name",
        "Lee-Smith",
        "--field",
        "city="
      ])
      assert.strictEqual(updated.code, 0, updated.stderr)
      assert.include(json(updated), { FirstName: "Ann", LastName: "Lee-Smith", Status: "Engaged" })
      assert.deepStrictEqual(json(yield* run(["contacts", "get", "ann@example.com"])), json(updated))
    })
  )

  it.live("get prints one line of JSON", () =>
    Effect.gen(function* () {
      const { added, run } = yield* withAnn
      const shown = yield* run(["contacts", "get", "ann@example.com"])
      assert.deepStrictEqual(json(shown), json(added))
      assert.strictEqual(shown.stdout.trimEnd().split("\n").length, 1)
    })
  )

  it.live("list selects by limit, offset and rule, and prints a table", () =>
    Effect.gen(function* () {
      const { run } = yield* withAnn
      yield* run(["contacts", "add", "bob@example.com"])
      const listed = yield* run(["contacts", "list"])
      assert.deepStrictEqual(emails(listed), ["Ann@example.com", "bob@example.com"])
      const second = yield* run(["contacts", "list", "--limit", "1", "--offset", "1"])
      assert.deepStrictEqual(emails(second), ["bob@example.com"])
      const engaged = yield* run(["contacts", "list", "--rule", "status = Engaged"])
      assert.deepStrictEqual(emails(engaged), ["Ann@example.com"])
      assert.deepStrictEqual(json(yield* run(["contacts", "list", "--all"])), json(listed))
      const table = yield* run(["contacts", "list", "-o", "table"])
      assert.match(table.stdout, /^Email +Status +FirstName +LastName +DateAdded\nAnn@example\.com +Engaged +Ann +Lee/)
    })
  )

  it.live("delete removes the contact, and a second delete does not find it", () =>
    Effect.gen(function* () {
      const { run } = yield* withAnn
      const deleted = yield* run(["contacts", "delete", "ann@example.com", "--yes"])
      assert.strictEqual(deleted.code, 0, deleted.stderr)
      assert.deepInclude(json(deleted), { deleted: 1, notThere: 0, left: 0 })
      const gone = yield* run(["contacts", "get", "ann@example.com"])
      assert.deepStrictEqual([gone.code, gone.stdout, failure(gone).code], [5, "", "ContactNotFound"])
      assert.strictEqual((yield* run(["contacts", "delete", "ann@example.com", "--yes"])).code, 5)
    })
  )

  it.live("list --all prints every page, as JSON and as a table", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const rows = Array.from({ length: 2345 }, (_, index) => `c${index}@example.com`)
      yield* run(["contacts", "import", "-"], { input: `Email\n${rows.join("\n")}\n` })
      assert.deepStrictEqual(emails(yield* run(["contacts", "list", "--all"])), rows)
      assert.deepStrictEqual(emails(yield* run(["contacts", "list", "--all", "--offset", "2340"])), rows.slice(2340))
      const table = yield* run(["contacts", "list", "--all", "-o", "table"])
      assert.strictEqual(table.stdout.trimEnd().split("\n").length, 2346)
      assert.strictEqual((yield* run(["contacts", "list", "--all", "--rule", "email = 'x'"])).stdout, "[]\n")
    })
  )

  it.live("list --limit prints exactly that many contacts, in every format", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const rows = Array.from({ length: 3100 }, (_, index) => `c${index + 1000}@example.com`)
      yield* run(["contacts", "import", "-"], { input: `Email\n${rows.join("\n")}\n` })
      for (const [limit, offset] of [
        [1000, 0],
        [1001, 0],
        [2500, 0],
        [1999, 300],
        [5000, 0],
        [5000, 3000]
      ] as const) {
        const args = ["contacts", "list", "--limit", String(limit), "--offset", String(offset)]
        const expected = rows.slice(offset, offset + limit)
        assert.deepStrictEqual(emails(yield* run(args)), expected)
        // The other formats print the same pages.
        if (!longRun && limit !== 1001 && offset !== 3000) continue
        const { stdout: lines } = yield* run([...args, "-o", "ndjson"])
        assert.deepStrictEqual(
          lines
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line).Email),
          expected
        )
        for (const format of ["csv", "table"]) {
          const { stdout } = yield* run([...args, "-o", format])
          const shown = stdout.trimEnd().split(/\r?\n/).slice(1)
          assert.deepStrictEqual(
            shown.map((line) => line.split(/[ ,]/)[0]),
            expected
          )
        }
      }
      const ruled = ["contacts", "list", "--limit", "2000", "--rule", "email contains '1'", "-o", "json"]
      assert.deepStrictEqual(emails(yield* run(ruled)), rows.filter((email) => email.includes("1")).slice(0, 2000))
    })
  )

  const withFour = Effect.gen(function* () {
    const roster = yield* makeLocalRosterHere
    yield* roster.run(["contacts", "import", "-"], { input: "Email\na@x.com\nb@x.com\nc@x.com\nd@x.com\n" })
    return roster
  })

  it.live("delete needs --yes without a terminal", () =>
    Effect.gen(function* () {
      const { run } = yield* withFour
      const unasked = yield* run(["contacts", "delete", "a@x.com"])
      assert.deepStrictEqual([unasked.code, unasked.stdout, failure(unasked).code], [3, "", "Declined"])
      assert.strictEqual((yield* run(["contacts", "delete", "--rule", "All"])).code, 3)
      assert.strictEqual(emails(yield* run(["contacts", "list"])).length, 4)
    })
  )

  it.live("delete refuses addresses together with a rule, and an empty rule", () =>
    Effect.gen(function* () {
      const { run } = yield* withFour
      const both = yield* run(["contacts", "delete", "a@x.com", "--rule", "All", "--yes"])
      assert.deepStrictEqual([both.code, failure(both).code], [2, "ConflictingFilter"])
      const blank = yield* run(["contacts", "delete", "--rule", " ", "--yes"])
      assert.deepStrictEqual([blank.code, failure(blank).code], [2, "InvalidRule"])
      assert.strictEqual(emails(yield* run(["contacts", "list"])).length, 4)
    })
  )

  it.live("delete takes several addresses, unknown ones too, or a rule", () =>
    Effect.gen(function* () {
      const { run } = yield* withFour
      const several = yield* run(["contacts", "delete", "a@x.com", "b@x.com", "nobody@x.com", "--yes"])
      assert.strictEqual(several.code, 0, several.stderr)
      assert.deepInclude(json(several), { deleted: 2, notThere: 1, left: 0 })
      assert.strictEqual((yield* run(["contacts", "delete", "--rule", "email = 'c@x.com'", "--yes"])).code, 0)
      assert.deepStrictEqual(emails(yield* run(["contacts", "list"])), ["d@x.com"])
    })
  )
})
