/**
 * Plans of imports, their application, and runs that are undone: on a store file and over HTTP, which give the same.
 * All commands are in this process, where they start in no time; golden.test.ts tries each as what is published.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { reportOf } from "../report.ts"
import { type Ended, failure, filesIn, json, jsonOf, type Roster } from "../roster.ts"
import { serveWithKey } from "../service.ts"

const done = (end: Ended, code = 0): Ended => {
  assert.strictEqual(end.code, code, end.stderr)
  return end
}

const onStore = ({ folder, run }: Roster) => ({ folder, run, place: join(folder, "store.db") })

const onService = Effect.fnUntraced(function* ({ folder, run }: Roster) {
  const { env } = yield* serveWithKey(folder)
  const reach: Roster["run"] = (args, options) => run(args, { ...options, env: { ...env, ...options?.env } })
  return { folder, run: reach, place: join(folder, "served.db") }
})

const local = Effect.map(makeLocalRosterHere, onStore)
const remote = Effect.flatMap(makeRosterHere, onService)

type Where = Effect.Success<typeof local>

/** Ann, Bob, who unsubscribed, and Cid, with dates that only they have. */
const people = Effect.fnUntraced(function* ({ folder, place, run }: Where) {
  const file = join(folder, "people.csv")
  writeFileSync(
    file,
    "Email,FirstName,Status,city\nann@x.org,Ann,,Rome\nbob@x.org,Bob,Unsubscribed,Oslo\ncid@x.org,Cid,,Lima\n"
  )
  done(yield* run(["contacts", "import", file, "--no-record"]))
  using database = new DatabaseSync(place, { timeout: 5000 })
  database.exec("UPDATE contacts SET date_added = 1000000000, date_updated = 1100000000, source = 'WebForm'")
  const changed = join(folder, "changed.csv")
  writeFileSync(
    changed,
    "Email,FirstName,Status,city\nann@x.org,Anna,,Rome\nbob@x.org,Rob,Active,Oslo\ncid@x.org,Cid,,Lima\ndea@x.org,Dea,,Bern\nno address,,,\n"
  )
  return changed
})

/** What a change compares of all contacts, and their lists. An undo does not set dates and the like. */
const content = (place: string) => {
  using database = new DatabaseSync(place, { readOnly: true })
  return {
    contacts: database
      .prepare("SELECT id, email, status, first_name, last_name, custom_fields FROM contacts ORDER BY id")
      .all(),
    members: database
      .prepare("SELECT contact_id, name FROM list_members JOIN lists ON lists.id = list_id ORDER BY contact_id, name")
      .all()
  }
}

const fieldOf = (place: string, email: string, column: string): unknown => {
  using database = new DatabaseSync(place, { readOnly: true })
  return database.prepare(`SELECT ${column} AS found FROM contacts WHERE identity = ?`).get(email)?.["found"]
}

const lastRun = Effect.fnUntraced(function* ({ run }: Where) {
  const [last] = jsonOf<ReadonlyArray<{ readonly id: string; readonly command: string }>>(
    done(yield* run(["contacts", "runs", "-o", "json"]))
  )
  assert.isDefined(last)
  return last ?? { id: "", command: "" }
})

/** The same where the contacts that came back have other ids, and are the last ones. */
const withoutIds = ({ contacts, members }: ReturnType<typeof content>) => ({
  contacts: contacts.map((contact) => JSON.stringify({ ...contact, id: 0 })).toSorted(),
  members
})

