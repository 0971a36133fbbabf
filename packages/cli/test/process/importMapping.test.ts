import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { makeLocalRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf, makeLocalRoster, temporaryFolder } from "../roster.ts"

/** Waits for what `--via file` has handed over. */
const settled = (run: (args: ReadonlyArray<string>) => Effect.Effect<{ readonly stdout: string }>) =>
  run(["jobs", "list"]).pipe(
    Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: ({ stdout }) => !stdout.includes('"Loading"') }),
    Effect.timeout("2 minutes")
  )

/** Imports a file, and gives the result with what is stored then. */
const importing = Effect.fnUntraced(function* (file: string | Uint8Array, ...flags: ReadonlyArray<string>) {
  // The job of one process goes on in the next, so it needs processes.
  const { folder, run } = yield* flags.includes("file") ? makeLocalRoster : makeLocalRosterHere
  writeFileSync(join(folder, "a.csv"), file)
  const done = yield* run(["contacts", "import", "a.csv", ...flags])
  yield* settled(run)
  const listed = yield* run(["contacts", "list"])
  // A file that is refused makes no store.
  const stored: unknown = listed.code === 5 ? [] : json(listed)
  return { done, folder, run, stored: stored as ReadonlyArray<Record<string, unknown>> }
})

describe("a file that was cut off", () => {
  it.live("is refused with fewer rows than are asked for, and its headings alone are no success without a word", () =>
    Effect.gen(function* () {
      const few = yield* importing("Email\nann@example.com\nnobody\n", "--min-rows", "3")
      assert.deepStrictEqual([few.done.code, few.done.stdout, few.stored], [2, "", []])
      assert.deepInclude(failure(few.done), { code: "TooFewRows" })
      assert.include(failure(few.done).message, "2 rows")
      const enough = yield* few.run(["contacts", "import", "a.csv", "--min-rows", "2"])
      assert.strictEqual(enough.code, 9, enough.stderr)
      writeFileSync(join(few.folder, "a.csv"), "Email,FirstName\r\n")
      const empty = yield* few.run(["contacts", "import", "a.csv"])
      assert.strictEqual(empty.code, 0, empty.stderr)
      assert.deepInclude(Object(json(empty))["warnings"], {
        code: "NoRows",
        warning: "it has no rows",
        count: 0,
        examples: []
      })
      const planned = yield* few.run(["contacts", "import", "a.csv", "--dry-run", "-o", "table"])
      assert.include(planned.stdout, "warning: the file: it has no rows; --min-rows refuses such a file")
      for (const flags of [["--fail-on-warning"], ["--min-rows", "1"]]) {
        assert.strictEqual((yield* few.run(["contacts", "import", "a.csv", ...flags])).code, 2)
      }
    })
  )
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
      const named = yield* importing(file, "--map", "#2=city")
      assert.strictEqual(named.done.code, 0, named.done.stderr)
      assert.deepInclude(named.stored[1], { Email: "ann@example.com", CustomFields: { city: "x" } })
      const leftOut = yield* importing(file, "--map", "#2=")
      assert.strictEqual(leftOut.done.code, 0, leftOut.done.stderr)
      assert.deepEqual(leftOut.stored[1]?.["CustomFields"] ?? {}, {})
      // The service reads the file itself.
      const over = yield* importing(file, "--map", "#2=city", "--via", "file")
      assert.deepStrictEqual([over.done.code, over.stored], [2, []])
      assert.include(failure(over.done).message, "its mapping has more than an encoding")
    })
  )

  it.live("reads dates and texts in another form, and leaves out what the mode says", () =>
    Effect.gen(function* () {
      const file = "Email,FirstName,ConsentDate\nann@example.com, Ann ,14.3.2024\n"
      const dates = join(yield* temporaryFolder, "dates.json")
      writeFileSync(dates, '{"dateFormat":"DD.MM.YYYY"}')
      const clears = join(yield* temporaryFolder, "clears.json")
      writeFileSync(clears, '{"empty":"clear"}')
      const trimmed = yield* importing(file, "--trim", "--mapping", dates)
      assert.strictEqual(trimmed.done.code, 0, trimmed.done.stderr)
      assert.deepInclude(trimmed.stored[0], { FirstName: "Ann", Consent: { ConsentDate: "2024-03-14T00:00:00Z" } })
      const { done, folder, run, stored } = yield* importing(file, "--mapping", dates, "--only", "existing")
      assert.deepInclude(json(done), { read: 1, done: 0, leftOut: 1, notSent: 0 })
      assert.deepStrictEqual([done.code, stored], [0, []])
      writeFileSync(join(folder, "b.csv"), "Email,FirstName\nbob@example.com,Bob\n")
      yield* run(["contacts", "import", "b.csv", "--only", "new", "--default-status", "Inactive"])
      writeFileSync(join(folder, "b.csv"), "Email,FirstName\nbob@example.com,\n")
      assert.strictEqual((yield* run(["contacts", "import", "b.csv", "--mapping", clears, "--via", "file"])).code, 2)
      const planned = json(yield* run(["contacts", "import", "b.csv", "--mapping", clears, "--dry-run"]))
      assert.deepInclude(planned, { changed: 1, fields: { FirstName: 1 } })
      assert.strictEqual((yield* run(["contacts", "import", "b.csv", "--mapping", clears])).code, 0)
      const [bob] = json(yield* run(["contacts", "list"])) as ReadonlyArray<Record<string, unknown>>
      assert.deepInclude(bob, { Status: "Inactive" })
      assert.notProperty(bob, "FirstName")
    })
  )

  it.live("gives all rows a value, and says whom the status of new contacts does not reach", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "left.csv"), "Email,UNSUB_REASON\nann@example.com,too many mails\n")
      yield* run(["contacts", "add", "ann@example.com"])
      for (const more of [["--dry-run"], []]) {
        const flags = ["--default-status", "Unsubscribed", ...more]
        const missed = yield* run(["contacts", "import", "left.csv", ...flags])
        const { warnings } = jsonOf<{
          readonly warnings: ReadonlyArray<{ readonly code: string; readonly count: number }>
        }>(missed)
        assert.deepStrictEqual([warnings.length, warnings[0]?.code, warnings[0]?.count], [1, "DefaultStatus", 1])
      }
      assert.deepInclude(json(yield* run(["contacts", "get", "ann@example.com"])), { Status: "Active" })
      const set = yield* run(["contacts", "import", "left.csv", "--set", "Status=Unsubscribed"])
      assert.strictEqual(set.code, 0, set.stderr)
      assert.deepInclude(json(yield* run(["contacts", "get", "ann@example.com"])), { Status: "Unsubscribed" })
      const over = yield* run(["contacts", "import", "left.csv", "--set", "Status=Unsubscribed", "--via", "file"])
      assert.strictEqual(over.code, 2)
      const wrong = yield* run(["contacts", "import", "left.csv", "--set", "Status=gone"])
      assert.include(failure(wrong).message, '"gone" is no Status')
    })
  )

  it.live("stores dates and numbers as rules compare them, by kinds that a warning proposes", () =>
    Effect.gen(function* () {
      const file =
        "Email;Kunde seit;Umsatz (EUR)\nann@example.com;25.07.2022;1.234,56 €\nbob@example.com;01.02.2024;12,50-\n" +
        "eve@example.com;02.03.2024;0,99 €\n"
      const plain = yield* importing(file, "-o", "table")
      assert.include(plain.done.stdout, "--kind 'Kunde seit=date:DD.MM.YYYY' stores them as such")
      const kinds = ["--kind", "Kunde seit=date:DD.MM.YYYY", "--kind", "Umsatz (EUR)=number:1.234,56"]
      const { done, folder, run } = yield* importing(file, ...kinds, "--save-mapping", "kinds.json")
      assert.strictEqual(done.code, 0, done.stderr)
      const matched = Effect.fnUntraced(function* (rule: string) {
        const listed = jsonOf<ReadonlyArray<{ readonly Email: string }>>(
          yield* run(["contacts", "list", "--rule", rule])
        )
        return listed.map(({ Email }) => Email.slice(0, 3))
      })
      assert.deepStrictEqual(yield* matched("'Kunde seit' > '2024-01-01'"), ["bob", "eve"])
      assert.deepStrictEqual(yield* matched("'Umsatz (EUR)' < 1"), ["bob", "eve"])
      assert.deepStrictEqual(yield* matched("'Umsatz (EUR)' > 1000"), ["ann"])
      writeFileSync(join(folder, "b.csv"), "Email;Kunde seit;Umsatz (EUR)\nann@example.com;31.02.2024;1\n")
      const rejected = yield* run(["contacts", "import", "b.csv", "--mapping", "kinds.json", "--dry-run"])
      assert.strictEqual(rejected.code, 9)
      assert.deepInclude(jsonOf<{ readonly rejectedRows: ReadonlyArray<object> }>(rejected).rejectedRows[0], {
        line: 2,
        column: "Kunde seit",
        value: "31.02.2024"
      })
    })
  )

  it.live("reads instants as databases print them", () =>
    Effect.gen(function* () {
      const { done, stored } = yield* importing(
        "Email,ConsentDate,ConsentTracking\nann@example.com,2024-01-02 03:04:05+00,Allow\n" +
          "bob@example.com,2024-01-02 03:04:05.123456+01,Allow\n"
      )
      assert.strictEqual(done.code, 0, done.stderr)
      assert.deepStrictEqual(
        stored.map(({ Consent }) => Consent),
        ["2024-01-02T03:04:05Z", "2024-01-02T02:04:05Z"].map((date) => ({
          ConsentDate: date,
          ConsentTracking: "Allow"
        }))
      )
    })
  )

  it.live("warns of what is odd in rows that it takes, or sends nothing if it may not warn", () =>
    Effect.gen(function* () {
      const file = "Email,Status,city\nann@localhost,Active, Bonn\nbob@example.com,Active,MÃ¼nchen\n"
      const codes = ["Blanks", "Domain", "Decoding"]
      const warned = (output: unknown) =>
        (output as { readonly warnings?: ReadonlyArray<{ readonly code: string }> }).warnings?.map(({ code }) => code)
      for (const via of ["batches", "file"]) {
        const { done, folder, run } = yield* importing(file, "--via", via)
        assert.deepStrictEqual([done.code, warned(json(done))], [0, codes], done.stderr)
        const preview = yield* run(["contacts", "import", "a.csv", "--dry-run", "--via", via, "-o", "table"])
        assert.strictEqual(preview.code, 0, preview.stderr)
        assert.include(preview.stdout, 'warning: column "city" (1 row): blanks around the text are kept; --trim')
        assert.include(preview.stdout, 'line 2: " Bonn"')
        for (const more of [[], ["--dry-run"]]) {
          const refused = yield* run(["contacts", "import", "a.csv", "--via", via, "--fail-on-warning", ...more])
          assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
          assert.include(failure(refused).message, "would warn 3 times")
        }
        writeFileSync(join(folder, "a.csv"), "Email,city\neve@example.com, Bonn\nbob@example.com, Bonn\n")
        const words = ["contacts", "import", "a.csv", "--fail-on-warning", "--trim"]
        if (via === "file") continue
        assert.match(failure(yield* run(words)).message, /warning: 1 row: .* a new contact becomes Active/)
        const other = yield* makeLocalRosterHere
        copyFileSync(join(folder, "a.csv"), join(other.folder, "a.csv"))
        assert.match(failure(yield* other.run(words)).message, /warning: 2 rows: .* a new contact becomes Active/)
        assert.strictEqual((yield* run([...words, "--default-status", "Active"])).code, 0)
        // All of them exist now.
        assert.strictEqual((yield* run(words)).code, 0)
        assert.strictEqual((yield* run([...words, "--only", "existing"])).code, 0)
      }
    })
  )

  it.live("says which row of an address is imported, writes the others to a file, and takes another one if asked", () =>
    Effect.gen(function* () {
      const file = "Email,city\nann@example.com,Bonn\nbob@example.com,Rom\nAnn@example.com,Köln\n"
      const { done, folder, run, stored } = yield* importing(file, "--duplicates", "twice.csv")
      assert.deepInclude(json(done), { done: 2, duplicates: 1, duplicateRows: [{ line: 2, winner: 4 }] })
      assert.deepInclude(stored[1], { CustomFields: { city: "Köln" } })
      const twice = readFileSync(join(folder, "twice.csv"), "utf8")
      assert.strictEqual(twice, "\ufeffLine,WinnerLine,Email,city\r\n2,4,ann@example.com,Bonn\r\n")
      const again = (...flags: ReadonlyArray<string>) => run(["contacts", "import", "a.csv", ...flags])
      const taken = yield* again("--duplicates", "twice.csv")
      assert.deepStrictEqual([taken.code, taken.stdout], [2, ""])
      const preview = yield* again("--on-duplicate", "first", "--dry-run", "-o", "table")
      assert.include(preview.stdout, "line 2: merged into line 4, which has the same address")
      const rejected = yield* again("--on-duplicate", "reject")
      assert.strictEqual(rejected.code, 9)
      assert.deepInclude(json(rejected), {
        done: 1,
        rejected: 2,
        duplicates: 0,
        rejectedFile: "a.csv.rejected.csv"
      })
      assert.include(failure(rejected).hint, "--on-duplicate reject")
      assert.include(readFileSync(join(folder, "a.csv.rejected.csv"), "utf8"), "Email: line 4 has the same address")
      for (const flags of [
        ["--on-duplicate", "first"],
        ["--duplicates", "b.csv"]
      ]) {
        const refused = yield* again("--via", "file", ...flags)
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
        assert.include(failure(refused).message, "--via file")
      }
    })
  )

  it.live("proposes fields for headings of another language, and shows in a dry run what becomes of them", () =>
    Effect.gen(function* () {
      const file = "E-Mail-Adresse;Vorname;Ort\nann@example.com;Ann;Bonn\n"
      const { done, folder, run, stored } = yield* importing(file)
      assert.deepStrictEqual([done.code, done.stdout, stored], [2, "", []])
      assert.include(failure(done).hint, "--map E-Mail-Adresse=Email --map Vorname=FirstName\n")
      assert.include(failure(done).hint, "--map Vorname=Vorname")
      const maps = ["--map", "E-Mail-Adresse=Email", "--map", "Vorname=Vorname"]
      const preview = yield* run(["contacts", "import", "a.csv", ...maps, "--dry-run", "-o", "table"])
      for (const words of ["E-Mail-Adresse -> Email", "Vorname -> CustomFields.Vorname", 'CustomFields.Ort "Bonn"']) {
        assert.include(preview.stdout, words)
      }
      assert.strictEqual((yield* run(["contacts", "import", "a.csv", ...maps])).code, 0)
      // An exported file has the field besides, so its columns are what they are named.
      assert.strictEqual((yield* run(["contacts", "export", "--out", "b.csv"])).code, 0)
      assert.strictEqual((yield* run(["contacts", "import", "b.csv"])).code, 0, folder)
    })
  )

  it.live("takes other words for a status, which a row is rejected for without", () =>
    Effect.gen(function* () {
      const file = "Email,Status\nann@example.com,subscribed\nbob@example.com,active\ncem@example.com,cleaned\n"
      const plain = yield* importing(file)
      assert.strictEqual(plain.done.code, 9)
      assert.include(plain.done.stdout, "--map-value 'Status:subscribed=VALUE'")
      assert.include(plain.done.stdout, "Unsubscribed, Abuse, Inactive, Stale or NotConfirmed")
      const words = ["--map-value", "status:Subscribed=active", "--map-value", "Status:cleaned=Bounced"]
      const { done, stored } = yield* importing(file, ...words)
      assert.strictEqual(done.code, 0, done.stderr)
      assert.deepStrictEqual(
        stored.map(({ Status }) => Status),
        ["Active", "Active", "Bounced"]
      )
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
      yield* run(["contacts", "import", "a.csv", "--map-value", "Status:on=Active"])
      assert.deepInclude(json(yield* run(["contacts", "get", "ann@example.com"])), { Status: "Unsubscribed" })
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

  it.live("takes JSON and NDJSON as it prints and exports them, and gzip", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRoster
      const first = 'Email,FirstName,Phone\nann@example.com,Ann,+49 30\nbob@example.com,"B, ""B""",\n'
      writeFileSync(join(folder, "a.csv"), first)
      yield* run(["contacts", "import", "a.csv"])
      const listed = yield* run(["contacts", "list", "-o", "ndjson"])
      yield* run(["contacts", "export", "--format", "json", "--out", "b.json"])
      writeFileSync(join(folder, "b.ndjson"), listed.stdout)
      writeFileSync(join(folder, "c.ndjson.gz"), gzipSync(listed.stdout))
      writeFileSync(join(folder, "d.csv.gz"), gzipSync(first))
      for (const file of ["b.json", "b.ndjson", "c.ndjson.gz", "d.csv.gz"]) {
        const same = yield* run(["contacts", "import", file])
        assert.deepInclude(json(same), { read: 2, done: 2, alreadySo: 2 }, same.stderr)
        const over = yield* run(["contacts", "import", file, "--via", "file"])
        assert.strictEqual(over.code, file === "d.csv.gz" ? 0 : 2, over.stderr)
      }
    })
  )

  it.live("writes the rejected objects of JSON to a file that can be corrected", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "a.json"), '[{"Email":"nobody","city":"Bonn"},{"Email":"ann@example.com"}]')
      const done = yield* run(["contacts", "import", "a.json"])
      assert.deepInclude(json(done), { done: 1, rejected: 1, rejectedFile: "a.json.rejected.ndjson" })
      const rejected = join(folder, "a.json.rejected.ndjson")
      const text = readFileSync(rejected, "utf8")
      assert.deepInclude(JSON.parse(text), { Email: "nobody", city: "Bonn" })
      writeFileSync(rejected, text.replace("nobody", "bob@example.com"))
      assert.deepInclude(json(yield* run(["contacts", "import", "a.json.rejected.ndjson"])), {
        done: 1,
        rejected: 0
      })
    })
  )

  it.live("says what a file is, and how it would be read", () =>
    Effect.gen(function* () {
      const vcard = yield* importing("BEGIN:VCARD\nVERSION:3.0\nEMAIL:ann@example.com\nEND:VCARD\n")
      assert.deepStrictEqual([vcard.done.code, vcard.done.stdout], [2, ""])
      assert.include(failure(vcard.done).message, "vCards")
      const broken = yield* importing(Buffer.from("PK\x03\x04 no more"))
      assert.strictEqual(broken.done.code, 2, broken.done.stderr)
      const french = Buffer.from("Email,FirstName\nann@example.com,Zo\xeb\n", "latin1")
      const asked = yield* importing(french)
      assert.include(failure(asked.done).message, "Zoë")
      assert.include(failure(asked.done).hint, "--encoding windows-1252")
      const read = yield* importing(french, "--encoding", "windows-1252")
      assert.deepInclude(read.stored[0], { FirstName: "Zoë" })
    })
  )

  it.live("is kept in a file, and the rejected rows come with theirs: the command shown imports them", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const head = "Mail;Vorname;Stand"
      writeFileSync(join(folder, "kunden.csv"), Buffer.from(`${head}\nann@x.org;J\u00f6rg;ja\nbob;Bob;ja\n`, "latin1"))
      const flags = ["--map", "Mail=Email", "--map", "Vorname=FirstName", "--map", "Stand=Status"]
      const words = ["--map-value", "Status:ja=Engaged", "--encoding", "windows-1252", "--list", "News"]
      const imported = yield* run(["contacts", "import", "kunden.csv", ...flags, ...words, "--save-mapping", "m.json"])
      assert.strictEqual(imported.code, 9, imported.stderr)
      const [, shown = ""] = failure(imported).hint.split("\n  roster ")
      assert.notInclude(shown, "\n")
      const rejected = join(folder, "kunden.csv.rejected.csv")
      writeFileSync(rejected, readFileSync(rejected, "utf8").replace("bob;", "bob@x.org;"))
      const corrected = yield* run(shown.replace(/ --db .*$/, "").split(" "))
      assert.strictEqual(corrected.code, 0, corrected.stderr)
      const bob = json(yield* run(["contacts", "get", "bob@x.org"]))
      assert.deepInclude(bob, { FirstName: "Bob", Status: "Engaged" })
      const again = yield* run(["contacts", "import", "kunden.csv", "--mapping", "m.json", "--dry-run"])
      assert.deepInclude(json(again), { read: 2, alreadySo: 1, rejected: 1 }, again.stderr)
      const few = ["contacts", "import", "kunden.csv", "--mapping", "m.json", "--max-rejected", "50%"]
      for (const command of [few, [...few, "--dry-run"]]) assert.strictEqual((yield* run(command)).code, 0)
      for (const more of [[], ["--dry-run"]]) {
        const beyond = yield* run([...few.slice(0, -1), "49%", ...more])
        assert.strictEqual(beyond.code, 9, beyond.stderr)
        assert.match(failure(beyond).message, /\. --max-rejected allows 49%\.$/)
      }
      for (const text of ['{"colums":{}}', "no JSON", '{"columns":{"a":"DateAdded"}}']) {
        writeFileSync(join(folder, "m.json"), text)
        const refused = yield* run(["contacts", "import", "kunden.csv", "--mapping", "m.json"])
        assert.strictEqual(refused.code, 2, text)
        assert.include(failure(refused).message, "m.json is no mapping", text)
      }
    })
  )
})
