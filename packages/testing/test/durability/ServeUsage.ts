/** What a serving process uses, according to Linux and to its own heap. */
import { Effect, Schema } from "effect"
import { readdirSync, readFileSync, statSync } from "node:fs"
import type { KillableServe, ServePlace } from "./KillableServe.ts"

const mebibyte = 1024 * 1024

/** What can be seen at any moment. */
export interface Usage {
  readonly rssMiB: number
  readonly descriptors: number
  readonly walMiB: number
}

export const usageOf = ({ pid }: KillableServe, { filename }: ServePlace): Usage => ({
  rssMiB: Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024,
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
  walMiB: (statSync(`${filename}-wal`, { throwIfNoEntry: false })?.size ?? 0) / mebibyte
})

const HeapAnswer = Schema.fromJsonString(
  Schema.Struct({ id: Schema.Int, result: Schema.Struct({ usedSize: Schema.optionalKey(Schema.Finite) }) })
)

/** The inspector did not answer. */
export class NoInspector extends Schema.TaggedError<NoInspector>()("NoInspector", {}) {}

/** Collects the garbage of a process that was started with `inspect`, and gives the MiB in use on its main heap. */
export const settledHeapMiB = (serve: KillableServe): Effect.Effect<number, NoInspector> =>
  Effect.callback<number, NoInspector>((resume) => {
    // The process replaces itself once, and then says so again.
    const address = [...serve.output().matchAll(/^Debugger listening on (ws:\S+)$/gm)].at(-1)?.[1]
    if (address === undefined) return resume(new NoInspector())
    const socket = new WebSocket(address)
    const ask = (id: number, method: string) => socket.send(JSON.stringify({ id, method }))
    // Twice, since finalizers of the first collection free more.
    const methods = ["HeapProfiler.collectGarbage", "HeapProfiler.collectGarbage", "Runtime.getHeapUsage"]
    socket.addEventListener("open", () => ask(0, methods[0] ?? ""))
    socket.addEventListener("error", () => resume(new NoInspector()))
    socket.addEventListener("message", ({ data }) => {
      const { id, result } = Schema.decodeUnknownSync(HeapAnswer)(data)
      const next = methods[id + 1]
      if (next !== undefined) return ask(id + 1, next)
      socket.close()
      return resume(Effect.succeed((result.usedSize ?? 0) / mebibyte))
    })
    return undefined
  })
