/** Running a process under `strace`: what it asked of the file system, in order, and calls that fail at will. */
import { Effect, Schema } from "effect"
import { execFile, execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readTrace, type TraceEvent } from "./SyscallTrace.ts"

/** Whether processes of this machine can be traced: where `strace` is missing, or a sandbox forbids it, they cannot. */
export const canTrace: boolean = (() => {
  try {
    execFileSync("strace", ["-f", "--seccomp-bpf", "-e", "trace=fsync", "-o", "/dev/null", "true"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

export interface Traced {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly events: ReadonlyArray<TraceEvent>
}

/** The process could not be run. */
export class TraceFailed extends Schema.TaggedError<TraceFailed>()("TraceFailed", { cause: Schema.Defect() }) {}

const calls = "openat,write,pwrite64,pwritev,fsync,fdatasync,ftruncate,unlink,unlinkat,rename,link,linkat,fallocate"

/** Every call that changes a file, whole, all text as hexadecimal digits. */
const straceArguments = `-f --seccomp-bpf -y -xx -s 1000000 -e trace=${calls}`.split(" ")

/**
 * Runs a script of node until it ends, and gives what it did to the files of a folder. `inject` holds rules of strace,
 * such as `fsync:error=EIO:when=5+`.
 */
export const traced = Effect.fn("traced")(function* (options: {
  /** Where the trace is kept, and whose files are looked at. */
  readonly folder: string
  readonly args: ReadonlyArray<string>
  readonly inject?: ReadonlyArray<string> | undefined
}) {
  const { args, folder, inject = [] } = options
  const output = join(folder, "strace.log")
  return yield* Effect.callback<Traced, TraceFailed>((resume) => {
    const rules = inject.flatMap((rule) => ["-e", `inject=${rule}`])
    const command = [...straceArguments, "-o", output, ...rules, process.execPath, ...args]
    const child = execFile("strace", command, { maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : error.signal === "SIGKILL" ? 128 + 9 : error.code
      resume(
        typeof exitCode === "number"
          ? Effect.sync(() => ({ exitCode, stdout, stderr, events: readTrace(readFileSync(output, "latin1"), folder) }))
          : new TraceFailed({ cause: error })
      )
    })
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
})
