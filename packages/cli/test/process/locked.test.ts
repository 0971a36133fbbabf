/**
 * A store that another process keeps locked: a command waits for it once, about five seconds, whatever it does, and says whom
 * it waited for.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, runHere } from "../inProcess.ts"
import { failure, longRun, makeLocalRoster, temporaryFolder } from "../roster.ts"
import { serveWithKey } from "../service.ts"

/** A process that takes a lock and keeps it until the test is over. */
const locking = (filename: string, statements: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const code = `
        const database = new (require("node:sqlite").DatabaseSync)(process.argv[1], { timeout: 10_000 })
        database.exec(process.argv[2])
        console.log("locked")
        setInterval(() => {}, 1000)`
      const child = spawn(process.execPath, ["--eval", code, filename, statements], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      await once(child.stdout, "data")
      return child
    }),
    (child) =>
      Effect.promise(async () => {
        const gone = once(child, "exit")
        child.kill("SIGKILL")
        await gone
      })
  )

const writing = "BEGIN IMMEDIATE"
// As a program of its own keeps it: not even reading is possible.
const alone = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT count(*) FROM sqlite_schema"

/** Less than the waits of all parts of an import, or of all tries of a start; a busy machine takes twice what one wait does. */
const patience = 20_000

const makeLocked = Effect.fnUntraced(function* (
  statements: string,
  makeRoster: typeof makeLocalRoster = makeLocalRoster
) {
  const { folder, run } = yield* makeRoster
  const filename = join(folder, "store.db")
  const added = yield* runHere(["contacts", "add", "ann@example.com", "--db", filename], { env: { HOME: folder } })
  assert.strictEqual(added.code, 0, added.stderr)
  const rows = Array.from({ length: 3000 }, (_, index) => `person${index}@example.com`)
  writeFileSync(join(folder, "people.csv"), ["Email", ...rows].join("\n"))
  yield* locking(filename, statements)
  return { filename, folder, run }
})

/** Each of them waits. An import has several parts. */
const commands = {
  [writing]: [
    ["contacts", "add", "bob@example.com"],
    ["contacts", "import", "people.csv", "--concurrency", "1"],
    ["contacts", "import", "people.csv", "--via", "file"],
    ["apikeys", "create", "reporting", "--for", "contacts:read"]
  ],
  [alone]: [
    ["contacts", "get", "ann@example.com"],
    ["contacts", "add", "bob@example.com"]
  ]
} as const

const otherCommands = {
  [writing]: [
    ["contacts", "delete", "ann@example.com", "--yes"],
    ["contacts", "export", "--out", "out.csv"]
  ],
  [alone]: [
    ["jobs", "list"],
    ["backup", "backup.db"]
  ]
} as const

describe("a store that another process keeps locked", () => {
  const endInTime = (kind: typeof writing | typeof alone, commands: ReadonlyArray<ReadonlyArray<string>>) =>
    Effect.gen(function* () {
      const { filename, run } = yield* makeLocked(kind)
      const one = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
        const started = performance.now()
        const ended = yield* run(args)
        const elapsed = performance.now() - started
        assert.strictEqual(ended.code, 8, `${args.join(" ")}: ${ended.stderr}`)
        assert.include(failure(ended).message, filename)
        assert.include(failure(ended).message, "another process held")
        assert.isBelow(elapsed, patience, args.join(" "))
      })
      // More at once would wait for each other's start, which the time is not about.
      yield* Effect.forEach(commands, one, { concurrency: 2 })
    })

  it.live.each([writing, alone] as const)("by %s: every command ends in time, and names the file", (kind) =>
    endInTime(kind, commands[kind])
  )

  describe.skipIf(!longRun)("for other commands", () => {
    it.live.each([writing, alone] as const)("by %s: every one ends in time, and names the file (nightly)", (kind) =>
      endInTime(kind, otherCommands[kind])
    )
  })

  it.live.each([writing, alone] as const)("by %s: is not served, which ends after one wait", (kind) =>
    Effect.gen(function* () {
      const { filename, run } = yield* makeLocked(kind)
      const started = performance.now()
      const ended = yield* run(["serve", "--port", "0"])
      assert.isBelow(performance.now() - started, patience)
      assert.strictEqual(ended.code, 8, ended.stderr)
      assert.include(failure(ended).message, filename)
      assert.include(failure(ended).message, "another process held")
      assert.match(failure(ended).message, /for too long/)
      assert.notMatch(failure(ended).hint, /path/)
      assert.notMatch(ended.stderr, /SQLite|wait longer/)
    })
  )

  it.live("is read while another one writes", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocked(writing, makeLocalRosterHere)
      for (const args of [["contacts", "list"], ["doctor"], ["backup", "backup.db"]]) {
        const ended = yield* run(args)
        assert.strictEqual(ended.code, 0, ended.stderr)
      }
    })
  )

  it.live("never tells over the network which file it is", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { address, key } = yield* serveWithKey(folder)
      const filename = join(folder, "served.db")
      yield* locking(filename, writing)
      const response = yield* Effect.promise(() =>
        fetch(`${address}/contacts`, {
          method: "POST",
          headers: { "X-Service-ApiKey": key, "content-type": "application/json" },
          body: JSON.stringify([{ Email: "bob@example.com" }])
        })
      )
      const text = yield* Effect.promise(() => response.text())
      assert.strictEqual(response.status, 503, text)
      assert.match(text, /another program held it for too long/)
      assert.notInclude(text, filename)
    })
  )
})
