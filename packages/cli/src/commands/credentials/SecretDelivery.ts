/** Delivers a new secret to a file, a command or standard output, which is checked before anything is created. */
import { Data, Effect, Fiber, type FileSystem, Redacted, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { text } from "../../settings/FlagForms.ts"
import { outFile } from "../shared/CommonFlags.ts"
import { Output } from "../../terminal/Output.ts"
import { prepare } from "../../files/AtomicFile.ts"
import * as Results from "../../terminal/Results.ts"

export const secretFlags = {
  out: outFile("Write the new secret to FILE, replacing its content (default: print it with the record)"),
  exec: text(
    "exec",
    "Pass the new secret to this command on stdin, without a line break at its end; exit code 0 means that it was stored",
    "CMD"
  )
}

/** The command of `--exec` did not take the new secret, which was discarded. The old one still works. */
export class NotDelivered extends Schema.TaggedError<NotDelivered>()("NotDelivered", { message: Schema.String }) {}

/** A command that was given a secret did not end with 0. */
class CommandFailed extends Data.TaggedError("CommandFailed")<{ readonly message: string }> {}

/** How long the rest of what a command printed may take to arrive after its end. */
const lastWords = "1 second"

/**
 * Passes the secret on stdin, since others can see command lines and environments. A line break at its end would be kept by a
 * command that stores what it reads. Its output goes to stderr.
 */
const give = Effect.fnUntraced(function* (commandLine: string, content: Redacted.Redacted<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const output = yield* Output
  const command = ChildProcess.make(commandLine, {
    shell: true,
    stdin: Stream.make(new TextEncoder().encode(Redacted.value(content).replace(/\n$/, ""))),
    stderr: "inherit"
  })
  const code = yield* Effect.scoped(
    Effect.gen(function* () {
      const handle = yield* spawner.spawn(command)
      const lines = yield* handle.stdout.pipe(
        Stream.decodeText(),
        Stream.splitLines,
        Stream.runForEach(output.note),
        Effect.forkScoped
      )
      const code = yield* handle.exitCode
      // A process that it left behind may hold its output open.
      yield* Effect.timeoutOption(Fiber.join(lines), lastWords)
      return code
    })
  ).pipe(Effect.mapError(() => new CommandFailed({ message: `The command could not be run: ${commandLine}` })))
  if (code !== 0) return yield* new CommandFailed({ message: `The command ended with ${code}: ${commandLine}` })
})

/** Prepares the check of a secret that was delivered, by a command. */
export const secretVerification = Effect.fnUntraced(function* <New>(
  commandLine: string,
  content: (credential: New) => Redacted.Redacted<string>
) {
  const context = yield* Effect.context<Output | ChildProcessSpawner.ChildProcessSpawner>()
  return (credential: New) => Effect.provideContext(give(commandLine, content(credential)), context)
})

/** Prepares the delivery, and returns the function that delivers; `content` makes the text for a file or a command. */
export const secretDelivery = Effect.fnUntraced(function* <New>(
  { exec, out }: { readonly out: string | undefined; readonly exec: string | undefined },
  schema: Schema.Codec<New, unknown>,
  content: (credential: New) => Redacted.Redacted<string>
) {
  const context = yield* Effect.context<Output | ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem>()
  const write = out === undefined ? undefined : yield* prepare(out, { force: true })
  return Effect.fnUntraced(function* (credential: New) {
    if (write !== undefined) {
      yield* write(Stream.sync(() => new TextEncoder().encode(Redacted.value(content(credential)))))
    } else if (exec !== undefined) {
      yield* Effect.mapError(
        give(exec, content(credential)),
        ({ message }) => new NotDelivered({ message: `The new secret was not delivered. ${message}` })
      )
    } else {
      const output = yield* Output
      yield* Results.record(schema, credential)
      if (output.format === "table") yield* output.note("The Token above is shown only once. Save it now.")
    }
  }, Effect.provideContext(context))
})
