import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf } from "../roster.ts"
import { serveWithKey } from "../service.ts"

interface SeenJob {
  readonly id: string
  readonly kind: string
  readonly state: string
  readonly running: boolean
  readonly rowsDone: number
  readonly accepted: number
  readonly rejected: number
  readonly duplicates: number
}

/** An import of so many is still running when three commands have ended beside it. */
const rows = 250_000

const people = (count: number) =>
  `Email,FirstName\n${Array.from({ length: count }, (_, row) => `p${row}@example.com,P${row}`).join("\n")}\n`

/** Hands a file to the import of a service that is reached by its environment. */
const send = (env: Readonly<Record<string, string>>, text: string) =>
  Effect.promise(async () => {
    const body = new FormData()
    body.append("file", new Blob([text]), "people.csv")
    const { status } = await fetch(`${env["ROSTER_BASE_URL"]}/contacts/import`, {
      method: "POST",
      headers: { "X-Service-ApiKey": env["ROSTER_API_KEY"] ?? "" },
      body
    })
    assert.strictEqual(status, 202)
  })

const until = <A, E>(look: Effect.Effect<A, E>, holds: (seen: A) => boolean) =>
  look.pipe(Effect.repeat({ schedule: Schedule.spaced("1 millis"), until: holds }), Effect.timeout("2 minutes"))

describe("roster jobs", () => {
  it.live("shows and cancels, while it is worked on by a service, what that service imports", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* serveWithKey(folder)
      const jobs = (...args: ReadonlyArray<string>) => run(["jobs", ...args, "--db", "served.db"])
      assert.strictEqual((yield* jobs("list")).stdout, "[]\n")
      yield* send(env, people(rows))
      const seen = yield* until(
        Effect.map(jobs("list"), jsonOf<ReadonlyArray<SeenJob>>),
        ([job]) => job?.running === true
      )
      const id = seen[0]?.id ?? ""
      assert.deepInclude(seen[0], { kind: "Import", state: "Loading", running: true })

      const asked = yield* jobs("cancel", id)
      assert.deepStrictEqual([asked.code, failure(asked).code], [3, "Declined"])
      assert.include(failure(asked).message, "contacts that were already imported stay")
      const cancelled = yield* jobs("cancel", id, "--yes")
      assert.strictEqual(cancelled.code, 0, cancelled.stderr)
      const { rowsDone, ...rest } = jsonOf<SeenJob>(cancelled)
      assert.deepInclude(rest, { id, state: "Cancelled", running: false })
      assert.isBelow(rowsDone, rows)
      const again = yield* jobs("cancel", id)
      assert.deepStrictEqual([again.code, again.stdout, failure(again).code], [6, "", "JobEnded"])

      // The service goes on with the next one, and writes no more of this one.
      yield* send(env, "Email\nlast@example.com\n")
      yield* until(Effect.map(jobs("list"), jsonOf<ReadonlyArray<SeenJob>>), ([job]) => job?.state === "Ready")
      const later = jsonOf<SeenJob>(yield* jobs("get", id))
      assert.deepInclude(later, { state: "Cancelled", rowsDone })
      using database = new DatabaseSync(join(folder, "served.db"), { readOnly: true })
      assert.strictEqual(database.prepare("SELECT count(*) AS found FROM contacts").get()?.["found"], rowsDone + 1)

      const table = yield* jobs("list", "-o", "table")
      assert.match(
        table.stdout,
        /^id +kind +state +running +created \(UTC\) +rowsDone +accepted +rejected +duplicates\n\S+ +Import +Ready +false /
      )
    })
  )

  it.live("is about the jobs that there are, on a service and on a store", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* serveWithKey(folder)
      yield* send(env, "Email\nann@example.com\nnobody\n")
      const [job] = yield* until(
        Effect.map(run(["jobs", "list"], { env }), jsonOf<ReadonlyArray<SeenJob>>),
        ([job]) => job?.state === "Ready"
      )
      const local = yield* run(["jobs", "get", job?.id ?? "", "--db", "served.db"])
      assert.deepStrictEqual(jsonOf(local), job)
      const rejected = yield* run(["jobs", "get", job?.id ?? "", "--rejected", "-"], { env })
      assert.include(rejected.stdout, "nobody")
      const ended = yield* run(["jobs", "cancel", job?.id ?? "", "--yes"], { env })
      assert.deepStrictEqual([ended.code, failure(ended).code], [6, "JobEnded"])
      for (const args of [
        ["get", "x"],
        ["get", "x", "--rejected", "r.csv"],
        ["cancel", "x", "--yes"]
      ]) {
        for (const unknown of [
          yield* run(["jobs", ...args, "--db", "served.db"]),
          yield* run(["jobs", ...args], { env })
        ]) {
          assert.deepStrictEqual([unknown.code, unknown.stdout, failure(unknown).code], [5, "", "JobNotFound"])
        }
      }
      assert.notInclude(readdirSync(folder), "r.csv")
    })
  )

  it.live("reads a store without running its jobs", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { child, env } = yield* serveWithKey(folder)
      yield* send(env, people(60_000))
      const exited = new Promise((done) => child.once("exit", done))
      child.kill("SIGKILL")
      yield* Effect.promise(() => exited)
      const look = Effect.map(run(["jobs", "list", "--db", "served.db"]), jsonOf<ReadonlyArray<SeenJob>>)
      const [first = assert.fail("there is no job")] = yield* look
      assert.deepInclude(first, { state: "Loading", running: false })
      assert.deepStrictEqual(yield* look, [first])
      const cancelled = yield* run(["jobs", "cancel", first.id, "--db", "served.db", "--yes"])
      assert.deepInclude(jsonOf<SeenJob>(cancelled), { state: "Cancelled", rowsDone: first.rowsDone })
    })
  )

  it.live("writes the rows that were rejected, to be corrected and imported again", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* serveWithKey(folder)
      const jobs = (...args: ReadonlyArray<string>) => run(["jobs", ...args, "--db", "served.db"])
      const ready = until(Effect.map(jobs("list"), jsonOf<ReadonlyArray<SeenJob>>), ([job]) => job?.state === "Ready")
      yield* send(env, "Email;Note\nann@example.com;x\nnobody;=1+1\nANN@example.com;y\n")
      const [job] = yield* ready
      assert.deepInclude(job, { rowsDone: 3, accepted: 2, rejected: 1, duplicates: 1 })
      const id = job?.id ?? ""
      const text = `\ufeffEmail;Note;_error\r\nnobody;'=1+1;"Email: an e-mail address has an @, as in name@example.com"\r\n`
      const written = yield* jobs("get", id, "--rejected", "r.csv")
      assert.deepStrictEqual([written.code, json(written)], [0, { file: "r.csv", bytes: Buffer.byteLength(text) }])
      assert.strictEqual(readFileSync(join(folder, "r.csv"), "utf8"), text)
      assert.strictEqual(statSync(join(folder, "r.csv")).mode & 0o777, 0o600)
      assert.strictEqual((yield* jobs("get", id, "--rejected", "r.csv")).code, 2)
      assert.strictEqual((yield* jobs("get", id, "--rejected", "r.csv", "--force")).code, 0)
      assert.strictEqual((yield* jobs("get", id, "--rejected", "-")).stdout, text)

      yield* send(env, text.replace("nobody", "bob@example.com"))
      yield* until(
        jobs("list").pipe(Effect.map(jsonOf<ReadonlyArray<SeenJob>>)),
        (all) => all.length === 2 && all[0]?.state === "Ready"
      )
      const bob = yield* run(["contacts", "get", "bob@example.com"], { env })
      assert.deepInclude(jsonOf<object>(bob), { CustomFields: { Note: "=1+1" } })
      const [second] = jsonOf<ReadonlyArray<SeenJob>>(yield* jobs("list"))
      const nothing = yield* jobs("get", second?.id ?? "", "--rejected", "none.csv")
      assert.deepStrictEqual([nothing.code, nothing.stdout], [0, ""])
      assert.notInclude(readdirSync(folder), "none.csv")
    })
  )
})

