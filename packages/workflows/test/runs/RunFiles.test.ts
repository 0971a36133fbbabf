import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { RunTaken } from "@roster/domain"
import { RunLog, RunLogFailure } from "@roster/workflows"
import * as RunFiles from "@roster/workflows/RunFiles"
import { Duration, Effect, Layer, Stream } from "effect"
import { fork, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { logCases, runOf } from "./logCases.ts"

const isWindows = process.platform === "win32"

const newFolder = () => join(fs.mkdtempSync(join(tmpdir(), "roster-runs-")), "runs")
const shared = newFolder()
const target = "https://example.com"

const entry = (email: string) => ({ _tag: "Changes", created: [[email, "digest"]] }) as const

const layerOf = (folder: string, options: Partial<RunFiles.RunFilesOptions> = {}) =>
  Layer.provide(RunFiles.layer({ folder, target, ...options }), NodeFileSystem.layer)

/** Uses the log in a folder as a program of its own does. */
const use = <A, E>(folder: string, effect: Effect.Effect<A, E, RunLog>, options?: Partial<RunFiles.RunFilesOptions>) =>
  Effect.provide(effect, layerOf(folder, options))

const list = Effect.flatMap(RunLog, (log) => log.list)
const entriesOf = (id: string) =>
  Effect.gen(function* () {
    const log = yield* RunLog
    const { entries } = yield* log.read(id)
    return [...(yield* Stream.runCollect(entries))]
  })

const work = { command: "import", input: "file" }

const records = (folder: string) => fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl"))
const fileOf = (folder: string, id: string) => join(folder, `${id}.jsonl`)

const first = (header: object, version = 2) =>
  `${JSON.stringify({ run: version === 1 ? "roster contacts" : "roster", version, header })}\n`

describe("the log of runs in files", () => logCases(layerOf(shared)))

describe("a file of a run", () => {
  it.live.skipIf(isWindows)("is for the user alone, as is its folder, which may have been open", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      fs.mkdirSync(folder, { mode: 0o755 })
      const { id } = yield* use(folder, runOf(work, [entry("ada@example.com")]))
      assert.strictEqual(fs.statSync(folder).mode & 0o777, 0o700)
      assert.strictEqual(fs.statSync(fileOf(folder, id)).mode & 0o777, 0o600)
      assert.deepStrictEqual(fs.readdirSync(folder), [`${id}.jsonl`])
    })
  )

  it.live("ends with its last whole line, and the next append removes the rest", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const { id } = yield* use(folder, runOf(work, [entry("ada@example.com")]))
      fs.appendFileSync(fileOf(folder, id), '{"_tag":"Changes","created":[["eve')
      assert.deepStrictEqual(yield* use(folder, entriesOf(id)), [entry("ada@example.com")])
      const again = yield* use(folder, runOf(work, [entry("bob@example.com")]))
      assert.deepStrictEqual(again, { id, isResumed: true, earlier: [entry("ada@example.com")] })
      assert.deepStrictEqual(yield* use(folder, entriesOf(id)), [entry("ada@example.com"), entry("bob@example.com")])
    })
  )

  it.live("that is damaged is refused by its name, left out of lists, and not gone on with", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const { id } = yield* use(folder, runOf(work, [entry("ada@example.com")]))
      const file = fileOf(folder, id)
      const whole = fs.readFileSync(file, "utf8")
      for (const damaged of [whole.replace("Changes", "Chances"), whole.slice(4), "", "\n"]) {
        fs.writeFileSync(file, damaged)
        const error = yield* Effect.flip(use(folder, entriesOf(id)))
        assert.instanceOf(error, RunLogFailure)
        assert.include(error.message, file)
        assert.deepStrictEqual(yield* use(folder, list), [])
      }
      assert.isFalse((yield* use(folder, runOf(work, [entry("bob@example.com")]))).isResumed)
    })
  )

  it.live.skipIf(isWindows)("is neither written nor believed through a link, or of a form that others can change", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const { id } = yield* use(folder, runOf(work, [entry("ada@example.com")]))
      const file = fileOf(folder, id)
      const other = join(folder, "..", "other")
      const content = fs.readFileSync(file)
      const put = [
        () => fs.symlinkSync(other, file),
        () => fs.linkSync(other, file),
        () => fs.mkdirSync(file),
        () => (fs.writeFileSync(file, content), fs.chmodSync(file, 0o666)),
        ...(process.getuid?.() === 0 ? [() => (fs.writeFileSync(file, content), fs.chownSync(file, 12345, 12345))] : [])
      ]
      for (const place of put) {
        fs.rmSync(file, { recursive: true })
        fs.writeFileSync(other, content)
        place()
        assert.instanceOf(yield* Effect.flip(use(folder, entriesOf(id))), RunLogFailure)
        assert.deepStrictEqual(yield* use(folder, list), [])
        const anew = yield* use(folder, runOf(work, [entry("bob@example.com")]))
        assert.isFalse(anew.isResumed)
        assert.deepStrictEqual(fs.readFileSync(other), content)
        fs.rmSync(fileOf(folder, anew.id))
      }
    })
  )

  it.live.skipIf(process.getuid?.() !== 0)("is not kept in a folder of another user (as root)", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      fs.mkdirSync(folder)
      fs.chownSync(folder, 12345, 12345)
      const error = yield* Effect.flip(use(folder, list))
      assert.include(error.message, "belongs to another user")
    })
  )

  it.live("of the version before is listed and read, and does not go on", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      fs.mkdirSync(folder)
      const id = "20261101T120000000Z-abcd"
      const header = { id, command: "undo", target, began: "2026-11-01T12:00:00.000Z", undoes: "before" }
      const changed = { email: "ada@example.com", fields: { FirstName: [null, "Ada"] }, after: "d", id: 7 }
      const old = { _tag: "Changes", changed: [changed] }
      fs.writeFileSync(fileOf(folder, id), `${first(header, 1)}${JSON.stringify(old)}\n`, { mode: 0o600 })
      assert.deepStrictEqual(yield* use(folder, list), [
        { header, counts: { created: 0, changed: 1, deleted: 0 }, isEnded: false, isTaken: false }
      ])
      assert.deepStrictEqual<unknown>(yield* use(folder, entriesOf(id)), [old])
    })
  )

  it.live("goes when it is too old, and the oldest go when all are too large", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const run = (input: string, options?: Partial<RunFiles.RunFilesOptions>) =>
        use(folder, runOf({ command: "import", input }, [entry(`${input}@example.com`)], true), options)
      const old = yield* run("old")
      const month = Date.now() / 1000 - Duration.toSeconds(Duration.days(31))
      fs.utimesSync(fileOf(folder, old.id), month, month)
      const kept = yield* run("kept")
      const next = yield* run("next")
      assert.deepStrictEqual(records(folder).sort(), [`${kept.id}.jsonl`, `${next.id}.jsonl`].sort())
      const { size } = fs.statSync(fileOf(folder, next.id))
      const last = yield* run("last", { maximumBytes: size * 1.5 })
      assert.deepStrictEqual(records(folder).sort(), [`${next.id}.jsonl`, `${last.id}.jsonl`].sort())
    })
  )

  it.live("says where a run grew larger than all may be", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const many = Array.from({ length: 20 }, (_, index) => entry(`contact${index}@example.com`))
      const { id } = yield* use(folder, runOf(work, many, true), { maximumBytes: 600 })
      const found = yield* use(folder, entriesOf(id))
      const tags = found.map(({ _tag }) => _tag)
      assert.deepStrictEqual(tags.slice(-2), ["Unknown", "Ended"])
      assert.isAbove(tags.length, 3)
      assert.isBelow(tags.length, 12)
      assert.isTrue(tags.slice(0, -2).every((tag) => tag === "Changes"))
    })
  )
})

