/**
 * The two channels: results on stdout and nothing else, words on stderr.
 */
import { Context, Effect, Layer, PlatformError, Stdio, Stream } from "effect"
import { isQuiet, outputFormat, type OutputFormat } from "./OutputFlags.ts"
import { printableLines } from "./Printable.ts"

export class Output extends Context.Service<
  Output,
  {
    readonly format: OutputFormat
    /** Whether a person sees what goes to stdout. */
    readonly isTerminal: boolean
    /** How many characters fit into a line of that terminal; nothing limits a line elsewhere. */
    readonly width: number | undefined
    /** Writes a part of the result, as fast as the reader takes it. When it ends, the bytes have left this process. */
    readonly write: <E, R>(
      part: Stream.Stream<string | Uint8Array, E, R>
    ) => Effect.Effect<void, E | PlatformError.PlatformError, R>
    /** A line or more of words, but for `--quiet`. Whether anybody reads them does not matter to the command. */
    readonly note: (words: string) => Effect.Effect<void>
    /** A question, after which the cursor stays on the line. */
    readonly ask: (question: string) => Effect.Effect<void>
    /** Words that are a program's to read, as they are. */
    readonly noteExactly: (line: string) => Effect.Effect<void>
  }
>()("@roster/cli/Output") {}

/** Waits for each write: a closed pipe or a full disk shows itself only then, and must not look like success. */
const writeTo = (stream: NodeJS.WriteStream, method: string) => (part: string | Uint8Array) =>
  Effect.callback<void, PlatformError.PlatformError>((resume) => {
    stream.write(part, (cause) => {
      resume(
        cause
          ? Effect.fail(
              PlatformError.systemError({
                _tag: "Unknown",
                module: "Output",
                method,
                description: cause.message,
                cause
              })
            )
          : Effect.void
      )
    })
  })

/**
 * Lets what has happened meanwhile be heard: the work of a local store takes no turn, and a result ends a command in time.
 * From one round of immediates to the next Node looks at its timers and at signals.
 */
const heard = Effect.callback<void>((resume) => {
  setImmediate(() => setImmediate(() => resume(Effect.void)))
})

export const layer = Layer.effect(
  Output,
  Effect.gen(function* () {
    const stdio = yield* Stdio.Stdio
    const args = yield* stdio.args
    const isTerminal = yield* stdio.stdoutIsTerminal
    const writeOut = writeTo(process.stdout, "stdout")
    const writeError = writeTo(process.stderr, "stderr")
    const say = (text: string) => Effect.ignore(writeError(text))
    return Output.of({
      format: outputFormat(args, isTerminal),
      isTerminal,
      width: isTerminal ? process.stdout.columns : undefined,
      write: (part) => Effect.andThen(heard, Stream.runForEach(part, writeOut)),
      note: (words) => (isQuiet(args) ? Effect.void : say(`${printableLines(words)}\n`)),
      ask: (question) => say(`${printableLines(question)} `),
      noteExactly: (line) => say(`${line}\n`)
    })
  })
)
