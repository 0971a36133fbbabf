/**
 * Imports that are stopped, in every way that a process can be, and gone on with by the same command.
 */
import { reportOf } from "../report.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { ended, failure, json, jsonOf, longRun, start, temporaryFolder } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

const email = (index: number) => `c${index}@example.com`

const fileOf = (folder: string, count: number) =>
  writeFileSync(
    join(folder, "contacts.csv"),
    `Email\n${Array.from({ length: count }, (_, i) => email(i)).join("\n")}\n`
  )

/** The records of runs, the oldest first. */
const recordsIn = (folder: string): ReadonlyArray<string> => {
  const runs = join(folder, ".local/state/roster/runs")
  return existsSync(runs)
    ? readdirSync(runs)
        .filter((name) => name.endsWith(".jsonl"))
        .toSorted()
        .map((name) => join(runs, name))
    : []
}

/** The text of the newest record, of a service that records nothing. */
const record = (folder: string): string => {
  const last = recordsIn(folder).at(-1)
  return last === undefined ? "" : readFileSync(last, "utf8")
}

/** How many contacts the runs of a store have changed; 0 before it has any. */
const changedIn = (store: string): number => {
  try {
    using database = new DatabaseSync(store, { readOnly: true, timeout: 5000 })
    return Number(database.prepare("SELECT coalesce(sum(changes), 0) AS changes FROM runs").get()?.["changes"])
  } catch {
    return 0
  }
}

/** Waits until a run has changed contacts of a store, and fails if its process ends before. */
const untilChanged = (store: string, child: ChildProcess) =>
  Effect.promise(async () => {
    while (changedIn(store) === 0) {
      assert.isNull(child.exitCode, "the process has ended before")
      await new Promise((look) => setTimeout(look, 5))
    }
  })

/** A service that compares nothing, with a book of what it was sent: `hold` keeps a part without an answer. */
const bookkeeper = Effect.fnUntraced(function* () {
  const sent: Array<ReadonlyArray<string>> = []
  const stored = new Map<string, { readonly Email: string; readonly Status: string }>()
  const waiting: Array<() => void> = []
  const rule = {
    hold: (_part: number) => false,
    status: (_part: number): number => 200,
    refuses: (_email: string): boolean => false
  }
  const seen: Array<() => void> = []
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === "GET") {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost")
      if (!pathname.includes("/contacts")) return void response.writeHead(404).end()
      const [, one] = /\/contacts\/(.+)$/.exec(pathname) ?? []
      const [offset, limit] = ["offset", "limit"].map((name) => Number(searchParams.get(name) ?? 0))
      const found =
        one === undefined
          ? [...stored.values()].slice(offset, (offset ?? 0) + (limit ?? 0))
          : stored.get(decodeURIComponent(one))
      response.writeHead(found === undefined ? 404 : 200, { "Content-Type": "application/json" })
      return void response.end(JSON.stringify(found ?? { Error: "There is no such contact." }))
    }
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const body = Buffer.concat(parts)
      const contacts: ReadonlyArray<{ Email: string }> = JSON.parse(body.toString())
      const part = sent.push(contacts.map(({ Email }) => Email)) - 1
      for (const look of seen) look()
      const status = rule.status(part)
      const bad = contacts.findIndex(({ Email }) => rule.refuses(Email))
      if (status === 200 && bad >= 0) {
        response.writeHead(400, { "Content-Type": "application/json" })
        return void response.end(JSON.stringify({ Error: `Invalid [${bad}].Email: not wanted` }))
      }
      if (rule.hold(part)) return void waiting.push(() => response.destroy())
      if (status === 200) for (const contact of contacts) stored.set(contact.Email, { Status: "Active", ...contact })
      response.writeHead(status, { "Content-Type": "application/json" })
      response.end(status === 200 ? body : '{"Error":"no"}')
    })
  }
  const { env } = yield* fakeService(answer)
  /** Waits until the service has so many parts. */
  const parts = (count: number) =>
    Effect.promise(
      () =>
        new Promise<void>((done) => {
          const look = () => {
            if (sent.length >= count) done()
          }
          seen.push(look)
          look()
        })
    )
  return { env, sent, stored, rule, parts }
})