/** The records of an import and a delete as version 1 wrote them, the newest first: made with the commit before 6169adea. */
const formerRecords = (date: string) =>
  [
    [
      "20261126T035449998Z-1a39",
      "delete",
      {
        _tag: "Changes",
        deleted: [
          {
            Id: 2,
            Email: "bob@x.org",
            Status: "Unsubscribed",
            FirstName: "Bob",
            "CustomFields.city": "Oslo",
            Source: "ContactApi",
            DateAdded: date,
            "Activity.TotalSent": 0,
            "Activity.TotalOpened": 0,
            "Activity.TotalClicked": 0,
            "Activity.TotalFailed": 0
          }
        ]
      },
      { _tag: "Ended", created: 0, changed: 0, deleted: 1 }
    ],
    [
      "20261126T035448847Z-bef2",
      "import",
      {
        _tag: "Changes",
        created: [
          ["dea@x.org", "6izp4m10uq4xm"],
          ["eve@x.org", "n19xlv0wx5gkq"]
        ],
        changed: [
          {
            email: "ann@x.org",
            fields: { FirstName: ["Ann", "Anna"], DateUpdated: [null, date], "Lists.New": [null, ""] },
            after: "9hu5za0i11pvg",
            id: 1
          },
          {
            email: "cid@x.org",
            fields: { DateUpdated: [null, date], "Lists.New": [null, ""] },
            after: "1tbwuxv084xkwj",
            id: 3
          }
        ]
      },
      { _tag: "Ended", created: 2, changed: 2, deleted: 0 }
    ]
  ] as const

const places = [
  { name: "on a store file", open: local },
  { name: "over HTTP", open: remote }
] as const

describe.each(places)("a plan $name", ({ open }) => {
  it.live("says what would change, and its application changes just that", () =>
    Effect.gen(function* () {
      const where = yield* open
      const { folder, place, run } = where
      const file = yield* people(where)
      const before = content(place)
      const plan = join(folder, "plan.json")
      const planned = done(yield* run(["contacts", "import", file, "--plan", plan]))
      assert.deepInclude(json(planned), {
        plan,
        read: 5,
        new: 1,
        changed: 2,
        alreadySo: 1,
        rejected: 1,
        duplicates: 0,
        toSend: 4,
        statusesKept: 1,
        keptStatuses: [{ line: 3, email: "bob@x.org", status: "Unsubscribed" }],
        fields: { FirstName: 2 },
        sample: [
          { line: 2, email: "ann@x.org", changes: { FirstName: ["Ann", "Anna"] } },
          { line: 3, email: "bob@x.org", changes: { FirstName: ["Bob", "Rob"] } }
        ]
      })
      assert.strictEqual(statSync(plan).mode & 0o777, 0o600)
      assert.deepStrictEqual(content(place), before)
      // Any tool reads it.
      assert.strictEqual(Object(JSON.parse(readFileSync(plan, "utf8"))).rows.length, 3)

      const dry = done(yield* run(["contacts", "apply", plan, "--dry-run"]))
      assert.deepInclude(json(dry), { new: 1, changed: 2, statusesKept: 1, newRecipients: { people: 1, added: 1 } })
      const applied = done(yield* run(["contacts", "apply", plan]))
      assert.deepInclude(reportOf(applied), {
        command: "apply",
        file: plan,
        read: 3,
        done: 3,
        new: 1,
        changed: 2,
        alreadySo: 0,
        outdated: 0,
        notSent: 0,
        statusesKept: 1,
        keptStatuses: [{ line: 3, status: "Unsubscribed", email: "bob@x.org" }],
        newRecipients: { people: 1, added: 1 }
      })
      const rows = jsonOf<ReadonlyArray<{ Email: string; FirstName: string; Status: string }>>(
        done(yield* run(["contacts", "list", "-o", "json"]))
      )
      assert.deepStrictEqual(
        rows.map(({ Email, FirstName, Status }) => [Email, FirstName, Status]),
        [
          ["ann@x.org", "Anna", "Active"],
          ["bob@x.org", "Rob", "Unsubscribed"],
          ["cid@x.org", "Cid", "Active"],
          ["dea@x.org", "Dea", "Active"]
        ]
      )
      assert.strictEqual(fieldOf(place, "cid@x.org", "date_updated"), 1_100_000_000)
      // A second time there is nothing to do, and no date moves.
      const after = content(place)
      const again = done(yield* run(["contacts", "apply", plan]))
      assert.deepInclude(json(again), { new: 0, changed: 0, alreadySo: 3 })
      assert.notInclude(again.stderr, "undo")
      assert.deepStrictEqual(content(place), after)
    })
  )

  it.live("is applied with custom fields of any name", () =>
    Effect.gen(function* () {
      const { folder, place, run } = yield* open
      // JSON.parse takes the last of these names for the one before, if they come one after the other.
      const file = join(folder, "people.csv")
      writeFileSync(file, 'Email,x,5\\,"5"""\nann@x.org,1,2,\nbob@x.org,1,,3\n')
      const plan = join(folder, "plan.json")
      done(yield* run(["contacts", "import", file, "--plan", plan]))
      done(yield* run(["contacts", "apply", plan]))
      assert.strictEqual(fieldOf(place, "ann@x.org", "custom_fields"), '{"x":"1","5\\\\":"2"}')
      assert.strictEqual(fieldOf(place, "bob@x.org", "custom_fields"), '{"x":"1","5\\"":"3"}')
    })
  )

  it.live("is refused if a contact changed meanwhile, or applied to the others", () =>
    Effect.gen(function* () {
      const where = yield* open
      const { folder, place, run } = where
      const plan = join(folder, "plan.json")
      done(yield* run(["contacts", "import", yield* people(where), "--plan", plan]))
      done(yield* run(["contacts", "update", "ann@x.org", "--last-name", "Lee"]))
      const before = content(place)
      const refused = done(yield* run(["contacts", "apply", plan]), 6)
      assert.strictEqual(failure(refused).code, "PlanOutdated")
      const outdated = { outdated: 1, outdatedContacts: [{ line: 2, email: "ann@x.org" }] }
      const shown = done(yield* run(["contacts", "apply", plan, "--skip-changed", "--dry-run"]), 9)
      assert.deepInclude(json(shown), { dryRun: true, new: 1, changed: 2, ...outdated })
      assert.deepStrictEqual(content(place), before)
      const rest = done(yield* run(["contacts", "apply", plan, "--skip-changed"]), 9)
      assert.deepInclude(json(rest), {
        new: 1,
        changed: 1,
        ...outdated
      })
      assert.strictEqual(fieldOf(place, "ann@x.org", "first_name"), "Ann")
    })
  )
})

