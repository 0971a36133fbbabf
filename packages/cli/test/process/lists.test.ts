import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { reportOf } from "../report.ts"
import { failure, json, jsonOf, makeRoster, type Roster } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

const emails = (ended: { readonly stdout: string }): ReadonlyArray<string> =>
  jsonOf<ReadonlyArray<{ Email: string }>>(ended).map(({ Email }) => Email)

/** Contacts c0, c1, ... of which every tenth has a plan, and one after the first page a colour. */
const arrange = Effect.fnUntraced(function* ({ folder, run }: Roster, count: number, args: ReadonlyArray<string> = []) {
  const rows = Array.from(
    { length: count },
    (_, i) => `c${i}@example.com,City ${i},${i % 10 === 0 ? "pro" : ""},${i === 1200 ? "red" : ""}`
  )
  writeFileSync(join(folder, "in.csv"), `Email,city,plan,colour\n${rows.join("\n")}\n`)
  const imported = yield* run(["contacts", "import", "in.csv", ...args])
  assert.strictEqual(imported.code, 0, imported.stderr)
})

describe("roster contacts list", () => {
  it.live("says what it does not show, with the number on a local store", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      const { run } = roster
      yield* arrange(roster, 1503)
      const some = yield* run(["contacts", "list"])
      assert.deepStrictEqual([some.code, emails(some).length], [0, 20])
      assert.include(some.stderr, "20 of 1,503 contacts; --all lists them")
      assert.include((yield* run(["contacts", "list", "--offset", "3"])).stderr, "20 of 1,503 contacts")
      assert.include(
        (yield* run(["contacts", "list", "--rule", "plan = 'pro'"])).stderr,
        "20 contacts, and there are more; --all lists them"
      )
      for (const args of [["--limit", "20"], ["--all"], ["--offset", "1483"], ["--rule", "plan = 'pro'", "--all"]]) {
        assert.notInclude((yield* run(["contacts", "list", ...args])).stderr, "--all lists", args.join(" "))
      }
      assert.notInclude((yield* run(["contacts", "list", "--quiet"])).stderr, "--all")
    })
  )

  it.live("prints the columns that are asked for, and all custom fields as CSV", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      const { run } = roster
      yield* arrange(roster, 1203)
      const chosen = yield* run(["contacts", "list", "--columns", "email, City,totalsent", "-o", "csv"])
      const [header, first] = chosen.stdout.split("\r\n")
      assert.deepStrictEqual([header, first], ["Email,City,TotalSent", "c0@example.com,City 0,0"])
      const table = yield* run(["contacts", "list", "--columns", "Email,plan", "-o", "table"])
      assert.match(table.stdout, /^Email +plan\nc0@example\.com +pro\n/)
      // The last contact alone has a colour, and is not on the first page.
      const all = yield* run(["contacts", "list", "--all", "-o", "csv"])
      assert.match(all.stdout, /^Email,Status,FirstName,LastName,DateAdded,city,colour,plan\r\n/)
      assert.match(all.stdout, /\nc1200@example\.com,Active,,,[^,]+,City 1200,red,pro\r\n/)
      assert.strictEqual(all.stdout.trimEnd().split("\r\n").length, 1204)
      // A list can be imported again.
      const again = yield* run(["contacts", "import", "-"], { input: all.stdout })
      assert.deepInclude(json(again), { read: 1203, done: 1203, rejected: 0 })
      const refused = yield* run(["contacts", "list", "--columns", "Email", "-o", "json"])
      assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UsageError"])
      assert.strictEqual((yield* run(["contacts", "list", "--columns", "Email,,city", "-o", "csv"])).code, 2)
    })
  )

  it.live("names the offset to go on from when it breaks off", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const page = (offset: number) =>
        JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ Email: `c${offset + i}@example.com` })))
      const { env } = yield* fakeService((request, response) => {
        const offset = Number(new URL(request.url ?? "", "http://x").searchParams.get("offset") ?? 0)
        const isRefused = offset >= 2000
        response.writeHead(isRefused ? 400 : 200, { "Content-Type": "application/json" })
        response.end(isRefused ? '{"Error":"No more."}' : page(offset))
      })
      const broken = yield* run(["contacts", "list", "--all", "-o", "ndjson"], { env })
      assert.strictEqual(broken.code, 7, broken.stderr)
      const printed = broken.stdout.trimEnd().split("\n").length
      assert.isAbove(printed, 0)
      assert.strictEqual(failure(broken).resume, `roster contacts list --all -o ndjson --offset ${printed}`)
      const later = yield* run(["contacts", "list", "--offset", "2000", "--all", "-o", "ndjson"], { env })
      assert.deepStrictEqual([later.code, later.stdout, failure(later).resume], [7, "", undefined])
    })
  )

  it.live("stops, as all commands with a rule do, where no contact has a field, unless that is meant", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      const { run } = roster
      yield* arrange(roster, 1203)
      const words = 'no contact has "plann"; did you mean "plan"?'
      for (const command of ["list", "count", "fields", "export"]) {
        const args = ["contacts", command, "--rule", "plann = 'pro'"]
        const said = yield* run(args)
        assert.deepStrictEqual([said.code, failure(said).code], [2, "UsageError"], command)
        assert.include(failure(said).message, words)
        assert.strictEqual((yield* run([...args, "--allow-unknown-field"])).code, 0, command)
      }
      const both = yield* run(["contacts", "list", "--rule", "plann = 'x' OR shoesize = '3'"])
      assert.include(failure(both).message, 'no contact has "shoesize"')
      const columns = yield* run(["contacts", "list", "--columns", "Email,plan,plann,dateadded", "-o", "csv"])
      assert.include(columns.stderr, words)
      const many = Array.from({ length: 11 }, (_, i) => `absent${i} = 'x'`).join(" OR ")
      const looked = yield* run(["contacts", "list", "--rule", many])
      assert.strictEqual(looked.stderr.match(/no contact has/g)?.length, 11)
      // A rule that names fields of the record or of somebody far behind is not questioned.
      for (const rule of ["status = Active", "colour = 'red'", "PLAN = 'pro'"]) {
        assert.notInclude((yield* run(["contacts", "list", "--rule", rule])).stderr, "no contact has", rule)
      }
      const stopped = yield* run(["contacts", "delete", "--rule", "plann != 'pro'", "--yes", "--confirm", "1203"])
      assert.deepStrictEqual([stopped.code, failure(stopped).code], [2, "UsageError"])
      assert.include(failure(stopped).message, words)
      assert.strictEqual(emails(yield* run(["contacts", "list", "--all"])).length, 1203)
      // Whoever means it can say so.
      const meant = yield* run(["contacts", "delete", "--raw-rule", "plann = 'pro'", "--yes"])
      assert.strictEqual(meant.code, 0, meant.stderr)
      assert.include(reportOf(meant), { command: "delete", read: 0, deleted: 0 })
    })
  )
})