describe("roster contacts import", () => {
  const bad = "Email,City\nann@example.com,Bonn\nnobody,=1\nshort\n"
  const first = `\ufeffEmail,City,_error\r\nnobody,'=1,"Email: an e-mail address has an @, as in name@example.com"\r\n`

  it.live("writes rejected rows beside the file, under a name of their own each time", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "c.csv"), bad)
      const imported = yield* run(["contacts", "import", "c.csv"])
      assert.strictEqual(imported.code, 9, imported.stderr)
      assert.deepInclude(jsonOf<object>(imported), { done: 1, rejected: 2, rejectedFile: "c.csv.rejected.csv" })
      const written = join(folder, "c.csv.rejected.csv")
      const text = readFileSync(written, "utf8")
      assert.strictEqual(text, `${first}short,"the row has 1 cell, the header has 2 columns"\r\n`)
      assert.strictEqual(statSync(written).mode & 0o777, 0o600)

      const again = yield* run(["contacts", "import", "c.csv.rejected.csv"])
      assert.deepInclude(jsonOf<object>(again), { done: 0, rejected: 2, rejectedFile: "c.csv.rejected.2.csv" })
      assert.strictEqual(readFileSync(join(folder, "c.csv.rejected.2.csv"), "utf8"), text)
      const named = yield* run(["contacts", "import", "c.csv", "--rejected", "c.csv.rejected.csv"])
      assert.deepStrictEqual([named.code, named.stdout], [2, ""])

      writeFileSync(written, text.replace("nobody", "bob@example.com").replace("short,", "cem@example.com,,"))
      const corrected = yield* run(["contacts", "import", "c.csv.rejected.csv", "-o", "table"])
      assert.strictEqual(corrected.code, 0, corrected.stderr)
      assert.include(json(yield* run(["contacts", "get", "bob@example.com"])), { Email: "bob@example.com" })
      assert.deepStrictEqual(
        readdirSync(folder)
          .filter((name) => /rejected|tmp/.test(name))
          .sort(),
        ["c.csv.rejected.2.csv", "c.csv.rejected.csv"]
      )
    })
  )

  it.live("writes those of standard input only with --rejected", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const unnamed = yield* run(["contacts", "import", "-"], { input: bad })
      assert.strictEqual(unnamed.code, 9)
      assert.notProperty(json(unnamed), "rejectedFile")
      const named = yield* run(["contacts", "import", "-", "--rejected", "r.csv", "-o", "table"], { input: bad })
      assert.strictEqual(named.code, 9)
      assert.include(named.stdout, "r.csv")
      assert.isTrue(readFileSync(join(folder, "r.csv"), "utf8").startsWith(first))
      const good = yield* run(["contacts", "import", "-", "--rejected", "n.csv"], { input: "Email\nann@example.com\n" })
      assert.strictEqual(good.code, 0)
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.endsWith(".csv")),
        ["r.csv"]
      )
    })
  )
})