describe("a plan", () => {
  it.live("that is cut short or changed is refused", () =>
    Effect.gen(function* () {
      const where = yield* local
      const { folder, run } = where
      const plan = join(folder, "plan.json")
      done(yield* run(["contacts", "import", yield* people(where), "--plan", plan]))
      const lines = readFileSync(plan, "utf8").split("\n")
      for (const damaged of [lines.slice(0, 2), lines.toSpliced(2, 1), ["{}"], [""], [...lines, "{}"]]) {
        writeFileSync(plan, damaged.join("\n"))
        assert.strictEqual(failure(done(yield* run(["contacts", "apply", plan]), 2)).code, "UnreadablePlan")
      }
      done(yield* run(["contacts", "apply", join(folder, "none.json")]), 2)
      // A store that is not there cannot be the one, and is not made.
      const elsewhere = yield* makeRosterHere
      const mistyped = ["contacts", "apply", plan, "--db", "frends.db"]
      assert.strictEqual(failure(done(yield* elsewhere.run(mistyped), 5)).code, "NoStore")
      assert.deepStrictEqual(filesIn(elsewhere.folder), [])
    })
  )

  it.live("--dry-run shows the same counts without a file, and an existing file is kept", () =>
    Effect.gen(function* () {
      const where = yield* local
      const { folder, run } = where
      const file = yield* people(where)
      assert.deepInclude(json(done(yield* run(["contacts", "import", file, "--dry-run"]), 9)), {
        dryRun: true,
        new: 1,
        changed: 2,
        alreadySo: 1,
        rejected: 1
      })
      done(yield* run(["contacts", "import", file, "--plan", file]), 2)
      done(yield* run(["contacts", "import", file, "--plan", "-"]), 2)
      const table = done(yield* run(["contacts", "import", file, "--dry-run", "-o", "table"]), 9).stdout
      assert.include(table, 'line 2: ann@x.org: FirstName "Ann" -> "Anna"')
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.includes("plan")),
        []
      )
    })
  )

  it.live("with lists sends those who are not on them yet", () =>
    Effect.gen(function* () {
      const where = yield* local
      const file = yield* people(where)
      const { run } = where
      const planned = ["contacts", "import", file, "--list", "News", "--dry-run"]
      assert.deepInclude(json(done(yield* run(planned), 9)), { new: 1, changed: 3, alreadySo: 0, lists: ["News"] })
      done(yield* run(["contacts", "import", file, "--list", "News", "-q"]), 9)
      assert.deepInclude(json(done(yield* run(planned), 9)), { new: 0, alreadySo: 4 })
    })
  )
})

