/**
 * What strace writes (`-f -y -xx`), as the changes that were made to the files of a folder, and what was said on stdout
 * meanwhile.
 */
import { Data } from "effect"

export type TraceEvent = Data.TaggedEnum<{
  Create: { readonly path: string }
  Write: { readonly path: string; readonly at: number; readonly bytes: Buffer }
  Truncate: { readonly path: string; readonly size: number }
  /** Where it failed, what had been written may or may not be on the disk, and a later one says nothing about it. */
  Sync: { readonly path: string; readonly ok: boolean }
  Link: { readonly from: string; readonly to: string }
  Rename: { readonly from: string; readonly to: string }
  Unlink: { readonly path: string }
  Said: { readonly text: string }
}>

export const TraceEvent = Data.taggedEnum<TraceEvent>()

const fromHex = (text: string): Buffer => Buffer.from(text.replaceAll("\\x", ""), "hex")

/** Descriptors as `5<path>` and texts as `"..."`, all in hexadecimal digits; anything else as it is. */
// oxlint-disable-next-line roster/linear-expressions -- of a call of our own process
const argument = /(\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})*)[^>]*>|"((?:\\x[0-9a-f]{2})*)"(\.{3})?|([^,\s][^,]*)/g

interface Call {
  readonly name: string
  /** The path of the first descriptor. */
  readonly path: string
  readonly descriptor: string
  readonly texts: ReadonlyArray<Buffer>
  readonly rest: ReadonlyArray<string>
  readonly result: number
}

const readCall = (line: string): Call | undefined => {
  const [, name, text, result] = /^(\w+)\((.*)\)\s+= (-?\d+)/s.exec(line) ?? []
  if (name === undefined || text === undefined) return undefined
  let path: string | undefined
  let descriptor = ""
  const texts: Array<Buffer> = []
  const rest: Array<string> = []
  for (const [, number, where, string, cut, other] of text.matchAll(argument)) {
    if (cut !== undefined) throw new Error(`strace cut a text of ${name}: -s is too small`)
    if (where !== undefined) {
      path ??= fromHex(where).toString()
      descriptor ||= number ?? ""
    } else if (string !== undefined) texts.push(fromHex(string))
    else if (other !== undefined) rest.push(other.trim())
  }
  return { name, path: path ?? "", descriptor, texts, rest, result: Number(result) }
}

const eventOf = ({ descriptor, name, path, rest, result, texts }: Call): TraceEvent | undefined => {
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = texts
  if (name === "fsync" || name === "fdatasync") return TraceEvent.Sync({ path, ok: result === 0 })
  if (result < 0) return undefined
  switch (name) {
    case "openat": {
      const flags = rest[0] ?? ""
      if (flags.includes("O_TRUNC") && !flags.includes("O_EXCL"))
        throw new Error(`${first.toString()} was opened to be emptied`)
      return flags.includes("O_CREAT") ? TraceEvent.Create({ path: first.toString() }) : undefined
    }
    case "pwrite64":
      return TraceEvent.Write({ path, at: Number(rest[1]), bytes: first.subarray(0, result) })
    case "ftruncate":
      return TraceEvent.Truncate({ path, size: Number(rest[0]) })
    case "unlink":
      return TraceEvent.Unlink({ path: first.toString() })
    case "link":
      return TraceEvent.Link({ from: first.toString(), to: second.toString() })
    case "rename":
      return TraceEvent.Rename({ from: first.toString(), to: second.toString() })
    case "write":
      if (descriptor === "1") return TraceEvent.Said({ text: first.toString() })
  }
  throw new Error(`the replay does not know ${name} of ${path || first.toString()}`)
}

/** The lines of a trace, with a call that another thread broke into in one piece, at the place where it ended. */
const wholeLines = function* (trace: string): Generator<string> {
  const begun = new Map<string, string>()
  for (const line of trace.split("\n")) {
    const [, thread = "", call = ""] = /^(\d+)\s+(.*)/s.exec(line) ?? []
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(call)
    if (call.endsWith("<unfinished ...>")) begun.set(thread, call.slice(0, -"<unfinished ...>".length))
    else if (resumed !== null) yield `${begun.get(thread) ?? ""}${resumed[1]}`
    else yield call
  }
}

const byDescriptor = new Set(["write", "pwrite64", "pwritev", "fsync", "fdatasync", "ftruncate", "fallocate"])

/** The memory that the connections of a WAL share means nothing after a crash. */
const isShared = (path: string): boolean => path.endsWith("-shm")

/** The changes to the files of a folder, in order. Any call that is not known for one of them is an error. */
export const readTrace = (trace: string, folder: string): ReadonlyArray<TraceEvent> => {
  const events: Array<TraceEvent> = []
  for (const line of wholeLines(trace)) {
    const call = readCall(line)
    if (call === undefined) continue
    const isSaid = call.name === "write" && call.descriptor === "1"
    const paths = byDescriptor.has(call.name) ? [call.path] : call.texts.map((text) => text.toString())
    const isOurs = paths.some((path) => path === folder || (path.startsWith(`${folder}/`) && !isShared(path)))
    if (!isSaid && !isOurs) continue
    const event = eventOf(call)
    if (event !== undefined) events.push(event)
  }
  return events
}
