/**
 * S76 The n-th call of the file system fails, for every n until a program passes untouched: a file that it writes is the old
 * one or the new one, nothing is left beside it, no handle stays open, what it changed is recorded, and a second run comes
 * to its end.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { exportTo, prepareFile, RunLog, undoRun, importContacts } from "@roster/workflows"
import * as RunFiles from "@roster/workflows/RunFiles"
import { Cause, Effect, Exit, Fiber, FileSystem, Layer, Path, PlatformError, Predicate, Stream } from "effect"
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { longRun } from "../../src/simulation/LongRun.ts"
import { layerMemory } from "../../src/layers/ServiceLayers.ts"

/** What becomes of a call: the disk fails it, of a write after a part, or the program is interrupted there. */
const failures = ["ENOSPC: no space left on device", "EIO: i/o error", "interruption"] as const

/** A file system of which the n-th call fails. */
const makeFailing = (fs: FileSystem.FileSystem, n: number, failure: (typeof failures)[number]) => {
  let count = 0
  let program: Fiber.Fiber<unknown, unknown> | undefined
  let failed: string | undefined
  const step = (method: string, call: Effect.Effect<unknown, unknown, unknown>, part: typeof call) =>
    Effect.suspend(() => {
      if (++count !== n) return call
      failed = method
      if (failure === "interruption") {
        const interrupted = program === undefined ? Effect.void : Effect.forkDetach(Fiber.interrupt(program))
        return Effect.andThen(interrupted, Effect.andThen(Effect.yieldNow, call))
      }
      const cause = new Error(failure)
      const error = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method, cause })
      return Effect.andThen(part, Effect.fail(error))
    })
  /** The same object, of which each effect, and each that a method gives, is a step. So is each of a file that it opens. */
  const stepping = <A extends object>(whole: A): A =>
    new Proxy(whole, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target)
        const stepped = (value: unknown, part: Effect.Effect<unknown, unknown, unknown> = Effect.void) =>
          Effect.isEffect(value)
            ? step(
                String(name),
                Effect.map(value, (result) => (FileSystem.isFile(result) ? stepping(result) : result)),
                part
              )
            : value
        if (!Predicate.isFunction(member)) return stepped(member)
        return (...given: ReadonlyArray<unknown>) => {
          const [bytes] = given
          const isWrite = FileSystem.isFile(target) && name === "writeAll" && bytes instanceof Uint8Array
          const part = isWrite ? target.writeAll(bytes.subarray(0, bytes.length / 2)) : undefined
          return stepped(Reflect.apply(member, target, given), part)
        }
      }
    })
  return {
    layer: Layer.succeed(FileSystem.FileSystem, stepping(fs)),
    /** The method of the call that failed, if the program came to it. */
    failed: () => failed,
    /** Whom an interruption is for. */
    interrupts: (fiber: Fiber.Fiber<unknown, unknown>) => {
      program = fiber
    }
  }
}

/** The files below a folder that this process has open, where the system tells. */
const openIn = (folder: string): ReadonlyArray<string> =>
  process.platform !== "linux"
    ? []
    : readdirSync("/proc/self/fd").flatMap((descriptor) => {
        try {
          const path = readlinkSync(join("/proc/self/fd", descriptor))
          return path.startsWith(folder) ? [path] : []
        } catch {
          return []
        }
      })

type Needs = ContactsService | RunLog | FileSystem.FileSystem | Path.Path

const tools = (folder: string, files: Layer.Layer<FileSystem.FileSystem>) =>
  RunFiles.layer({ folder: join(folder, "runs"), target: "memory" }).pipe(
    Layer.provideMerge(Layer.merge(files, Path.layer))
  )

const isInterrupted = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)

/** Fails each call in turn, or one kind of failure of each call in a run of all tests. */
const throughout = (
  program: (folder: string) => Effect.Effect<unknown, unknown, Needs>,
  setUp: (folder: string) => Effect.Effect<unknown, unknown, Needs>,
  look: (seen: {
    readonly exit: Exit.Exit<unknown, unknown>
    readonly folder: string
    /** Whether the call that removes a file was the one that failed. */
    readonly isLeft: boolean
    readonly where: string
  }) => Effect.Effect<void, unknown, Needs>
) =>
  Effect.gen(function* () {
    const real = yield* FileSystem.FileSystem
    for (let n = 1, isReached = true; isReached; n++) {
      for (const failure of failures.filter((_, index) => longRun || n % failures.length === index)) {
        const folder = mkdtempSync(join(tmpdir(), "roster-file-calls-"))
        const { failed, interrupts, layer } = makeFailing(real, n, failure)
        yield* Effect.gen(function* () {
          const whole = tools(folder, NodeFileSystem.layer)
          yield* Effect.provide(setUp(folder), whole, { local: true })
          const fiber = yield* Effect.forkChild(Effect.provide(program(folder), tools(folder, layer), { local: true }))
          interrupts(fiber)
          const exit = yield* Fiber.await(fiber)
          const where = `call ${n}, ${failed()}: ${failure}`
          if (Exit.isFailure(exit)) assert.isFalse(Cause.hasDies(exit.cause), `${where}\n${Cause.pretty(exit.cause)}`)
          assert.deepStrictEqual(openIn(folder), [], where)
          const isLeft = failed() === "remove"
          yield* Effect.provide(look({ exit, folder, isLeft, where }), whole, { local: true })
        }).pipe(Effect.provide(layerMemory, { local: true }))
        rmSync(folder, { recursive: true })
        isReached = failed() !== undefined
      }
      assert.isBelow(n, 400)
    }
  }).pipe(Effect.provide(NodeFileSystem.layer))