describe("roster lists", () => {
  it.live("show who is on them, and take contacts off", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      const { run } = roster
      yield* arrange(roster, 620, ["--list", "News", "--list", "Empty soon"])
      yield* run(["contacts", "add", "off@example.com"])
      const misspelt = yield* run(["contacts", "add", "last@example.com", "--list", "Nwes", "--list", "zoo"])
      assert.strictEqual(misspelt.code, 2)
      assert.match(failure(misspelt).message, /no list "Nwes"; did you mean "?News"?\?, there is no list "zoo"\.$/)
      yield* run(["contacts", "add", "last@example.com", "--list", "Zoo", "--create-list"])
      assert.deepStrictEqual(json(yield* run(["lists", "list"])), [
        { Name: "Empty soon", Contacts: 620 },
        { Name: "News", Contacts: 620 },
        { Name: "Zoo", Contacts: 1 }
      ])
      const table = yield* run(["lists", "ls", "-o", "table"])
      assert.match(table.stdout, /^Name +Contacts\nEmpty soon +620\n/)

      const on = ["contacts", "list", "--on", "News"]
      const some = yield* run(on)
      assert.strictEqual(emails(some).length, 20)
      assert.include(some.stderr, "20 contacts, and there are more; --all lists them")
      const all = emails(yield* run([...on, "--all"]))
      assert.deepStrictEqual([all.length, all[0], all.at(-1)], [620, "c0@example.com", "c619@example.com"])
      assert.strictEqual(emails(yield* run([...on, "--all", "--rule", "plan = 'pro'"])).length, 62)
      assert.deepStrictEqual(emails(yield* run([...on, "--offset", "618", "--limit", "5"])), all.slice(618))

      const named = ["lists", "remove", "News", "C0@example.com", "c1@example.com", "off@example.com"]
      const dry = yield* run([...named, "--dry-run"])
      assert.strictEqual(dry.code, 0)
      assert.deepInclude(json(dry), { dryRun: true, changed: 2, alreadySo: 1, notThere: 0 })
      const declined = yield* run(named)
      assert.deepStrictEqual([declined.code, failure(declined).code], [3, "Declined"])
      const removed = yield* run([...named, "--yes"])
      assert.include(reportOf(removed), { command: "lists remove", read: 3, changed: 2, alreadySo: 1 })
      assert.deepStrictEqual(emails(yield* run([...on, "--all"])), all.slice(2))
      assert.strictEqual((yield* run(["contacts", "get", "c0@example.com"])).code, 0)
      assert.strictEqual(emails(yield* run(["contacts", "list", "--on", "Empty soon", "--all"])).length, 620)
      // Names ignore letter case.
      const some3 = ["c0@example.com", "c2@example.com", "nobody@example.com"]
      const back = yield* run(["lists", "add", "NEWS", ...some3, "--yes"])
      assert.include(reportOf(back), { command: "lists add", changed: 1, alreadySo: 1, notThere: 1 })
      const ofRule = ["lists", "remove", "news", "--rule", "email starts-with 'c0@' OR email = 'off@example.com'"]
      assert.deepInclude(json(yield* run([...ofRule, "--dry-run"])), { dryRun: true, read: 2, changed: 1 })
      assert.include(reportOf(yield* run([...ofRule, "--yes"])), { changed: 1, alreadySo: 1 })
      const sizes = (news: number) => [
        { Name: "Empty soon", Contacts: 620 },
        { Name: "News", Contacts: news },
        { Name: "Zoo", Contacts: 1 }
      ]
      assert.deepStrictEqual(json(yield* run(["lists", "list"])), sizes(618))
      // The last of them is taken back, and then its undo.
      for (const news of [619, 618]) {
        assert.strictEqual((yield* run(["contacts", "undo", "last", "--yes"])).code, 0)
        assert.deepStrictEqual(json(yield* run(["lists", "list"])), sizes(news))
      }
      // One contact by its address is not asked about, and its run too can be undone.
      const one = yield* run(["lists", "add", "News", "off@example.com"])
      assert.match(one.stderr, /To undo it: roster contacts undo \S+/)
      assert.strictEqual((yield* run(["contacts", "undo", "last", "--yes"])).code, 0)
      assert.deepStrictEqual(json(yield* run(["lists", "list"])), sizes(618))
      assert.include(reportOf(yield* run(["lists", "add", "News", "c5@example.com"])), { changed: 0, alreadySo: 1 })
      const gone = ["lists", "remove", "News", "c1@example.com", "off@example.com"]
      for (const args of [
        [...gone, "--yes"],
        [...gone, "--dry-run"]
      ]) {
        const none = yield* run(args)
        assert.deepStrictEqual([none.code, failure(none).code], [5, "NotOnList"])
      }
      for (const args of [
        ["contacts", "list", "--on", "None"],
        ["lists", "remove", "None", "c1@example.com"]
      ]) {
        const none = yield* run(args)
        assert.deepStrictEqual([none.code, failure(none).code], [5, "ListNotFound"])
      }
      // A list itself is made, renamed, and deleted with everybody on it kept, who are on it again by the undo.
      const near = yield* run(["lists", "create", "Zoos"])
      assert.deepStrictEqual([near.code, failure(near).code], [3, "Declined"])
      for (const args of ["create Zoos --new-field", "rename zoos Party", "delete Party --yes"]) {
        const changed = yield* run(["lists", ...args.split(" ")])
        assert.strictEqual(changed.code, 0, changed.stderr)
      }
      const asked = yield* run(["lists", "delete", "News"])
      assert.include(failure(asked).message, "delete the list News: 618 contacts on it stay")
      const deleted = yield* run(["lists", "delete", "zoo", "--yes"])
      assert.include(deleted.stderr, "To undo it: roster contacts undo")
      assert.deepStrictEqual(json(yield* run(["lists", "list"])), sizes(618).slice(0, 2))
      assert.strictEqual((yield* run(["contacts", "undo", "last", "--yes"])).code, 0)
      assert.deepStrictEqual(json(yield* run(["lists", "list"])), sizes(618))
    })
  )

  it.live("say of a rule whom it leaves out, and need a word before they are changed", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const people = ["12", "7", "many"].map((orders, index) => `c${index}@example.com,${orders}\n`)
      yield* run(["contacts", "import", "-"], { input: `Email,orders\n${people.join("")}` })
      const byRule = ["lists", "add", "News", "--rule", "orders > 10", "--create-list"]
      const dry = yield* run([...byRule, "--dry-run"])
      assert.deepInclude(json(dry), {
        changed: 1,
        unplaced: { contacts: 1, field: "orders", example: "many", kind: "number" }
      })
      const declined = yield* run([...byRule, "--yes", "--confirm", "1"])
      assert.deepStrictEqual([declined.code, failure(declined).code], [3, "Declined"])
      assert.include(failure(declined).hint, "--allow-unplaced")
      const done = yield* run([...byRule, "--yes", "--allow-unplaced"])
      assert.strictEqual(done.code, 0, done.stderr)
      assert.include(done.stderr, '"orders" is "many"')
      assert.deepStrictEqual(emails(yield* run(["contacts", "list", "--on", "News"])), ["c0@example.com"])
    })
  )

  it.live("of a service of ours are read, changed and changed back as those of a store", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* serveWithKey(folder)
      yield* run(["contacts", "add", "ann@example.com", "--list", "News"], { env })
      yield* run(["contacts", "add", "bob@example.com"], { env })
      const misspelt = yield* run(["contacts", "add", "bob@example.com", "--list", "Nwes"], { env })
      assert.strictEqual(misspelt.code, 2)
      assert.match(failure(misspelt).message, /no list "Nwes"; did you mean "?News"?\?/)
      const put = yield* run(["lists", "add", "NEWS", "bob@example.com"], { env })
      assert.include(reportOf(put), { command: "lists add", changed: 1 })
      assert.include(reportOf(yield* run(["lists", "add", "News", "bob@example.com"], { env })), { alreadySo: 1 })
      assert.deepStrictEqual(json(yield* run(["lists", "list"], { env })), [{ Name: "News", Contacts: 2 }])
      const on = ["contacts", "list", "--on", "news", "--all"]
      assert.deepStrictEqual(emails(yield* run(on, { env })), ["ann@example.com", "bob@example.com"])
      const file = yield* run(["contacts", "export", "--on", "News", "--rule", "email starts-with 'bob'"], { env })
      assert.include(file.stdout, "bob@example.com")
      assert.notInclude(file.stdout, "ann@example.com")
      const undone = yield* run(["contacts", "undo", "last", "--yes"], { env })
      assert.strictEqual(undone.code, 0, undone.stderr)
      assert.deepStrictEqual(emails(yield* run(on, { env })), ["ann@example.com"])
      const others = yield* run(["contacts", "export", "--rule", "not-on-list 'news'", "--columns", "Email"], { env })
      assert.deepStrictEqual(others.stdout.split(/\r?\n/), ["Email", "bob@example.com", ""])
      const both = ["contacts", "export", "--on", "News", "--rule", "on-list 'News' AND email starts-with 'ann'"]
      const onBoth = yield* run([...both, "--columns", "Email"], { env })
      assert.deepStrictEqual(onBoth.stdout.split(/\r?\n/), ["Email", "ann@example.com", ""])
      const off = yield* run(["lists", "remove", "News", "bob@example.com"], { env })
      assert.deepStrictEqual([off.code, failure(off).code], [5, "NotOnList"])
      const none = yield* run(["lists", "remove", "None", "bob@example.com"], { env })
      assert.deepStrictEqual([none.code, failure(none).code], [5, "ListNotFound"])
    })
  )

  it.live("of another service are read and changed by its own operations, which cannot be undone", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const others = yield* fakeService(({ method = "", url = "" }, response) => {
        const isChange = /\/contacts\/changes/.test(url)
        response.writeHead(isChange ? 404 : 200, { "Content-Type": "application/json" })
        response.end(
          isChange
            ? '{"Error":"none"}'
            : /\/lists(?:\?|$)/.test(url)
              ? '[{"ListName":"News"}]'
              : method === "GET" && /\/contacts(?:\?|$)/.test(url)
                ? "[]"
                : '{"Email":"ann@example.com","ListName":"News"}'
        )
      })
      const { env } = others
      assert.deepStrictEqual(json(yield* run(["lists", "list"], { env })), [{ Name: "News" }])
      const dry = yield* run(["lists", "add", "News", "ann@example.com", "bob@example.com", "--dry-run"], { env })
      assert.strictEqual(dry.code, 0, dry.stderr)
      const declined = yield* run(["lists", "add", "News", "ann@example.com", "bob@example.com"], { env })
      assert.deepStrictEqual([declined.code, failure(declined).code], [3, "Declined"])
      const writes = () => others.requests.filter((request) => !/^GET |\/contacts\/(?:changes|lookup)/.test(request))
      assert.deepStrictEqual(writes(), [])
      for (const verb of ["add", "remove"]) {
        const done = yield* run(["lists", verb, "News", "ann@example.com"], { env })
        assert.strictEqual(done.code, 0, done.stderr)
      }
      assert.deepStrictEqual(
        writes().map((request) => request.split("?")[0]),
        ["POST /v4/lists/News/contacts", "POST /v4/lists/News/contacts/remove"]
      )
    })
  )
})