describe("a process with a run", () => {
  /** Begins a run in another process, and says when its first entry is on the disk. */
  const start = async (folder: string) => {
    const child = fork(join(import.meta.dirname, "runInProcess.ts"), [folder, target], {
      stdio: ["ignore", "inherit", "inherit", "ipc"]
    })
    const [id] = await once(child, "message")
    return { child, id: String(id) }
  }

  it.live("has it alone until it is killed, and the next one goes on with all that it appended", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      fs.mkdirSync(folder, { mode: 0o700 })
      const { child, id } = yield* Effect.promise(() => start(folder))
      assert.deepStrictEqual(yield* Effect.flip(use(folder, runOf(work, []))), new RunTaken({ run: id }))
      assert.instanceOf(yield* Effect.flip(use(folder, entriesOf(id))), RunTaken)
      assert.isFalse((yield* use(folder, list))[0]?.isEnded)
      // Killed between an append and its write.
      child.kill("SIGKILL")
      yield* Effect.promise(() => once(child, "exit"))
      const again = yield* use(folder, runOf(work, [], true))
      assert.deepStrictEqual(again, { id, isResumed: true, earlier: [entry("ada@example.com")] })
      assert.deepStrictEqual(
        (yield* use(folder, list)).map(({ isEnded }) => isEnded),
        [true]
      )
    })
  )

  it.live.skipIf(isWindows)("that finds no more room fails, and what was appended before is whole", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      fs.mkdirSync(folder, { mode: 0o700 })
      const script = join(import.meta.dirname, "runInProcess.ts")
      // A file may grow to 2048 bytes: the last line that is written ends in the middle.
      const limited = `trap '' XFSZ; ulimit -f 4; exec "$0" "$@"`
      const child = spawn("sh", ["-c", limited, process.execPath, script, folder, target, "fill"], {
        stdio: ["ignore", "inherit", "inherit", "ipc"]
      })
      const [{ appended, messages }] = yield* Effect.promise(() => once(child, "message"))
      if (child.exitCode === null) yield* Effect.promise(() => once(child, "exit"))
      assert.isNotEmpty(messages)
      for (const message of messages) assert.include(message, "EFBIG")
      const [name = ""] = records(folder)
      assert.isFalse(fs.readFileSync(join(folder, name), "utf8").endsWith("\n"))
      const again = yield* use(folder, runOf(work, [entry("bob@example.com")], true))
      assert.isTrue(again.isResumed)
      assert.strictEqual(again.earlier.length, appended)
      assert.strictEqual((yield* use(folder, entriesOf(again.id))).length, appended + 2)
    })
  )
})
