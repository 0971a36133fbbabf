import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, Layer, Sink, Stdio } from "effect"
import { TestClock } from "effect/testing"
import { Output } from "../../src/terminal/Output.ts"
import { progressText, withProgress } from "../../src/terminal/Progress.ts"

/** Runs work that says how far it is when the test does, and keeps what was written. */
const watched = Effect.fnUntraced(function* (options: {
  readonly isTerminal: boolean
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
}) {
  const lines: Array<string> = []
  const drawn: Array<string> = []
  const note = (words: string) => Effect.sync(() => lines.push(words))
  const layer = Layer.mergeAll(
    ConfigProvider.layer(ConfigProvider.fromEnv({ env: options.env ?? {} })),
    Layer.succeed(
      Output,
      Output.of({
        format: "json",
        isTerminal: false,
        width: undefined,
        write: () => Effect.die("stdout is for results"),
        note,
        noteTarget: note,
        ask: note,
        noteExactly: note
      })
    ),
    Stdio.layerTest({
      args: Effect.succeed(options.args ?? []),
      stderrIsTerminal: Effect.succeed(options.isTerminal),
      stderr: () => Sink.forEach((part) => Effect.sync(() => drawn.push(String(part))))
    })
  )
  const over = yield* Deferred.make<void>()
  const ready = yield* Deferred.make<(done: number) => Effect.Effect<void>>()
  const running = yield* withProgress({ doing: "Importing", unit: "rows", total: 200, from: 100 }, (update) =>
    Effect.andThen(Deferred.succeed(ready, update), Deferred.await(over))
  ).pipe(Effect.provide(layer), Effect.forkChild)
  return {
    lines,
    drawn,
    update: yield* Deferred.await(ready),
    end: Effect.andThen(Deferred.succeed(over, undefined), Fiber.join(running))
  }
})

describe("withProgress", () => {
  it.effect("prints a plain line every ten seconds without a terminal", () =>
    Effect.gen(function* () {
      const { drawn, end, lines, update } = yield* watched({ isTerminal: false })
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(lines, [])
      yield* update(150)
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(lines, ["Importing:  75%  150 of 200 rows  5/s  0:10 left"])
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(lines.length, 3)
      yield* end
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([lines.length, drawn], [3, []])
    })
  )

  it.effect("redraws one line on a terminal, ten times a second at most, and leaves nothing", () =>
    Effect.gen(function* () {
      const { drawn, end, lines, update } = yield* watched({ isTerminal: true })
      for (let done = 100; done < 200; done++) {
        yield* update(done)
        yield* TestClock.adjust("10 millis")
      }
      assert.strictEqual(drawn.length, 10)
      assert.strictEqual(drawn.at(-1), "\rImporting [###########-]  99%  199 of 200 rows  99/s  0:01 left\u001b[K")
      yield* end
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([drawn.length, drawn.at(-1), lines], [11, "\r\u001b[K", []])
    })
  )

  it.effect("prints plain lines on a terminal that is dumb, and where that is asked for", () =>
    Effect.gen(function* () {
      for (const options of [{ env: { TERM: "dumb" } }, { args: ["--progress", "plain"] }]) {
        const { drawn, end, lines, update } = yield* watched({ isTerminal: true, ...options })
        yield* update(150)
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(lines, ["Importing:  75%  150 of 200 rows  5/s  0:10 left"])
        yield* end
        assert.deepStrictEqual(drawn, [])
      }
    })
  )

  it.effect("prints nothing with --quiet or --progress none", () =>
    Effect.gen(function* () {
      for (const args of [["-q"], ["contacts", "--quiet"], ["--progress=none"]]) {
        const { drawn, end, lines, update } = yield* watched({ isTerminal: true, args })
        yield* update(150)
        yield* TestClock.adjust("1 minute")
        yield* end
        assert.deepStrictEqual([drawn, lines], [[], []])
      }
    })
  )
})

describe("progressText", () => {
  it("prints only what is known", () => {
    assert.strictEqual(
      progressText({ doing: "Reading", unit: "rows" }, 1_234_567, 10, true),
      "Reading:  1,234,567 rows  123,456/s"
    )
    assert.strictEqual(progressText({ doing: "Reading", unit: "rows" }, 0, 0, true), "Reading:  0 rows")
    assert.strictEqual(
      progressText({ doing: "Importing", unit: "rows", total: 4_000_000 }, 400_000, 1000, false),
      "Importing:  10%  400,000 of 4,000,000 rows  400/s  2:30:00 left"
    )
    assert.strictEqual(
      progressText({ doing: "Importing", unit: "rows", total: 0 }, 0, 1, true),
      "Importing:  0 of 0 rows"
    )
  })
})
