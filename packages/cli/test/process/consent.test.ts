/** A file that is older than the wish to get no more mail. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf, makeLocalRoster, type Roster } from "../roster.ts"
import { fakeService } from "../service.ts"

const file = "Email,FirstName,Status\nann@example.com,Ann,Active\nbob@example.com,Bob,Active\n"

interface Counts {
  readonly done: number
  readonly statusesKept?: number
  readonly keptStatuses?: unknown
}

interface SeenJob {
  readonly id: string
  readonly state: string
  readonly accepted: number
  readonly statusesKept: number
}

const stored = Effect.fnUntraced(function* (roster: Roster) {
  const { Status: status, FirstName: name } = jsonOf<{ readonly Status: string; readonly FirstName?: string }>(
    yield* roster.run(["contacts", "get", "ann@example.com"])
  )
  return [status, name]
})

/** A store in which Ann has unsubscribed since the file was written. */
const afterUnsubscribing = Effect.fnUntraced(function* (roster: Roster) {
  writeFileSync(join(roster.folder, "monday.csv"), file)
  yield* roster.run(["contacts", "add", "ann@example.com", "--status", "Unsubscribed"])
  return roster
})

describe("an import of somebody who has unsubscribed", () => {
  it.live("keeps the status, says so, and lets them be resubscribed by --resubscribe", () =>
    Effect.gen(function* () {
      const roster = yield* afterUnsubscribing(yield* makeLocalRosterHere)
      const imported = yield* roster.run(["contacts", "import", "monday.csv"])
      assert.strictEqual(imported.code, 0, imported.stderr)
      assert.deepInclude(jsonOf<Counts>(imported), {
        done: 2,
        statusesKept: 1,
        keptStatuses: [{ line: 2, email: "ann@example.com", status: "Unsubscribed" }]
      })
      assert.deepStrictEqual(yield* stored(roster), ["Unsubscribed", "Ann"])
      const words = yield* roster.run(["contacts", "import", "monday.csv", "-o", "table"])
      assert.include(
        words.stdout,
        "1 row that is done has a status that its contact did not get, since it has a stricter one or has confirmed; " +
          "--resubscribe lifts all but Abuse:"
      )
      assert.include(words.stdout, "line 2: ann@example.com stays Unsubscribed")
      /** The number of kept statuses, and Ann's, after an import. */
      const after = Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
        const told = yield* roster.run(["contacts", "import", "monday.csv", ...flags])
        return [jsonOf<Counts>(told).statusesKept, (yield* stored(roster))[0]]
      })
      assert.deepStrictEqual(yield* after("--resubscribe", "Bounced,NotConfirmed"), [1, "Unsubscribed"])
      assert.deepStrictEqual(yield* after("--resubscribe=Unsubscribed"), [0, "Active"])
      yield* roster.run(["contacts", "add", "ann@example.com", "--status", "Unsubscribed"])
      assert.deepStrictEqual(yield* after("--resubscribe"), [0, "Active"])
      yield* roster.run(["contacts", "add", "ann@example.com", "--status", "Abuse"])
      assert.deepStrictEqual(yield* after("--resubscribe"), [1, "Abuse"])
      assert.deepStrictEqual(yield* after("--resubscribe", "Abuse"), [0, "Active"])
      // A word behind it that is a file is the file.
      assert.strictEqual((yield* roster.run(["contacts", "import", "--resubscribe", "monday.csv"])).code, 0)
      for (const words of [
        ["contacts", "import", "monday.csv", "--resubscribe=Stale"],
        ["contacts", "import", "--resubscribe", "Foo", "monday.csv"],
        ["contacts", "update", "ann@example.com", "--status", "Active", "--resubscribe", "Foo"],
        ["contacts", "undo", "last", "--resubscribe", "Bounced,unsubcribed"]
      ]) {
        const wrong = yield* roster.run(words)
        assert.strictEqual(wrong.code, 2, words.join(" "))
        const { message } = failure(wrong)
        assert.match(message, /resubscribe: "(?:Stale|Foo|unsubcribed)" is no status that it lifts/)
        assert.include(message, "names of Abuse, Unsubscribed, Bounced, NotConfirmed")
        if (words.includes("undo")) assert.include(message, 'did you mean "Unsubscribed"?')
      }
    })
  )

  it.live("says in an undo how many it gives mail to, and asks before", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRoster
      const left = "Email,Status\nann@example.com,Unsubscribed\nbob@example.com,Unsubscribed\n"
      writeFileSync(join(roster.folder, "left.csv"), left)
      yield* roster.run(["contacts", "add", "ann@example.com"])
      yield* roster.run(["contacts", "import", "left.csv"])
      const undo = ["contacts", "undo", "last"]
      const unasked = yield* roster.run(undo)
      assert.strictEqual(unasked.code, 3)
      assert.include(unasked.stderr, "1 person will receive mail who did not before, 0 of them new.")
      assert.include(unasked.stderr, "which changes 2 contacts and gives mail to 1 of them who get none now")
      const undone = yield* roster.run([...undo, "--yes"])
      assert.deepInclude(jsonOf<object>(undone), { changed: 1, deleted: 1, newRecipients: { people: 1, added: 0 } })
      assert.strictEqual((yield* stored(roster))[0], "Active")
    })
  )

  it.live("counts in an undo those of whom nobody can tell whether they left since", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      writeFileSync(join(roster.folder, "left.csv"), "Email,Status\nann@example.com,Unsubscribed\n")
      yield* roster.run(["contacts", "add", "ann@example.com"])
      yield* roster.run(["contacts", "import", "left.csv", "--no-record"])
      // As an earlier version recorded it here, killed between the write and its note.
      const run = "20261121T140000123Z-1a2b"
      const target = `[local] ${join(roster.folder, "store.db")}`
      const began = "2026-11-21T14:00:00.123Z"
      const fields = { Status: ["Active", "Unsubscribed"] }
      const lines = [
        { run: "roster", version: 2, header: { id: run, command: "import", target, began } },
        { _tag: "Changes", changed: [{ email: "ann@example.com", fields, after: "digest" }] },
        { _tag: "Ended", created: 0, changed: 1, deleted: 0 }
      ]
      const records = join(roster.folder, ".local/state/roster/runs")
      mkdirSync(records, { recursive: true, mode: 0o700 })
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
      writeFileSync(join(records, `${run}.jsonl`), text, { mode: 0o600 })
      const undone = yield* roster.run(["contacts", "undo", run, "--dry-run"])
      assert.strictEqual(undone.code, 9)
      assert.deepInclude(jsonOf<object>(undone), { untold: 1, changed: 0, newRecipients: { people: 0, added: 0 } })
    })
  )

  it.live("--via file does the same, and the job lists the lines", () =>
    Effect.gen(function* () {
      // The job is that of a process, whose next ones look at it.
      const roster = yield* afterUnsubscribing(yield* makeLocalRoster)
      const importAll = Effect.fnUntraced(function* (count: number, ...args: ReadonlyArray<string>) {
        yield* roster.run(["contacts", "import", "monday.csv", "--via", "file", ...args])
        // The import may end before its job does, which then goes on in the next process that opens the store.
        const look = Effect.andThen(roster.run(["contacts", "list"]), roster.run(["jobs", "list"]))
        const jobs = yield* Effect.map(look, jsonOf<ReadonlyArray<SeenJob>>).pipe(
          Effect.repeat({
            schedule: Schedule.spaced("10 millis"),
            until: (seen) => seen.length === count && seen[0]?.state === "Ready"
          }),
          Effect.timeout("2 minutes")
        )
        return jobs[0]
      })
      const job = yield* importAll(1)
      assert.deepInclude(job, { accepted: 2, statusesKept: 1 })
      assert.deepStrictEqual(yield* stored(roster), ["Unsubscribed", "Ann"])
      const kept = yield* roster.run(["jobs", "get", job?.id ?? "", "--kept"])
      assert.deepStrictEqual(json(kept), [{ line: 2, status: "Unsubscribed" }])
      const both = yield* roster.run(["jobs", "get", job?.id ?? "", "--kept", "--rejected", "-"])
      assert.strictEqual(both.code, 2)
      assert.deepInclude(yield* importAll(2, "--resubscribe"), { accepted: 2, statusesKept: 0 })
      assert.deepStrictEqual(yield* stored(roster), ["Active", "Ann"])
    })
  )

  it.live("an import of an older export keeps the status as well", () =>
    Effect.gen(function* () {
      const roster = yield* makeLocalRosterHere
      yield* roster.run(["contacts", "add", "ann@example.com", "--first-name", "Ann"])
      yield* roster.run(["contacts", "export", "--format", "json", "--out", "backup.json"])
      yield* roster.run(["contacts", "add", "ann@example.com", "--status", "Unsubscribed"])
      const restored = yield* roster.run(["contacts", "import", "backup.json"])
      assert.strictEqual(restored.code, 0, restored.stderr)
      assert.deepInclude(json(restored), {
        done: 1,
        statusesKept: 1,
        keptStatuses: [{ line: 1, email: "ann@example.com", status: "Unsubscribed" }]
      })
      assert.deepStrictEqual(yield* stored(roster), ["Unsubscribed", "Ann"])
      yield* roster.run(["contacts", "import", "backup.json", "--resubscribe"])
      assert.deepStrictEqual(yield* stored(roster), ["Active", "Ann"])
    })
  )

  it.live("a service that does not announce the guard is asked for each contact, and not for its import", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      writeFileSync(join(folder, "monday.csv"), file)
      const bodies: Array<string> = []
      const { env, requests } = yield* fakeService((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const email = request.method === "GET" ? /contacts\/([^/?]+)/.exec(request.url ?? "")?.[1] : undefined
          const contact = { Email: decodeURIComponent(email ?? ""), Status: "Unsubscribed" }
          const isKnown = contact.Email === "ann@example.com"
          if (request.method === "POST") bodies.push(Buffer.concat(chunks).toString())
          response.writeHead(email === undefined || isKnown ? 200 : 404, { "Content-Type": "application/json" })
          response.end(JSON.stringify(email === undefined ? [] : isKnown ? contact : { Error: "no such contact" }))
        })
      })
      const imported = yield* run(["contacts", "import", "monday.csv", "--no-record"], { env })
      assert.strictEqual(imported.code, 0, imported.stderr)
      assert.deepInclude(jsonOf<Counts>(imported), {
        done: 2,
        statusesKept: 1,
        keptStatuses: [{ line: 2, email: "ann@example.com", status: "Unsubscribed" }]
      })
      assert.deepStrictEqual(
        bodies.map((body) => JSON.parse(body)),
        [
          [
            { Email: "ann@example.com", FirstName: "Ann" },
            { Email: "bob@example.com", FirstName: "Bob", Status: "Active" }
          ]
        ]
      )
      const before = requests.length
      const over = yield* run(["contacts", "import", "monday.csv", "--via", "file"], { env })
      assert.strictEqual(over.code, 2, over.stderr)
      assert.include(failure(over).message, "does not say that its import keeps the status")
      assert.isFalse(requests.slice(before).some((request) => request.startsWith("POST")))
      const told = yield* run(["contacts", "import", "monday.csv", "--via", "file", "--resubscribe"], { env })
      assert.strictEqual(told.code, 0, told.stderr)
    })
  )
})

