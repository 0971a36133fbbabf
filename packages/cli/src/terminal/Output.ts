/** The two channels: results alone on stdout, messages for people on stderr. */
import { Context, Effect, Layer, PlatformError, Stdio, Stream } from "effect"
import { outputFlags, outputFormat, type OutputFormat } from "./OutputFlags.ts"
import { jsonText, printableLines } from "./Printable.ts"
import { wrapped } from "./Wrapping.ts"

export class Output extends Context.Service<
  Output,
  {
    readonly format: OutputFormat
    /** Whether the result goes to a terminal. */
    readonly isTerminal: boolean
    /** Columns of that terminal for tables, without limit with `--wide`; `undefined` elsewhere. */
    readonly width: number | undefined
    /** Columns of the terminal that messages go to; `undefined` elsewhere. */
    readonly noteWidth?: number | undefined
    /** Writes a part of the result, as fast as the reader takes it, and ends when the bytes have left this process. */
    readonly write: <E, R>(
      part: Stream.Stream<string | Uint8Array, E, R>
    ) => Effect.Effect<void, E | PlatformError.PlatformError, R>
    /** Writes lines to stderr, or a line of JSON if that is asked for, unless `--quiet` is set. A closed stderr is ignored. */
    readonly note: (words: string) => Effect.Effect<void>
    /** Writes such a line of which service or store the command works on, also with `--quiet`: it may be a mistake. */
    readonly noteTarget: (words: string) => Effect.Effect<void>
    /** Writes a question to stderr; the cursor stays on its line. */
    readonly ask: (question: string) => Effect.Effect<void>
    /** Writes a line to stderr as it is, also with `--quiet`. */
    readonly noteExactly: (line: string) => Effect.Effect<void>
  }
>()("@roster/cli/Output") {}

/** Waits for each write: a closed pipe or a full disk is reported only then, and must not look like success. */
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

/** Yields to timers and signals, which a local store never does: two immediates pass all phases of the event loop. */
export const turn = Effect.callback<void>((resume) => {
  setImmediate(() => setImmediate(() => resume(Effect.void)))
})

/** A note as words, or as `{"note"}` where JSON was asked for: without a terminal people read standard error as well. */
export const noteText = (requestedFormat: OutputFormat | undefined, words: string, width?: number): string =>
  requestedFormat === "json" || requestedFormat === "ndjson"
    ? jsonText({ note: words })
    : wrapped(printableLines(words), width)

export const layer = Layer.effect(
  Output,
  Effect.gen(function* () {
    const stdio = yield* Stdio.Stdio
    const { requestedFormat, isQuiet, isWide } = outputFlags(yield* stdio.args)
    const isTerminal = yield* stdio.stdoutIsTerminal
    const writeOut = writeTo(process.stdout, "stdout")
    const writeError = writeTo(process.stderr, "stderr")
    const say = (text: string) => Effect.ignore(writeError(text))
    // A terminal of 0 columns does not know how wide it is.
    const noteWidth = process.stderr.isTTY ? process.stderr.columns || undefined : undefined
    const noteTarget = (words: string) => say(`${noteText(requestedFormat, words, noteWidth)}\n`)
    return Output.of({
      format: outputFormat(requestedFormat, isTerminal),
      isTerminal,
      noteWidth,
      width: isWide ? Number.POSITIVE_INFINITY : isTerminal ? process.stdout.columns || undefined : undefined,
      write: (part) => Effect.andThen(turn, Stream.runForEach(part, writeOut)),
      note: (words) => (isQuiet ? Effect.void : noteTarget(words)),
      noteTarget,
      ask: (question) => say(`${wrapped(printableLines(question), noteWidth)} `),
      noteExactly: (line) => say(`${line}\n`)
    })
  })
)

/** How a command ended, other than by success. */
export interface CommandEnd {
  readonly code: string
  readonly message: string
  readonly hint: string
  /** The command line that resumes interrupted work. */
  readonly resume: string | undefined
  /** The run that recorded changes. */
  readonly run?: string | undefined
  /** The command line that undoes it. */
  readonly undo?: string | undefined
  /** The id that the service gave to the request that failed. */
  readonly requestId?: string | undefined
}

/** Writes the end of a command to stderr, also with `--quiet`: one line of JSON for programs, or text. */
export const report = Effect.fnUntraced(function* (end: CommandEnd, words: string) {
  const { format, noteExactly, noteWidth } = yield* Output
  const isJson = format === "json" || format === "ndjson"
  yield* noteExactly(isJson ? jsonText(end) : wrapped(printableLines(words), noteWidth))
})
