/**
 * A key that a command of the user prints: the bridge to password managers and keychains.
 */
import { Effect, Redacted, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { usageError } from "../errors/UsageError.ts"

/** Runs the command line in a shell. What it says on stderr is shown, what it prints is the key. */
export const keyFromCommand = Effect.fnUntraced(function* (commandLine: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const command = ChildProcess.make(commandLine, { shell: true, stdin: "inherit", stderr: "inherit" })
  const refused = usageError(
    "The credential command of the profile printed no key.",
    `Run it yourself to see why: ${commandLine}`
  )
  const output = yield* Effect.scoped(
    Effect.gen(function* () {
      const handle = yield* spawner.spawn(command)
      const [text, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.stdout)), handle.exitCode], {
        concurrency: 2
      })
      return code === 0 ? text.trim() : ""
    })
  ).pipe(Effect.mapError(() => refused))
  return output === "" ? yield* refused : Redacted.make(output, { label: "apiKey" })
})