const people = ["ann", "ben", "cleo"].map((name) => ({ email: `${name}@example.com`, firstName: name }))

const added = () => ContactsService.use((contacts) => contacts.add(people))

const emails = ContactsService.use((contacts) =>
  Effect.map(contacts.list({ limit: 100 }), (all) => all.map(({ email }) => email))
)

const nothing = () => Effect.void

describe("a file that is written by a file system whose n-th call fails", () => {
  const before = "before"
  const writers: Readonly<Record<string, (target: string) => Effect.Effect<unknown, unknown, Needs>>> = {
    "an export": (target) => exportTo({ fileFormat: "Csv" }, target),
    "a file with room and a name of its own": (target) =>
      Effect.scoped(
        Effect.gen(function* () {
          const write = yield* prepareFile(target, { reserve: 100, temporary: `${target}.new` })
          return yield* write(Stream.make(new TextEncoder().encode(people.map(({ email }) => `${email}\r\n`).join(""))))
        })
      )
  }
  for (const [name, write] of Object.entries(writers)) {
    const fileIn = (folder: string) => join(folder, "people.csv")
    it.live(`S76 ${name} is the old one or the new one, alone`, () =>
      throughout(
        (folder) => write(fileIn(folder)),
        (folder) =>
          Effect.andThen(
            added(),
            Effect.sync(() => writeFileSync(fileIn(folder), before))
          ),
        ({ exit, folder, isLeft, where }) =>
          Effect.gen(function* () {
            const isNew = (text: string) => people.every(({ email }) => text.includes(email)) && text.endsWith("\r\n")
            const text = readFileSync(fileIn(folder), "utf8")
            if (Exit.isSuccess(exit)) assert.isTrue(isNew(text), where)
            // An interruption is heard after the call that it meets.
            else assert.isTrue(text === before || (isInterrupted(exit) && isNew(text)), where)
            if (!isLeft) assert.deepStrictEqual(readdirSync(folder).sort(), ["people.csv"], where)
            yield* write(fileIn(folder))
            assert.isTrue(isNew(readFileSync(fileIn(folder), "utf8")), where)
          })
      )
    )
  }
})

describe("a log of runs in a file system whose n-th call fails", () => {
  const upload = importContacts(Stream.fromIterable(people))
  /** Undoes the uploads, whose records a folder has. */
  const undoAll = Effect.fnUntraced(function* (folder: string) {
    const runs = join(folder, "runs")
    for (const name of existsSync(runs) ? readdirSync(runs) : []) {
      const id = name.replace(".jsonl", "")
      const { header } = yield* RunLog.use(({ read }) => read(id))
      if (header.command === "import") yield* Effect.scoped(undoRun(id))
    }
  })
  /** Every record can be read, its run has ended, and nothing else is there. */
  const allEnded = Effect.fnUntraced(function* (folder: string, where: string) {
    const runs = yield* Effect.flatMap(RunLog, ({ list }) => list)
    assert.deepStrictEqual(
      readdirSync(join(folder, "runs")).sort(),
      runs.map(({ header }) => `${header.id}.jsonl`).sort(),
      where
    )
    assert.isTrue(
      runs.every(({ isEnded }) => isEnded),
      where
    )
  })

  it.live("S76 an upload comes to its end when it runs again", () =>
    throughout(
      () => upload,
      nothing,
      ({ exit, folder, isLeft, where }) =>
        Effect.gen(function* () {
          if (Exit.isFailure(exit)) yield* upload
          assert.deepStrictEqual(
            yield* emails,
            people.map(({ email }) => email),
            where
          )
          if (!isLeft) yield* allEnded(folder, where)
        })
    )
  )

  it.live("S76 an upload has recorded all that it did, so that it can be undone", () =>
    throughout(
      () => upload,
      nothing,
      ({ folder, where }) =>
        Effect.gen(function* () {
          yield* undoAll(folder)
          assert.deepStrictEqual(yield* emails, [], where)
        })
    )
  )

  const begun = Effect.scoped(
    Effect.gen(function* () {
      const run = yield* (yield* RunLog).open({ command: "import", input: "file" })
      yield* run.append({ _tag: "Changes", created: [["ann@example.com", "digest"]] })
      return run.isResumed
    })
  )
  it.live("S76 an unfinished run is not forgotten", () =>
    throughout(
      () => begun,
      () => Effect.exit(begun),
      ({ exit, where }) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit)) assert.isTrue(exit.value, where)
        })
    )
  )

  it.live("S76 an undo comes to its end when it runs again", () =>
    throughout(
      undoAll,
      () => upload,
      ({ exit, folder, isLeft, where }) =>
        Effect.gen(function* () {
          if (Exit.isFailure(exit)) yield* undoAll(folder)
          assert.deepStrictEqual(yield* emails, [], where)
          if (!isLeft) yield* allEnded(folder, where)
        })
    )
  )
})
