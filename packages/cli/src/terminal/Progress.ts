/**
 * Progress on stderr: a bar on a terminal, a line every ten seconds elsewhere, with `--progress plain` and on a terminal that
 * moves no cursor (`TERM=dumb`), nothing with `--progress none` and `--quiet`.
 */
import { Clock, Config, Effect, Fiber, Stdio, Stream } from "effect"
import { outputFlags } from "./OutputFlags.ts"
import { Output, turn } from "./Output.ts"
import { countText } from "./Printable.ts"

/** The work, as in "Importing" and "rows". */
export interface Work {
  readonly doing: string
  readonly unit: string
  /** Number of units in all, if known. */
  readonly total?: number | undefined
  /** Number of units that an earlier run has done (default: 0). */
  readonly from?: number | undefined
}

const redraw = "100 millis"
const linesEvery = "10 seconds"
const barWidth = 12

const timeText = (seconds: number): string => {
  const whole = Math.ceil(seconds)
  const parts = whole < 3600 ? [Math.floor(whole / 60)] : [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const [first, ...rest] = [...parts, whole % 60]
  return [first, ...rest.map((part) => String(part).padStart(2, "0"))].join(":")
}

/** The line of progress at one moment. */
export const progressText = (
  { doing, from = 0, total, unit }: Work,
  done: number,
  seconds: number,
  bar: boolean
): string => {
  const rate = seconds > 0 ? (done - from) / seconds : 0
  const share = total === undefined || total === 0 ? undefined : Math.min(1, done / total)
  const filled = Math.floor((share ?? 0) * barWidth)
  return [
    share === undefined || !bar ? `${doing}:` : `${doing} [${"#".repeat(filled)}${"-".repeat(barWidth - filled)}]`,
    ...(share === undefined ? [] : [`${Math.floor(share * 100)}%`]),
    total === undefined ? `${countText(done)} ${unit}` : `${countText(done)} of ${countText(total)} ${unit}`,
    ...(rate >= 1 ? [`${countText(rate)}/s`] : []),
    ...(total === undefined || rate <= 0 || done >= total ? [] : [`${timeText((total - done) / rate)} left`])
  ].join("  ")
}

/** Shows the progress that work reports with the function that it is given. */
export const withProgress = Effect.fnUntraced(function* <A, E, R>(
  work: Work,
  use: (update: (done: number) => Effect.Effect<void>) => Effect.Effect<A, E, R>
) {
  const stdio = yield* Stdio.Stdio
  const output = yield* Output
  const args = yield* stdio.args
  const terminal = yield* Effect.orElseSucceed(Config.String("TERM"), () => "")
  const { isQuiet, progress } = outputFlags(args)
  const form = isQuiet ? "none" : progress
  const isTerminal = form !== "plain" && terminal !== "dumb" && (yield* stdio.stderrIsTerminal)
  const began = yield* Clock.currentTimeMillis
  let done = work.from ?? 0
  const update = (now: number) =>
    Effect.suspend(() => {
      done = now
      return turn
    })
  const working = use(update)
  if (form === "none") return yield* working

  const text = Effect.map(Clock.currentTimeMillis, (now) => progressText(work, done, (now - began) / 1000, isTerminal))
  const write = (text: string) => Effect.ignore(Stream.run(Stream.make(text), stdio.stderr({ endOnDone: false })))
  const draw = Effect.flatMap(text, (line) => write(`\r${line.slice(0, (process.stderr.columns || 80) - 1)}\u001b[K`))
  const show = isTerminal
    ? Effect.andThen(Effect.sleep(redraw), draw)
    : Effect.andThen(Effect.sleep(linesEvery), Effect.flatMap(text, output.note))
  const drawing = yield* Effect.forkChild(Effect.forever(show))
  return yield* Effect.ensuring(
    working,
    Effect.andThen(Fiber.interrupt(drawing), isTerminal ? write("\r\u001b[K") : Effect.void)
  )
})
