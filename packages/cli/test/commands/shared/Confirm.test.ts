import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stdio, Terminal } from "effect"
import { confirm } from "../../../src/commands/shared/Confirm.ts"
import * as GlobalFlags from "../../../src/settings/GlobalFlags.ts"
import { Output } from "../../../src/terminal/Output.ts"
import { Target } from "../../../src/target/Target.ts"

/** A terminal on which somebody types an answer, or ends the input. */
const terminal = (answer: string | undefined) =>
  Layer.succeed(
    Terminal.Terminal,
    Terminal.make({
      columns: Effect.succeed(80),
      rows: Effect.succeed(24),
      size: Effect.die("unused"),
      readInput: Effect.die("unused"),
      readLine: answer === undefined ? Effect.fail(new Terminal.QuitError({})) : Effect.succeed(answer),
      display: () => Effect.die("stdout is for results")
    })
  )

const ask = (options: {
  readonly answer?: string | undefined
  readonly isTerminal?: boolean
  readonly noInput?: boolean
  readonly yes?: boolean
}) => {
  const { answer, isTerminal = true, noInput = false, yes = false } = options
  const asked: Array<string> = []
  const nothing = () => Effect.die("unused")
  const output = Output.of({
    format: "table",
    isTerminal,
    width: undefined,
    write: nothing,
    note: nothing,
    noteTarget: nothing,
    noteExactly: nothing,
    ask: (question) => Effect.sync(() => asked.push(question))
  })
  const layer = Layer.mergeAll(
    terminal(answer),
    Stdio.layerTest({ stdinIsTerminal: Effect.succeed(isTerminal), stderrIsTerminal: Effect.succeed(isTerminal) }),
    Layer.succeed(Output, output),
    Layer.succeed(GlobalFlags.noInput, noInput),
    Layer.succeed(Target, { name: "[local] store.db" })
  )
  return confirm("delete ann@example.com", { yes }).pipe(
    Effect.as("agreed"),
    Effect.catch((error) => Effect.succeed(error.hint ?? error._tag)),
    Effect.map((outcome) => ({ outcome, asked })),
    Effect.provide(layer)
  )
}

/** Whoever is asked needs no flag for those who are not. */
const again = "To do it, run the command again and answer y."

describe("confirm", () => {
  it.effect.each([
    ["y", "agreed"],
    ["yes", "agreed"],
    [" Y ", "agreed"],
    ["", again],
    ["n", again],
    ["yeah", again],
    [undefined, again]
  ] as const)("takes %j for %s", ([answer, expected]) =>
    Effect.gen(function* () {
      const { asked, outcome } = yield* ask({ answer })
      assert.strictEqual(outcome, expected)
      assert.deepStrictEqual(asked, ["[local] store.db: delete ann@example.com? [y/N]"])
    })
  )

  it.effect("does not ask where the answer is given", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask({ yes: true }), { outcome: "agreed", asked: [] })
      assert.deepStrictEqual(yield* ask({ yes: true, isTerminal: false }), { outcome: "agreed", asked: [] })
    })
  )

  it.effect("declines without a terminal", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask({ answer: "y", isTerminal: false }), { outcome: "Declined", asked: [] })
      assert.deepStrictEqual(yield* ask({ answer: "y", noInput: true }), { outcome: "Declined", asked: [] })
    })
  )
})