describe.each(places)("an undo $name", ({ open }) => {
  it.live("brings back what an import changed", () =>
    Effect.gen(function* () {
      const where = yield* open
      const { place, run } = where
      const file = yield* people(where)
      const before = content(place)
      const imported = done(yield* run(["contacts", "import", file, "--list", "News"]), 9)
      const { id } = yield* lastRun(where)
      assert.deepInclude(reportOf(imported), { run: id, new: 1, done: 4 })
      assert.include(imported.stderr, `roster contacts undo ${id}`)
      const shown = done(yield* run(["contacts", "undo", id, "--dry-run"]))
      assert.deepInclude(reportOf(shown), { dryRun: true, deleted: 1, changed: 3 })
      const undone = done(yield* run(["contacts", "undo", id, "--yes"]))
      assert.deepInclude(reportOf(undone), { undoes: id, deleted: 1, changed: 3, outdated: 0 })
      assert.deepStrictEqual(content(place), before)
      // Undoing the undo imports again.
      const { command, id: second } = yield* lastRun(where)
      assert.strictEqual(command, "undo")
      done(yield* run(["contacts", "undo", second, "--yes"]))
      assert.strictEqual(fieldOf(place, "ann@x.org", "first_name"), "Anna")
      assert.strictEqual(fieldOf(place, "dea@x.org", "first_name"), "Dea")
    })
  )

  it.live("leaves what others changed since, and says so", () =>
    Effect.gen(function* () {
      const where = yield* open
      const { place, run } = where
      done(yield* run(["contacts", "import", yield* people(where)]), 9)
      const { id } = yield* lastRun(where)
      done(yield* run(["contacts", "update", "ann@x.org", "--first-name", "Annie"]))
      done(yield* run(["contacts", "update", "dea@x.org", "--field", "city=Bonn"]))
      const shown = done(yield* run(["contacts", "undo", id, "--dry-run"]), 9)
      assert.include(failure(shown).message, "would leave some")
      assert.deepInclude(json(shown), { deleted: 0, outdated: 1, changed: 2, stripped: 1 })
      const undone = done(yield* run(["contacts", "undo", id, "--yes"]), 9)
      assert.deepInclude(reportOf(undone), {
        deleted: 0,
        outdated: 1,
        stripped: 1,
        outdatedContacts: [
          {
            email: "dea@x.org",
            step: "Strip",
            since: "Changed",
            fields: [
              { field: "Status", before: "NotConfirmed", byRun: "Active", now: "Active", isKept: false },
              { field: "FirstName", before: null, byRun: "Dea", now: "Dea", isKept: false }
            ]
          },
          {
            email: "ann@x.org",
            step: "Keep",
            since: "Changed",
            fields: [{ field: "FirstName", before: "Ann", byRun: "Anna", now: "Annie", isKept: true }]
          }
        ]
      })
      const inWords = done(yield* run(["contacts", "undo", id, "--dry-run", "-o", "table"]), 9).stdout
      assert.include(inWords, "  dea@x.org  changed since\n")
      assert.include(inWords, "    FirstName: before: Ann; by the run: Anna; now: Annie\n")
      assert.strictEqual(fieldOf(place, "ann@x.org", "first_name"), "Annie")
      assert.strictEqual(fieldOf(place, "bob@x.org", "first_name"), "Bob")
      assert.strictEqual(fieldOf(place, "dea@x.org", "custom_fields"), '{"city":"Bonn"}')
      assert.strictEqual(fieldOf(place, "dea@x.org", "status"), "NotConfirmed")
      const part = ["--only", "firstname = 'Annie'", "--field", "firstname", "--force"]
      assert.deepInclude(json(done(yield* run(["contacts", "undo", id, "--yes", ...part]))), { changed: 1, deleted: 0 })
      assert.strictEqual(fieldOf(place, "ann@x.org", "first_name"), "Ann")
      assert.strictEqual(fieldOf(place, "dea@x.org", "custom_fields"), '{"city":"Bonn"}')
    })
  )

  it.live("brings back what a delete, an update and an import of an export changed", () =>
    Effect.gen(function* () {
      const where = yield* open
      const { folder, place, run } = where
      yield* people(where)
      const backup = join(folder, "backup.json")
      done(yield* run(["contacts", "export", "--format", "json", "--out", backup]))
      const check = Effect.fnUntraced(function* (command: string, changed: ReadonlyArray<string>) {
        const last = yield* lastRun(where)
        assert.strictEqual(last.command, command)
        done(yield* run(["contacts", "undo", last.id, "--yes"]))
        const rows = jsonOf<ReadonlyArray<{ Email: string; FirstName: string; Status: string }>>(
          done(yield* run(["contacts", "list", "-o", "json"]))
        )
        // Those that were deleted are the last ones now.
        assert.deepStrictEqual(
          rows.map(({ Email, FirstName, Status }) => `${Email} ${FirstName} ${Status}`).toSorted(),
          ["ann@x.org Ann Active", "bob@x.org Bob Unsubscribed", "cid@x.org Cid Active"],
          changed.join()
        )
      })
      done(yield* run(["contacts", "delete", "ann@x.org", "bob@x.org", "--yes"]))
      yield* check("delete", ["ann", "bob"])
      done(yield* run(["contacts", "delete", "--rule", "status = Unsubscribed", "--yes"]))
      yield* check("delete", ["bob"])
      done(yield* run(["contacts", "update", "cid@x.org", "--first-name", "Cyd", "--field", "plan=pro"]))
      yield* check("update", ["cid"])
      done(yield* run(["contacts", "update", "cid@x.org", "--first-name", "Cyd"]))
      done(yield* run(["contacts", "import", backup]))
      const { command, id } = yield* lastRun(where)
      assert.strictEqual(command, "import")
      assert.strictEqual(fieldOf(place, "cid@x.org", "first_name"), "Cid")
      done(yield* run(["contacts", "undo", id, "--yes"]))
      assert.strictEqual(fieldOf(place, "cid@x.org", "first_name"), "Cyd")
    })
  )
})

