/** Runs of the planned writer whose power is lost, again and again, at the moments of their traces. */
import { Effect, FileSystem, Path } from "effect"
import { type Found, lookAt, makeLook, putFiles } from "./FoundStore.ts"
import { type Crash, makeDisk } from "./PowerLoss.ts"
import { traced } from "./Strace.ts"
import { makeOracle } from "./WrittenPlan.ts"

const crashes: ReadonlyArray<Crash> = ["dropped", "kept", "some", "torn"]

/** A checkpoint every few transactions. */
const settings = ["wal_autocheckpoint = 12"]

/** A crash after which something acknowledged was missing, or something was there by halves. */
export interface Loss {
  readonly crash: Crash
  readonly event: number
  readonly done: number
  readonly found: Found
}

export interface WriterRun {
  readonly first: number
  readonly last: number
  readonly end?: "close" | "kill"
  readonly settings?: ReadonlyArray<string>
  readonly inject?: ReadonlyArray<string>
  /** The share of the moments at which the power is lost. */
  readonly share: number
}

/**
 * A store on a disk of its own, on which writers are run one after the other. The disk and the oracle follow them all.
 */
export const powerLossTrial = Effect.fn("powerLossTrial")(function* (options: {
  /** The program of `PlannedWriter.ts`. */
  readonly writer: string
  readonly random: () => number
  /** Asked for some of the crashes whose store is whole, with the file of a copy of that store. */
  readonly reopen?: {
    readonly share: number
    readonly open: (filename: string) => Effect.Effect<void, unknown>
  }
}) {
  const { random, reopen, writer } = options
  const path = yield* Path.Path
  const fileSystem = yield* FileSystem.FileSystem
  const temporary = yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-power-" })
  const folder = path.join(temporary, "store")
  const left = path.join(temporary, "left")
  yield* fileSystem.makeDirectory(folder)
  const disk = makeDisk()
  const oracle = makeOracle()
  const { distinct, look } = makeLook(left)
  const losses: Array<Loss> = []
  let events = 0
  let count = 0
  let reopened = 0

  const check = Effect.fnUntraced(function* (crash: Crash) {
    count++
    const files = disk.crash(crash, random)
    const found = look(files)
    if (!("content" in found) || !oracle.allows(found.content)) {
      losses.push({ crash, event: events, done: oracle.done.length, found })
      return
    }
    if (reopen === undefined || random() >= reopen.share) return
    reopened++
    putFiles(left, files)
    const filename = path.join(left, "roster.db")
    yield* Effect.orDie(reopen.open(filename))
    const after = lookAt(filename)
    if (!("content" in after) || after.content !== found.content) {
      losses.push({ crash, event: events, done: oracle.done.length, found: after })
    }
  })

  const run = Effect.fnUntraced(function* (each: WriterRun) {
    const { end = "close", first, inject, last, share } = each
    const run = yield* traced({
      folder,
      args: [
        writer,
        path.join(folder, "roster.db"),
        String(first),
        String(last),
        end,
        ...settings,
        ...(each.settings ?? [])
      ],
      inject
    })
    for (const event of run.events) {
      events++
      disk.follow(event)
      if (event._tag === "Said") oracle.hear(event.text)
      if (random() < share) yield* Effect.forEach(crashes, check, { discard: true })
    }
    return run
  })

  return {
    run,
    oracle,
    losses,
    filename: path.join(folder, "roster.db"),
    counts: () => ({ count, distinct: distinct(), events, reopened })
  }
})
