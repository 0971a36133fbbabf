/**
 * The two channels: results on stdout and nothing else, words on stderr.
 */
import { Context, Effect, Layer, PlatformError, Stdio, Stream } from "effect"
import { outputFormat, type OutputFormat } from "./Invocation.ts"
import { printableLines } from "./Printable.ts"

/**
 * @category services
 * @since 0.1.0
 */
export class Output extends Context.Service<
  Output,
  {
    readonly format: OutputFormat
    /** Whether a person sees what goes to stdout. */
    readonly isTerminal: boolean
    /** Writes a part of the result, as fast as the reader takes it. When it ends, the bytes have left this process. */
    readonly write: <E, R>(
      part: Stream.Stream<string | Uint8Array, E, R>
    ) => Effect.Effect<void, E | PlatformError.PlatformError, R>
    /** A line or more of words. Whether anybody reads them does not matter to the command. */
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
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.effect(
  Output,
  Effect.gen(function* () {
    const stdio = yield* Stdio.Stdio
    const isTerminal = yield* stdio.stdoutIsTerminal
    const writeOut = writeTo(process.stdout, "stdout")
    const writeError = writeTo(process.stderr, "stderr")
    const say = (text: string) => Effect.ignore(writeError(text))
    return Output.of({
      format: outputFormat(yield* stdio.args, isTerminal),
      isTerminal,
      write: (part) => Stream.runForEach(part, writeOut),
      note: (words) => say(`${printableLines(words)}\n`),
      ask: (question) => say(`${printableLines(question)} `),
      noteExactly: (line) => say(`${line}\n`)
    })
  })
)