describe("roster contacts import, stopped", () => {
  it.live.each([
    ["a refused key", 401, 4],
    ["a service that is gone", 503, 8]
  ] as const)(
    "K12 the third of five parts ends in %s: exit is not 0, and the next run sends only what is left",
    ([, status]) =>
      Effect.gen(function* () {
        const { folder, run } = yield* makeRosterHere
        fileOf(folder, 5000)
        const { env, rule, sent } = yield* bookkeeper()
        rule.status = (part) => (part < 2 ? 200 : status)
        const command = ["contacts", "import", "contacts.csv", "--concurrency", "1", "--list", "it's"]
        const stopped = yield* run(command, { env })
        assert.strictEqual(stopped.code, 9, stopped.stderr)
        const counts = reportOf(stopped)
        assert.strictEqual(counts.done, 2000)
        assert.strictEqual(failure(stopped).resume, `roster contacts import contacts.csv --concurrency 1 --list "it's"`)
        const [first = ""] = recordsIn(folder)
        assert.strictEqual(statSync(first).mode & 0o777, 0o600)

        rule.status = () => 200
        const before = sent.length
        const resumed = yield* run(command, { env })
        assert.strictEqual(resumed.code, 0, resumed.stderr)
        assert.include(json(resumed), { read: 5000, done: 5000, alreadySo: 2000, notSent: 0, unknown: 0 })
        assert.deepStrictEqual(
          sent.slice(before).flat(),
          Array.from({ length: 3000 }, (_, i) => email(i + 2000))
        )
        assert.match(resumed.stderr, /^The import goes on in the run \S+\.$/m)
        assert.strictEqual(recordsIn(folder).length, 1)
        assert.include(record(folder), "Ended")
        assert.isFalse(existsSync(join(folder, "contacts.csv.roster-journal")))
      })
  )

  it.live("K12 rows that went to a store are not taken for those of another one of the same relative name", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      fileOf(folder, 40_000)
      const command = ["contacts", "import", "contacts.csv", "--concurrency", "1", "--db", "store.db"]
      const child = start(folder, command)
      const end = ended(child)
      yield* untilChanged(join(folder, "store.db"), child)
      child.kill("SIGKILL")
      yield* Effect.promise(() => end)
      mkdirSync(join(folder, "other"))
      const home = { HOME: folder }
      const inOther = (db: string) =>
        start(join(folder, "other"), ["contacts", "import", "../contacts.csv", "--db", db], home)
      const elsewhere = yield* Effect.promise(() => ended(inOther("store.db")))
      assert.strictEqual(elsewhere.code, 0, elsewhere.stderr)
      assert.strictEqual(reportOf(elsewhere).alreadySo, 0)
      const there = inOther("../store.db")
      const resumed = yield* Effect.promise(() => ended(there))
      assert.strictEqual(resumed.code, 0, resumed.stderr)
      const { done, alreadySo } = reportOf(resumed)
      assert.strictEqual(done, 40_000)
      assert.isAbove(alreadySo, 0)
      assert.strictEqual(
        (yield* run(["contacts", "list", "--limit", "1", "--offset", "39999", ...command.slice(-2)])).code,
        0
      )
    })
  )

  it.live("K12 a part without an answer: it is unknown, and the next run sends it again", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      fileOf(folder, 5000)
      const { env, parts, rule, sent } = yield* bookkeeper()
      rule.hold = (part) => part === 2
      const command = ["contacts", "import", "contacts.csv", "--concurrency", "1"]
      const child = start(folder, command, env)
      const end = ended(child)
      yield* parts(3)
      child.kill("SIGINT")
      const stopped = yield* Effect.promise(() => end)
      assert.strictEqual(stopped.code, 130, stopped.stderr)
      const report = reportOf(stopped)
      assert.include(report, {
        command: "import",
        file: "contacts.csv",
        read: 5000,
        done: 2000,
        notSent: 2000,
        unknown: 1000
      })
      assert.deepInclude(failure(stopped), { code: "Interrupted", resume: `roster ${command.join(" ")}` })
      assert.match(stopped.stderr, /^To undo it: roster contacts undo \S+$/m)
      assert.strictEqual(failure(stopped).undo, `roster contacts undo ${report.run}`)
      rule.hold = () => false
      const resumed = yield* run(command, { env })
      assert.include(json(resumed), { done: 5000, alreadySo: 2000, unknown: 0 })
      assert.deepStrictEqual(
        sent.slice(3).flat(),
        Array.from({ length: 3000 }, (_, i) => email(i + 2000))
      )
    })
  )

  it.live("ends by SIGTERM with 143 and when its time is over with 8, with the account and the way on", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      fileOf(folder, 3000)
      const { env, parts, rule } = yield* bookkeeper()
      rule.hold = (part) => part === 1
      const terminated = start(folder, ["contacts", "import", "contacts.csv", "--concurrency", "1"], env)
      const end = ended(terminated)
      yield* parts(2)
      terminated.kill("SIGTERM")
      const first = yield* Effect.promise(() => end)
      assert.strictEqual(first.code, 143, first.stderr)
      assert.include(reportOf(first), { done: 1000, unknown: 1000, notSent: 1000 })

      rule.hold = () => true
      const late = yield* Effect.promise(() =>
        ended(start(folder, ["contacts", "import", "contacts.csv", "--timeout", "3s"], env))
      )
      assert.strictEqual(late.code, 8, late.stderr)
      reportOf(late)
      assert.deepInclude(failure(late), {
        code: "TimeLimitReached",
        resume: "roster contacts import contacts.csv --timeout 3s"
      })
    })
  )

  it.live("goes on only for the same rows, target and lists", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      fileOf(folder, 1500)
      const { env, rule } = yield* bookkeeper()
      rule.status = (part) => (part === 0 ? 200 : 403)
      const command = ["contacts", "import", "contacts.csv", "--concurrency", "1"]
      yield* run(command, { env })
      rule.status = () => 200
      const others = [
        yield* run([...command, "--list", "News"], { env }),
        yield* run([...command, "--db", join(folder, "store.db")])
      ]
      fileOf(folder, 1501)
      others.push(yield* run(command, { env }))
      for (const other of others) {
        assert.strictEqual(other.code, 0, other.stderr)
        assert.notInclude(other.stderr, "goes on")
      }
      assert.strictEqual(recordsIn(folder).length, 3)
      fileOf(folder, 1500)
      assert.include((yield* run(command, { env })).stderr, "goes on")
      assert.strictEqual(recordsIn(folder).length, 3)
    })
  )

  it.live("goes on with standard input if the same bytes come again", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      fileOf(folder, 2500)
      const input = readFileSync(join(folder, "contacts.csv"), "utf8")
      const { env, rule } = yield* bookkeeper()
      rule.status = (part) => (part === 0 ? 200 : 403)
      const command = ["contacts", "import", "-", "--concurrency", "1"]
      assert.include(json(yield* run(command, { env, input })), { done: 1000 })
      rule.status = () => 200
      assert.include(json(yield* run(command, { env, input })), { done: 2500, alreadySo: 1000 })
    })
  )

  it.live("names the journal of an earlier version once, and does not read it", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      fileOf(folder, 2)
      writeFileSync(join(folder, "contacts.csv.roster-journal"), "whatever\n")
      const imported = yield* run(["contacts", "import", "contacts.csv"])
      assert.strictEqual(imported.code, 0, imported.stderr)
      assert.strictEqual(imported.stderr.split("contacts.csv.roster-journal is of an earlier version").length, 2)
    })
  )

  it.live("writes the rejected rows once, when it is complete", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      fileOf(folder, 3000)
      writeFileSync(join(folder, "contacts.csv"), "no address\n", { flag: "a" })
      const { env, rule, sent } = yield* bookkeeper()
      rule.refuses = (address) => address === email(7)
      rule.status = (part) => (sent[part]?.includes(email(1000)) === true ? 403 : 200)
      const command = ["contacts", "import", "contacts.csv", "--concurrency", "1"]
      const stopped = yield* run(command, { env })
      assert.include(json(stopped), { done: 999, rejected: 2, notSent: 2000 })
      assert.isFalse(existsSync(join(folder, "contacts.csv.rejected.csv")))
      rule.status = () => 200
      const resumed = yield* run(command, { env })
      assert.strictEqual(resumed.code, 9, resumed.stderr)
      assert.include(json(resumed), { done: 2999, rejected: 2, rejectedFile: "contacts.csv.rejected.csv" })
      const lines = readFileSync(join(folder, "contacts.csv.rejected.csv"), "utf8").split("\r\n")
      assert.strictEqual(lines.length, 4)
      assert.match(lines[1] ?? "", /^c7@example\.com,.*not wanted/)
      assert.match(lines[2] ?? "", /^no address,/)
      assert.isUndefined(failure(resumed).resume)
    })
  )

  it.live("refuses a second import of the same file meanwhile, and not behind one that was killed", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      fileOf(folder, 1500)
      const { env, parts, rule } = yield* bookkeeper()
      rule.hold = () => true
      const command = ["contacts", "import", "contacts.csv"]
      const child = start(folder, command, env)
      const exit = once(child, "exit")
      yield* parts(1)
      const second = yield* run(command, { env })
      assert.deepStrictEqual([second.code, second.stdout], [6, ""])
      assert.strictEqual(failure(second).code, "RunTaken")
      const [id = ""] = /[^/]+(?=\.jsonl$)/.exec(recordsIn(folder)[0] ?? "") ?? []
      const undone = yield* run(["contacts", "undo", id, "--yes"], { env })
      assert.deepStrictEqual([undone.code, failure(undone).code], [6, "RunTaken"])
      child.kill("SIGKILL")
      yield* Effect.promise(() => exit)
      rule.hold = () => false
      assert.include(json(yield* run(command, { env })), { done: 1500 })
    })
  )

  it.live("goes on in a record of the version before, and ignores a line that a dying process left unfinished", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      fileOf(folder, 2500)
      const { env, rule, sent } = yield* bookkeeper()
      rule.status = (part) => (part === 0 ? 200 : 403)
      const command = ["contacts", "import", "contacts.csv", "--concurrency", "1"]
      yield* run(command, { env })
      const [file = ""] = recordsIn(folder)
      const former =
        '{"_tag":"Changes","at":1,"rows":[1,1],"created":[["c0@example.com","x"]]}\n' +
        '{"_tag":"NotMade","emails":["c0@example.com"]}\n' +
        '{"_tag":"Answered","accepted":[[1,1000]],"refused":[],"unknown":[],"answers":[1,1000]}\n'
      writeFileSync(file, `${former}{"_tag":"Answered","acc`, { flag: "a" })
      const again = yield* run(command, { env })
      assert.include(json(again), { done: 1000, alreadySo: 1000, notSent: 1500 })
      // The torn line is gone, so that what was added behind it can be read.
      rule.status = () => 200
      const before = sent.length
      const last = yield* run(command, { env })
      assert.strictEqual(last.code, 0, last.stderr)
      assert.strictEqual(sent.slice(before).flat().length, 1500)
    })
  )

  it.live("killed at any moment, the same command brings every row, and none again that is stored", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const count = longRun ? 20_000 : 10_000
      fileOf(folder, count)
      const { env, parts, rule, sent, stored } = yield* bookkeeper()
      const command = ["contacts", "import", "contacts.csv", "-q"]
      rule.hold = (part) => part % 4 === 3
      for (const at of longRun ? [1, 6, 11, 3] : [1, 3]) {
        const child = start(folder, command, env)
        const exit = once(child, "exit")
        yield* parts(sent.length + at)
        child.kill("SIGKILL")
        yield* Effect.promise(() => exit)
      }
      rule.hold = () => false
      const before = new Set(stored.keys())
      assert.isNotEmpty([...before])
      const parted = sent.length
      const last = yield* run(command, { env })
      assert.strictEqual(last.code, 0, last.stderr)
      assert.deepInclude(json(last), { done: count, alreadySo: before.size })
      const again = sent.slice(parted).flat()
      assert.deepStrictEqual(
        again.filter((address) => before.has(address)),
        []
      )
      assert.strictEqual(again.length, count - before.size)
      assert.strictEqual(stored.size, count)
      // All that was done belongs to one run, which one undo takes back.
      assert.strictEqual(recordsIn(folder).length, 1)
      const undone = yield* run(["contacts", "undo", "last", "--dry-run"], { env })
      assert.deepInclude(json(undone), { deleted: count, outdated: 0 })
    })
  )

  it.live("killed against a real service, all contacts are there in the end, once", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      fileOf(folder, 6000)
      const { env } = yield* serveWithKey(folder)
      const command = ["contacts", "import", "contacts.csv", "--concurrency", "2"]
      const child = start(folder, command, env)
      const exit = once(child, "exit")
      const store = join(folder, "served.db")
      yield* untilChanged(store, child)
      child.kill("SIGKILL")
      yield* Effect.promise(() => exit)
      // The service cannot see that, and gives the run to nobody else for a minute.
      const early = yield* run(command, { env })
      assert.deepStrictEqual([early.code, failure(early).code], [6, "RunTaken"])
      assert.include(failure(early).hint, "a minute")
      using database = new DatabaseSync(store, { timeout: 5000 })
      database.exec("UPDATE runs SET lease = 0")
      const resumed = yield* run(command, { env })
      assert.strictEqual(resumed.code, 0, resumed.stderr)
      const counts = reportOf(resumed)
      assert.strictEqual(counts.done, 6000)
      const listed = jsonOf<ReadonlyArray<{ Email: string }>>(yield* run(["contacts", "list", "--all"], { env }))
      assert.strictEqual(listed.length, 6000)
      assert.strictEqual(new Set(listed.map(({ Email }) => Email)).size, 6000)
    })
  )

  it.live("is interrupted on a local store too, whose work takes no turn", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      fileOf(folder, 20_000)
      const command = ["contacts", "import", "contacts.csv", "--concurrency", "1"]
      const store = join(folder, "store.db")
      const child = start(folder, [...command, "--db", store])
      const end = ended(child)
      yield* untilChanged(store, child)
      child.kill("SIGINT")
      const stopped = yield* Effect.promise(() => end)
      assert.strictEqual(stopped.code, 130, stopped.stderr)
      reportOf(stopped)
      assert.isBelow(reportOf(stopped).done, 20_000)
      const again = yield* run(command)
      assert.include(again.stderr, "goes on in the run")
      assert.include(json(again), { done: 20_000 })
    })
  )
})