/** The words of the command that an error shows, as a shell would hand them over; the test names the store itself. */
const shownCommand = (hint: string): ReadonlyArray<string> =>
  Array.from(
    (/roster (.*)/.exec(hint)?.[1] ?? "").matchAll(/'((?:[^'])*)'|"([^"]*)"|(\S+)/g),
    (match) => match[1] ?? match[2] ?? match[3] ?? ""
  )

describe("a column that says who wants mail", () => {
  it.live.each<readonly [what: string, file: string, said: ReadonlyArray<readonly [email: string, status: string]>]>([
    [
      "of a shop",
      "Customer ID,FirstName,LastName,Email,Accepts Email Marketing,Phone,Total Spent,Tags\n" +
        '1001,Ann,Lee,ann@example.com,no,+49170000001,0.00,"vip, wholesale"\n1002,Bob,Ray,bob@example.com,yes,,5.00,\n',
      [
        ["ann@example.com", "Unsubscribed"],
        ["bob@example.com", "Active"]
      ]
    ],
    [
      "of members",
      "id,email,name,note,subscribed_to_emails,complimentary_plan,created_at,labels\n" +
        'a1,ann@example.com,Ann Lee,,false,false,2024-01-02T03:04:05.000Z,"press, north"\n',
      [["ann@example.com", "Unsubscribed"]]
    ],
    [
      "beside others",
      "Email,Status,opt: in,unsubscribed at,Vorname\nann@example.com,Active,yes,2024-01-02 03:04,Ann\n" +
        "bob@example.com,Bounced,no,,Bob\neve@example.com,Active,yes,,Eve\n",
      [
        ["ann@example.com", "Unsubscribed"],
        ["bob@example.com", "Unsubscribed"],
        ["eve@example.com", "Active"]
      ]
    ]
  ])("%s is refused until the command that the error shows maps it", ([_what, content, said]) =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "a.csv"), content)
      for (const more of [[], ["--dry-run"], ["--via", "file"]]) {
        const refused = yield* run(["contacts", "import", "a.csv", ...more])
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""], refused.stderr)
        assert.include(failure(refused).message, "says who wants mail")
      }
      const { hint = "" } = failure(yield* run(["contacts", "import", "a.csv"]))
      const words = shownCommand(hint)
      const store = words.indexOf("--db")
      const done = yield* run(store < 0 ? words : words.toSpliced(store, 2))
      assert.strictEqual(done.code, 0, done.stderr)
      const contacts = jsonOf<ReadonlyArray<{ readonly Email: string; readonly Status: string }>>(
        yield* run(["contacts", "list"])
      )
      assert.deepStrictEqual(
        contacts.map(({ Email, Status }) => [Email, Status] as const),
        [...said]
      )
    })
  )

  it.live("is kept as a field where a mapping says so, which is said once", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRoster
      writeFileSync(join(folder, "a.csv"), "Email,opt_in\nann@example.com,no\n")
      const kept = yield* run(["contacts", "import", "a.csv", "--map", "opt_in=opt_in", "--save-mapping", "a.json"])
      assert.strictEqual(kept.code, 0, kept.stderr)
      const [ann] = jsonOf<ReadonlyArray<unknown>>(yield* run(["contacts", "list"]))
      assert.deepInclude(ann, { Status: "Active", CustomFields: { opt_in: "no" } })
      for (const more of [["--dry-run"], ["--via", "file"]]) {
        const again = yield* run(["contacts", "import", "a.csv", "--mapping", "a.json", ...more])
        assert.strictEqual(again.code, 0, again.stderr)
      }
      // The service imports it as a field, and its job says so.
      const [job] = yield* run(["jobs", "list"]).pipe(
        Effect.map(jsonOf<ReadonlyArray<{ readonly state: string; readonly problem: string | null }>>),
        Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: ([job]) => job?.state !== "Loading" }),
        Effect.timeout("2 minutes")
      )
      assert.strictEqual(job?.state, "Ready")
      assert.match(job?.problem ?? "", /"opt_in".*who wants mail/)
      // An export has the statuses themselves.
      yield* run(["contacts", "export", "--out", "b.csv"])
      const same = yield* run(["contacts", "import", "b.csv"])
      assert.strictEqual(same.code, 0, same.stderr)
      assert.deepInclude(json(same), { done: 1, alreadySo: 1 })
    })
  )
})