describe("a run", () => {
  it.live("that changed nothing is not the last one to undo, and one of lists is", () =>
    Effect.gen(function* () {
      const where = yield* local
      const { folder, run } = where
      const file = join(folder, "same.csv")
      const undoLast = Effect.fnUntraced(function* () {
        return json(done(yield* run(["contacts", "undo", "last", "--dry-run"])))
      })
      done(yield* run(["contacts", "undo", "last"]), 5)
      writeFileSync(file, "Email\nann@x.org\n")
      done(yield* run(["contacts", "import", file]))
      const { id } = yield* lastRun(where)
      done(yield* run(["contacts", "import", file]))
      assert.deepInclude(yield* undoLast(), { undoes: id, deleted: 1 })
      done(yield* run(["contacts", "import", file, "--list", "News"]))
      const { id: listed } = yield* lastRun(where)
      assert.notStrictEqual(listed, id)
      done(yield* run(["contacts", "import", file]))
      assert.deepInclude(yield* undoLast(), { undoes: listed, deleted: 0 })
    })
  )

  it.live("is recorded in the store, listed, and kept for 30 days", () =>
    Effect.gen(function* () {
      const where = yield* local
      const { folder, run } = where
      done(yield* run(["contacts", "import", yield* people(where)]), 9)
      const { id } = yield* lastRun(where)
      const table = done(yield* run(["contacts", "runs", "-o", "table"])).stdout
      assert.match(table, new RegExp(`^Run .*Target\\n${id} +import +.*/changed.csv +finished .* 1 new, 2 changed `))
      const [listed] = jsonOf<ReadonlyArray<object>>(done(yield* run(["contacts", "runs"])))
      assert.deepInclude(listed, { about: join(folder, "changed.csv"), state: "Finished" })
      const changes = jsonOf<ReadonlyArray<object>>(done(yield* run(["contacts", "runs", id])))
      assert.deepInclude(changes, {
        email: "ann@x.org",
        effect: "Changed",
        isMade: true,
        fields: [{ field: "FirstName", before: "Ann", byRun: "Anna" }]
      })
      const shown = done(yield* run(["contacts", "runs", id, "-o", "table"])).stdout
      assert.match(shown, /^ann@x.org +changed +FirstName: Ann -> Anna$/m)
      done(yield* run(["contacts", "update", "ann@x.org", "--first-name", "A"]))
      const inDays = (days: number) => {
        using database = new DatabaseSync(where.place, { timeout: 5000 })
        database.prepare("UPDATE runs SET goes = goes - ? WHERE id = ?").run(days * 24 * 60 * 60, id)
      }
      const ids = Effect.map(run(["contacts", "runs"]), (end) =>
        jsonOf<ReadonlyArray<{ readonly id: string }>>(done(end)).map((one) => one.id)
      )
      inDays(29)
      assert.include(yield* ids, id)
      inDays(2)
      assert.notInclude(yield* ids, id)
      done(yield* run(["contacts", "update", "ann@x.org", "--first-name", "B"]))
      // No file of this user has anything of it.
      assert.isFalse(existsSync(join(folder, ".local/state/roster/runs")))
      done(yield* run(["contacts", "update", "--rule", "FirstName = 'B'", "--last-name", "Q", "--yes"]))
      done(yield* run(["contacts", "delete", "ann@x.org", "bob@x.org", "--yes"]))
      const listing = jsonOf<ReadonlyArray<{ command: string; about: string }>>(done(yield* run(["contacts", "runs"])))
      assert.deepStrictEqual(
        listing.slice(0, 3).map(({ about, command }) => [command, about]),
        [
          ["delete", "2 contacts"],
          ["update", "firstname = '…'"],
          ["update", undefined]
        ]
      )
    })
  )

  it.live("is not undone on another store, without consent, or by a wrong id", () =>
    Effect.gen(function* () {
      const where = yield* local
      const { folder, place, run } = where
      done(yield* run(["contacts", "import", yield* people(where)]), 9)
      const { id } = yield* lastRun(where)
      const before = content(place)
      done(yield* run(["contacts", "undo", id]), 3)
      done(yield* run(["contacts", "undo", id, "--yes", "--confirm", "7"]), 3)
      done(yield* run(["contacts", "undo", "../x", "--yes"]), 5)
      const { run: elsewhere } = yield* makeRosterHere
      const on = ["--db", join(folder, "other.db")]
      done(yield* elsewhere(["contacts", "add", "ann@x.org", ...on]))
      const other = yield* elsewhere(["contacts", "undo", id, "--yes", ...on], { env: { HOME: folder } })
      assert.include(failure(done(other, 5)).message, "There is no run")
      assert.deepStrictEqual(content(place), before)
    })
  )

  it.live(
    "and a plan are those of a store that has moved and is served, and not of another store at its old path",
    () =>
      Effect.gen(function* () {
        const anywhere = yield* makeRosterHere
        const { folder } = anywhere
        const place = join(folder, "store.db")
        const run: Roster["run"] = (args) => anywhere.run([...args, "--db", place])
        const where = { folder, place, run }
        const file = yield* people(where)
        const before = content(place)
        const plan = join(folder, "plan.json")
        done(yield* run(["contacts", "import", file, "--plan", plan]))
        done(yield* run(["contacts", "import", file]), 9)
        const { id } = yield* lastRun(where)
        // A database that is closed has no other files.
        const moved = join(folder, "served.db")
        renameSync(place, moved)
        done(yield* run(["contacts", "add", "new@x.org"]))
        assert.strictEqual(
          failure(done(yield* run(["contacts", "undo", id, "--yes"]), 5)).message,
          `There is no run ${id}.`
        )
        assert.strictEqual(
          failure(done(yield* run(["contacts", "apply", plan]), 2)).message,
          `It is for another store or account than that at [local] ${place} now.`
        )
        const served = yield* onService(anywhere)
        const listed = jsonOf<ReadonlyArray<{ id: string }>>(done(yield* served.run(["contacts", "runs"])))
        assert.strictEqual(listed[0]?.id, id)
        done(yield* served.run(["contacts", "undo", "last", "--yes"]))
        assert.deepStrictEqual(content(moved), before)
        done(yield* served.run(["contacts", "apply", plan]))
        assert.strictEqual(fieldOf(moved, "dea@x.org", "first_name"), "Dea")
      })
  )

  it.live("that the version before recorded is listed and undone", () =>
    Effect.gen(function* () {
      const where = yield* local
      const { folder, place, run } = where
      const file = yield* people(where)
      const before = content(place)
      const began = new Date().toISOString()
      writeFileSync(
        file,
        "Email,FirstName,city\nann@x.org,Anna,Rome\ncid@x.org,Cid,Lima\ndea@x.org,Dea,\neve@x.org,Eve,\n"
      )
      done(yield* run(["contacts", "import", file, "--list", "New", "--no-record"]))
      // Others have changed one of the new contacts.
      done(yield* run(["contacts", "update", "eve@x.org", "--first-name", "Theirs"]))
      done(yield* run(["contacts", "delete", "bob@x.org", "--yes"]))
      const runs = join(folder, ".local/state/roster/runs")
      mkdirSync(runs, { recursive: true, mode: 0o700 })
      const target = `[local] ${place}`
      for (const [id, command, ...entries] of formerRecords(began)) {
        const first = { run: "roster contacts", version: 1, header: { id, command, target, began } }
        const lines = [first, ...entries].map((line) => `${JSON.stringify(line)}\n`)
        writeFileSync(join(runs, `${id}.jsonl`), lines.join(""), { mode: 0o600 })
      }
      const [deleted, imported] = formerRecords(began).map(([id]) => id)
      const over = { ended: true, state: "Finished" }
      const listed = jsonOf<ReadonlyArray<{ readonly began: string }>>(done(yield* run(["contacts", "runs"])))
      assert.deepStrictEqual<unknown>(
        listed.filter((one) => one.began === began),
        [
          { id: deleted, command: "delete", began, ...over, created: 0, changed: 0, deleted: 1, target },
          { id: imported, command: "import", began, ...over, created: 2, changed: 2, deleted: 0, target }
        ]
      )
      const brought = done(yield* run(["contacts", "undo", String(deleted), "--yes"]))
      assert.deepInclude(json(brought), { new: 1, changed: 0, deleted: 0, outdated: 0 })
      const undone = done(yield* run(["contacts", "undo", String(imported), "--yes"]), 9)
      assert.deepInclude(json(undone), {
        new: 0,
        changed: 2,
        deleted: 1,
        outdatedContacts: [{ email: "eve@x.org", step: "Keep", since: "Changed", fields: [] }]
      })
      assert.strictEqual(fieldOf(place, "eve@x.org", "first_name"), "Theirs")
      done(yield* run(["contacts", "delete", "eve@x.org", "--yes"]))
      assert.deepStrictEqual(withoutIds(content(place)), withoutIds(before))
    })
  )

  it.live("of --no-record is not recorded, and one of a dry run neither", () =>
    Effect.gen(function* () {
      const where = yield* local
      const { run } = where
      const file = yield* people(where)
      done(yield* run(["contacts", "import", file, "--no-record"]), 9)
      done(yield* run(["contacts", "update", "ann@x.org", "--first-name", "A", "--dry-run"]))
      done(yield* run(["contacts", "delete", "ann@x.org", "--dry-run"]))
      assert.deepStrictEqual(json(done(yield* run(["contacts", "runs", "-o", "json"]))), [])
    })
  )

  it.live("by a key that may not read contacts works, and one that may undoes it", () =>
    Effect.gen(function* () {
      const where = yield* remote
      const { folder, run } = where
      const key = join(folder, "writer.key")
      done(yield* run(["apikeys", "create", "writer", "--access", "ModifyContacts", "--out", key]))
      const file = yield* people(where)
      const env = { ROSTER_API_KEY: readFileSync(key, "utf8").trim() }
      const imported = done(yield* run(["contacts", "import", file], { env }), 9)
      assert.match(imported.stderr, /cannot be planned[^]*To undo it: /)
      assert.deepInclude(json(imported), { done: 4, new: 0, changed: 0, alreadySo: 0, unknownWhetherNew: 4 })
      const { id } = yield* lastRun(where)
      assert.deepInclude(json(done(yield* run(["contacts", "undo", "last", "--dry-run"]))), {
        undoes: id,
        changed: 2,
        deleted: 1,
        unknownChanges: []
      })
    })
  )
})
