/**
 * A disk that loses its power: the files of a trace as they may be found afterwards. What was synced is there. Of what
 * was written since, and of what was written before a sync that failed, nobody can say: none of it, all of it, some of
 * it, or a write that was torn between two sectors. That names are where they were put is taken for granted, as SQLite
 * syncs the folder after it made a file.
 */
import { TraceEvent } from "./SyscallTrace.ts"

/** What is found of the writes that were not synced. */
export type Crash = "dropped" | "kept" | "some" | "torn"

/** The files that are found, by path. */
export type FoundFiles = ReadonlyMap<string, Buffer>

/** Writes that are torn are torn here: what lies within goes to the disk whole or not at all. */
const sector = 512

type Change = Extract<TraceEvent, { readonly _tag: "Truncate" | "Write" }>

interface Written {
  readonly change: Change
  state: "open" | "synced" | "doubtful"
}

interface File {
  /** What is on the disk for certain, but for the changes. */
  synced: Buffer
  changes: Array<Written>
}

const lengthAfter = (change: Change): number =>
  change._tag === "Truncate" ? change.size : change.at + change.bytes.length

const changed = (content: Buffer, changes: ReadonlyArray<Change>): Buffer => {
  const bytes = Buffer.alloc(changes.reduce((size, change) => Math.max(size, lengthAfter(change)), content.length))
  content.copy(bytes)
  let size = content.length
  for (const change of changes) {
    if (change._tag === "Write") {
      change.bytes.copy(bytes, change.at)
      size = Math.max(size, lengthAfter(change))
    } else {
      // Should the file grow again, there are zeros where it was cut off.
      bytes.fill(0, change.size)
      size = change.size
    }
  }
  return bytes.subarray(0, size)
}

/** The part of a write before the boundary of some sector in it. */
const torn = (change: Change, random: () => number): Change => {
  if (change._tag === "Truncate") return change
  const { at, bytes } = change
  const first = Math.floor(at / sector) + 1
  const boundaries = Math.ceil((at + bytes.length) / sector) - first
  const end = (first + Math.floor(random() * Math.max(1, boundaries))) * sector
  return TraceEvent.Write({ ...change, bytes: bytes.subarray(0, Math.min(bytes.length, end - at)) })
}

const found = ({ changes, synced }: File, crash: Crash, random: () => number): Buffer => {
  const last = changes.findLast(({ state }) => state !== "synced")
  const kept: Array<Change> = []
  for (const written of changes) {
    const { change, state } = written
    if (state === "synced" || crash === "kept") kept.push(change)
    else if (crash === "torn" && written === last) kept.push(torn(change, random))
    else if (crash !== "dropped" && random() < 0.5) kept.push(change)
  }
  return changed(synced, kept)
}

/** A disk that starts empty and follows a trace. */
export const makeDisk = () => {
  const files = new Map<string, File>()

  const create = (path: string): File => {
    const file: File = { synced: Buffer.alloc(0), changes: [] }
    files.set(path, file)
    return file
  }

  const fileAt = (path: string): File => files.get(path) ?? create(path)

  const sync = (file: File, ok: boolean) => {
    for (const written of file.changes) if (written.state === "open") written.state = ok ? "synced" : "doubtful"
    // Later writes cover earlier ones, so the order has to stand as long as there is a doubt.
    if (file.changes.some(({ state }) => state !== "synced")) return
    file.synced = changed(
      file.synced,
      file.changes.map(({ change }) => change)
    )
    file.changes = []
  }

  const write = (change: Change) => fileAt(change.path).changes.push({ change, state: "open" })

  return {
    /** Follows the trace by one event. */
    follow: TraceEvent.$match({
      Create: ({ path }) => void fileAt(path),
      Write: (change) => void write(change),
      Truncate: (change) => void write(change),
      Sync: ({ ok, path }) => {
        const file = files.get(path)
        if (file !== undefined) sync(file, ok)
      },
      Link: ({ from, to }) => void files.set(to, fileAt(from)),
      Rename: ({ from, to }) => {
        files.set(to, fileAt(from))
        files.delete(from)
      },
      Unlink: ({ path }) => void files.delete(path),
      Said: () => {}
    }),
    /** The files after the power was lost here. */
    crash: (crash: Crash, random: () => number): FoundFiles =>
      new Map([...files].map(([path, file]) => [path, found(file, crash, random)])),
    /** How many writes nobody can say anything about. */
    unsynced: () =>
      [...files.values()].reduce(
        (sum, { changes }) => sum + changes.filter(({ state }) => state !== "synced").length,
        0
      )
  }
}
