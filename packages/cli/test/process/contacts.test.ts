import { assert, describe, it } from "@effect/vitest"
import type { FieldsInUse } from "@roster/domain"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { reportOf } from "../report.ts"
import { type Ended, failure, json, jsonOf, longRun } from "../roster.ts"
import { fakeService } from "../service.ts"

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
      const [store, list, fields, undo] = added.stderr.split("\n")
      assert.strictEqual(store, `[local] ${join(folder, "store.db")}, a new store`)
      assert.deepStrictEqual([list, fields], ["New list: News", "New custom fields: city, note"])
      assert.match(undo ?? "", /^To undo it: roster contacts undo \S+ --db \S+$/)
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
      const shown = json(yield* run(["contacts", "get", "ann@example.com"]))
      assert.deepStrictEqual(shown, { ...Object(json(updated)), Lists: ["News"] })
    })
  )

  it.live("history shows what was done, the newest first, also of a contact that is gone", () =>
    Effect.gen(function* () {
      const { run } = yield* withAnn
      for (const status of ["Unsubscribed", "Unsubscribed", "Active"]) {
        const given = yield* run(["contacts", "add", "ann@example.com", "--status", status, "--resubscribe"])
        assert.strictEqual(given.code, 0, given.stderr)
      }
      const all = yield* run(["contacts", "history", "ANN@example.com"])
      const entries = jsonOf<ReadonlyArray<{ readonly Effect: string; readonly Fields: object }>>(all)
      assert.deepStrictEqual(
        entries.flatMap(({ Fields }) => ("Status" in Fields ? [Fields.Status] : [])),
        [
          ["Unsubscribed", "Active"],
          ["Unsubscribed", "Unsubscribed"],
          ["Engaged", "Unsubscribed"]
        ]
      )
      assert.strictEqual(entries.at(-1)?.Effect, "Created")
      const table = yield* run(["contacts", "history", "ann@example.com", "--limit", "2", "-o", "table"])
      const [head, first, second, ...rest] = table.stdout.trimEnd().split("\n")
      assert.match(head ?? "", /^When \(UTC\) +What +By +Key +Change$/)
      assert.match(first ?? "", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  changed .* Status: Unsubscribed -> Active$/)
      assert.match(second ?? "", /Status: Unsubscribed -> Unsubscribed$/)
      assert.deepStrictEqual(rest, [])
      assert.strictEqual((yield* run(["contacts", "delete", "ann@example.com", "--yes"])).code, 0)
      const gone = yield* run(["contacts", "history", "ann@example.com"])
      assert.include(gone.stderr, "There is no such contact now.")
      assert.include(gone.stdout, '["Unsubscribed","Active"]')
      const nobody = yield* run(["contacts", "history", "nobody@example.com"])
      assert.include(failure(nobody).message, "nobody@example.com")
    })
  )

  it.live("get prints one line of JSON", () =>
    Effect.gen(function* () {
      const { added, run } = yield* withAnn
      const shown = yield* run(["contacts", "get", "ann@example.com"])
      assert.deepStrictEqual(json(shown), { ...Object(json(added)), Lists: ["News"] })
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
      assert.match(
        table.stdout,
        /^Email +Status +FirstName +LastName +DateAdded \(UTC\)\nAnn@example\.com +Engaged +Ann +Lee/
      )
    })
  )

  it.live("update changes all that a rule selects, after showing how many, and can be undone", () =>
    Effect.gen(function* () {
      const { run } = yield* withAnn
      for (const name of ["bob", "cat"]) yield* run(["contacts", "add", `${name}@example.com`, "--field", "city=Koeln"])
      const update = ["contacts", "update", "--rule", "city starts-with 'K'", "--field", "city=Köln"]
      const dry = yield* run([...update, "--dry-run"])
      assert.deepInclude(json(dry), { dryRun: true, read: 3, changed: 2, alreadySo: 1 })
      assert.include(
        (yield* run([...update, "--dry-run", "-o", "table"])).stdout,
        "bob@example.com  CustomFields.city: Koeln -> Köln"
      )
      const cities = Effect.map(
        run(["contacts", "list", "--all", "--columns", "city", "-o", "csv"]),
        ({ stdout }) => stdout
      )
      const before = yield* cities
      assert.strictEqual((yield* run(update)).code, 3)
      const most = yield* run([...update, "--yes"])
      assert.deepStrictEqual([most.code, /--confirm 2/.test(most.stderr)], [3, true])
      assert.strictEqual(yield* cities, before)
      const done = yield* run([...update, "--yes", "--confirm", "2"])
      assert.strictEqual(done.code, 0, done.stderr)
      assert.include(reportOf(done), { command: "update", read: 3, done: 3, changed: 2, alreadySo: 1 })
      assert.strictEqual(yield* cities, "city\r\nKöln\r\nKöln\r\nKöln\r\n")
      const again = yield* run([...update, "--yes"])
      assert.include(reportOf(again), { read: 3, done: 3, changed: 0, alreadySo: 3 })
      assert.strictEqual((yield* run(["contacts", "undo", "last", "--yes"])).code, 0)
      assert.strictEqual(yield* cities, before)
    })
  )

  it.live("list and export say of a list alone which of its contacts a rule cannot compare", () =>
    Effect.gen(function* () {
      const { run } = yield* withAnn
      for (const name of ["bob", "cat"]) yield* run(["contacts", "add", `${name}@example.com`, "--field", "city=Bonn"])
      const rule = ["--rule", "city > 5"]
      for (const verb of [["list"], ["list", "--all"], ["export"]]) {
        const on = yield* run(["contacts", ...verb, ...rule, "--on", "News"])
        assert.match(on.stderr, /a value of 1 contact, which it leaves out: "city" is "Köln"/)
        const all = yield* run(["contacts", ...verb, ...rule])
        assert.include(all.stderr, "a value of 3 contacts")
      }
      const other = yield* run(["contacts", "list", "--on", "News", "--rule", "note = 'a=b' OR city > 5"])
      assert.strictEqual(other.stderr, "")
    })
  )

  it.live("fields --convert stores texts as rules compare them, lists what stays, and can be undone", () =>
    Effect.gen(function* () {
      const { run } = yield* withAnn
      for (const [name, since] of [
        ["bob", "25.07.2022"],
        ["cat", "1.2.2024"],
        ["dan", "soon"]
      ]) {
        yield* run(["contacts", "add", `${name}@example.com`, "--field", `Kunde seit=${since}`])
      }
      const rule = ["contacts", "count", "--rule", "'Kunde seit' > '2022-01-01'"]
      assert.deepInclude(json(yield* run(rule)), { contacts: 0 })
      const convert = ["contacts", "fields", "--convert", "kunde seit=date:DD.MM.YYYY"]
      const left = { email: "dan@example.com", field: "kunde seit", value: "soon" }
      const dry = yield* run([...convert, "--dry-run"])
      assert.strictEqual(dry.code, 9)
      const { leftValues, ...planned } = jsonOf<{ leftValues: ReadonlyArray<object> }>(dry)
      assert.deepInclude(planned, {
        dryRun: true,
        read: 3,
        changed: 2,
        onlyForm: { "CustomFields.Kunde seit": 2 },
        valuesLeft: 1
      })
      assert.deepInclude(leftValues[0], left)
      const shown = (yield* run([...convert, "--dry-run", "-o", "table"])).stdout
      assert.include(shown, "CustomFields.Kunde seit: 2 contacts, only its form")
      assert.include(shown, 'dan@example.com  kunde seit: "soon"')
      assert.strictEqual((yield* run(convert)).code, 3)
      const narrow = yield* run([...convert, "--rule", "email starts-with 'cat'", "--yes"])
      assert.strictEqual(narrow.code, 0, narrow.stderr)
      assert.include(reportOf(narrow), { command: "convert", read: 1, changed: 1, exitCode: 0 })
      assert.deepInclude(json(yield* run(rule)), { contacts: 1 })
      const done = yield* run([...convert, "--yes"])
      assert.deepInclude(json(done), { read: 3, done: 3, changed: 1, alreadySo: 2, valuesLeft: 1, exitCode: 9 })
      assert.strictEqual(done.code, 9)
      const again = yield* run([...convert, "--yes"])
      assert.deepInclude(json(again), { changed: 0, valuesLeft: 1, exitCode: 9 })
      assert.strictEqual((yield* run(["contacts", "undo", "last", "--yes"])).code, 0)
      assert.deepInclude(json(yield* run(rule)), { contacts: 1 })
      for (const [args, why] of [
        [["--convert", "kunde=date"], "no contact has"],
        [["--convert", "Status=boolean"], "built-in"],
        [["--convert", "Kunde seit=day"], "a kind is"],
        [["--convert", "Kunde seit=date", "--convert", "kunde seit=boolean"], "gives a field one kind"],
        [["--yes"], "--convert, which is missing"]
      ] as const) {
        const refused = yield* run(["contacts", "fields", ...args, ...(args.length > 1 ? ["--yes"] : [])])
        assert.strictEqual(refused.code, 2)
        assert.include(refused.stderr, why)
      }
    })
  )

  it.live("update and delete take the addresses of a file", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withAnn
      yield* run(["contacts", "add", "bob@example.com"])
      const file = join(folder, "some.txt")
      writeFileSync(file, "bob@example.com\nnobody@example.com\nANN@example.com\n")
      const updated = yield* run(["contacts", "update", "--file", file, "--last-name", "L", "--yes"])
      assert.strictEqual(updated.code, 0, updated.stderr)
      assert.include(reportOf(updated), { file, changed: 2, notThere: 1 })
      writeFileSync(file, "bob@example.com\nbob\n")
      const refused = yield* run(["contacts", "delete", "--file", file, "--yes"])
      assert.strictEqual(refused.code, 2)
      assert.include(refused.stderr, "line 2")
      writeFileSync(file, "Email,Name\nbob@example.com,Bob\n")
      const deleted = yield* run(["contacts", "delete", "--file", file, "--yes"])
      assert.deepInclude(json(deleted), { deleted: 1, notThere: 0 })
      assert.deepStrictEqual(emails(yield* run(["contacts", "list"])), ["Ann@example.com"])
    })
  )

  it.live("update gives a status to many, and says who keeps a stricter one", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withAnn
      for (const status of ["Stale", "Bounced", "Unsubscribed"]) {
        yield* run(["contacts", "add", `${status}@example.com`, "--status", status])
      }
      const statuses = Effect.map(run(["contacts", "list"]), (ended) =>
        jsonOf<ReadonlyArray<{ readonly Status: string }>>(ended).map(({ Status }) => Status)
      )
      const before = yield* statuses
      const file = join(folder, "back.txt")
      writeFileSync(file, "Stale@example.com\nBounced@example.com\nUnsubscribed@example.com\n")
      const update = ["contacts", "update", "--file", file, "--status", "Active"]
      const keptStatuses = [
        { line: 2, email: "Bounced@example.com", status: "Bounced" },
        { line: 3, email: "Unsubscribed@example.com", status: "Unsubscribed" }
      ] as const
      const dry = yield* run([...update, "--dry-run"])
      const newRecipients = { people: 1, added: 0 }
      assert.deepInclude(json(dry), { read: 3, changed: 1, statusesKept: 2, keptStatuses, newRecipients })
      const shown = (yield* run([...update, "--dry-run", "-o", "table"])).stdout
      assert.match(shown, /change 1 contact of 3; 2 stay as they are/)
      assert.match(shown, /--resubscribe lifts all but Abuse:\n  Bounced@example.com stays Bounced\n/)
      assert.deepStrictEqual(yield* statuses, before)
      const done = yield* run([...update, "--yes"])
      assert.deepInclude(reportOf(done), { read: 3, done: 3, changed: 1, alreadySo: 2, statusesKept: 2, keptStatuses })
      assert.deepStrictEqual(yield* statuses, ["Engaged", "Active", "Bounced", "Unsubscribed"])
      const lifted = yield* run([...update, "--resubscribe", "--yes"])
      assert.deepInclude(reportOf(lifted), { read: 3, changed: 2, alreadySo: 1, statusesKept: 0 })
      assert.deepStrictEqual(yield* statuses, ["Engaged", "Active", "Active", "Active"])
      yield* run(["contacts", "undo", "last", "--yes"])
      const alone = yield* run(["contacts", "update", "Unsubscribed@example.com", "--status", "Active", "--yes"])
      assert.deepInclude(reportOf(alone), { changed: 0, statusesKept: 1 })
      assert.deepStrictEqual(yield* statuses, ["Engaged", "Active", "Bounced", "Unsubscribed"])
      assert.strictEqual(
        (yield* run(["contacts", "update", "x@example.com", "--first-name", "X", "--resubscribe"])).code,
        2
      )
    })
  )

  it.live("count tells how many a rule selects, as JSON and in words", () =>
    Effect.gen(function* () {
      const { run } = yield* withAnn
      yield* run(["contacts", "add", "bob@example.com"])
      assert.deepStrictEqual(json(yield* run(["contacts", "count"])), { contacts: 2 })
      const engaged = yield* run(["contacts", "count", "--rule", "status = Engaged", "-o", "table"])
      assert.strictEqual(engaged.stdout, "1 contact\n")
    })
  )

  it.live("fields shows which there are, with their counts and examples", () =>
    Effect.gen(function* () {
      const { run } = yield* withAnn
      yield* run(["contacts", "add", "bob@example.com", "--field", "City=34"])
      const { Contacts, Exact, Fields } = jsonOf<typeof FieldsInUse.Encoded>(yield* run(["contacts", "fields"]))
      assert.deepStrictEqual([Contacts, Exact], [2, true])
      assert.deepInclude(Fields, {
        Name: "city",
        IsCustom: true,
        Contacts: 2,
        Numbers: 1,
        Dates: 0,
        Examples: ["Köln", "34"]
      })
      const table = yield* run(["contacts", "fields", "-o", "table"])
      assert.match(table.stdout, /^city +2 +1 +0 +Köln, 34$/m)
      assert.include(table.stderr, "Of 2 contacts.")
    })
  )

  it.live("delete removes the contact, and a second delete does not find it", () =>
    Effect.gen(function* () {
      const { run } = yield* withAnn
      const deleted = yield* run(["contacts", "delete", "ann@example.com", "--yes"])
      assert.strictEqual(deleted.code, 0, deleted.stderr)
      assert.deepInclude(json(deleted), { deleted: 1, notThere: 0 })
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
      const sorted = yield* run(["contacts", "list", "--all", "--sort=-email", "--offset", "1"])
      assert.deepStrictEqual(emails(sorted), rows.toSorted().toReversed().slice(1))
      const table = yield* run(["contacts", "list", "--all", "-o", "table"])
      assert.strictEqual(table.stdout.trimEnd().split("\n").length, 2346)
      assert.strictEqual((yield* run(["contacts", "list", "--all", "--rule", "email = 'x'"])).stdout, "[]\n")
    })
  )

  it.live("list asks a service on that gives fewer contacts than asked for, and knows their fields", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const all = Array.from({ length: 30 }, (_, n) => ({
        Email: `c${n}@example.com`,
        ...(n === 29 ? { CustomFields: { plan: "free" } } : {})
      }))
      for (const cap of [1, 7, 1000]) {
        const { env, requests } = yield* fakeService((request, response) => {
          const asked = new URL(request.url ?? "", "http://service.example").searchParams
          const found = asked.has("rule") ? all.slice(29) : all
          const offset = Number(asked.get("offset") ?? 0)
          const page = found.slice(offset, offset + Math.min(cap, Number(asked.get("limit"))))
          response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(page))
        })
        for (const [args, from, to] of [
          [[], 0, 20],
          [["--limit", "8", "--offset", "3"], 3, 11],
          [["--limit", "50", "--offset", "3"], 3, 30]
        ] as const) {
          const listed = yield* run(["contacts", "list", ...args], { env })
          assert.deepStrictEqual(
            emails(listed),
            all.slice(from, to).map(({ Email }) => Email)
          )
          assert.strictEqual(listed.stderr.includes("there are more"), args.length === 0)
        }
        if (cap === 1000) assert.strictEqual(requests.length, 4)
        const ruled = yield* run(["contacts", "list", "--rule", "plan = 'free'"], { env })
        assert.strictEqual(ruled.stderr, "", String(cap))
      }
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
      assert.deepInclude(json(several), { deleted: 2, notThere: 1 })
      assert.strictEqual((yield* run(["contacts", "delete", "--rule", "email = 'c@x.com'", "--yes"])).code, 0)
      assert.deepStrictEqual(emails(yield* run(["contacts", "list"])), ["d@x.com"])
    })
  )
})
