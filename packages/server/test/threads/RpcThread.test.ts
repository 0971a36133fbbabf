import { assert, describe, it } from "@effect/vitest"
import { Cause, type Duration, Effect, Exit, Logger, Option } from "effect"
import * as RpcThread from "../../src/threads/RpcThread.ts"
import { Counting } from "./Counting.ts"

const entry = new URL("./countingEntry.ts", import.meta.url)

const thread = Effect.fnUntraced(function* (idleTime: Duration.Input) {
  const ends: Array<string> = []
  const onEnd = ({ number }: { readonly number: number }, hasDied: boolean) =>
    Effect.sync(() => ends.push(`${number} ${hasDied ? "died" : "ended"}`))
  let number = 0
  const use = yield* RpcThread.make(
    {
      entry,
      name: "test",
      calls: Counting,
      data: Effect.sync(() => ({ number: ++number })),
      maxOldGenerationSizeMb: 64,
      onEnd
    },
    idleTime
  )
  return { use, ends, started: () => number }
})

const waitFor = (condition: () => boolean) =>
  Effect.yieldNow.pipe(Effect.delay("5 millis"), Effect.repeat({ until: condition }), Effect.timeout("2 minutes"))

describe("RpcThread", () => {
  it.live("starts for the first call, serves others, and sends its log", () =>
    Effect.gen(function* () {
      const entries: Array<string> = []
      const log = Logger.make(({ message }) => void entries.push([message].flat().join(" ")))
      yield* Effect.gen(function* () {
        const { ends, started, use } = yield* thread("1 hour")
        assert.strictEqual(started(), 0)
        const counts = yield* Effect.all([use(({ client }) => client.Count()), use(({ client }) => client.Count())], {
          concurrency: 2
        })
        assert.sameMembers(counts, [1, 2])
        assert.deepStrictEqual(yield* use(({ client }) => client.Fill(3)), Float64Array.of(1, 1, 1))
        const exit = yield* Effect.exit(use(({ client }) => client.Throw()))
        assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "only this call")
        assert.strictEqual(yield* use(({ client }) => client.Count()), 3)
        yield* waitFor(() => entries.length === 3)
        assert.deepStrictEqual([started(), ends], [1, []])
      }).pipe(Effect.scoped, Effect.provide(Logger.layer([log])))
      assert.deepStrictEqual(entries, ["counted", "counted", "counted"])
    })
  )

  it.live("ends when it had no call for some time, and starts again for the next", () =>
    Effect.gen(function* () {
      const { ends, use } = yield* thread("20 millis")
      assert.strictEqual(yield* use(({ client }) => client.Count()), 1)
      yield* waitFor(() => ends.length === 1)
      assert.strictEqual(yield* use(({ client }) => client.Count()), 1)
      assert.deepStrictEqual(ends, ["1 ended"])
    }).pipe(Effect.scoped)
  )

  it.live("fails the calls of a thread that dies, and serves the next ones by another", () =>
    Effect.gen(function* () {
      const { ends, use } = yield* thread("1 hour")
      const error = yield* Effect.exit(use(({ client }) => client.Exit()))
      const found = Exit.isFailure(error) ? Cause.findErrorOption(error.cause) : Option.none()
      assert.strictEqual(Option.getOrUndefined(found)?._tag, "RpcClientError")
      assert.strictEqual(yield* use(({ client }) => client.Count()), 1)
      assert.deepStrictEqual(ends, ["1 died"])
      const stopped = yield* Effect.exit(
        use(({ client, terminate }) => Effect.all([client.Wait(), terminate], { concurrency: 2 }))
      )
      assert.isTrue(Exit.isFailure(stopped))
      assert.strictEqual(yield* use(({ client }) => client.Count()), 1)
      assert.deepStrictEqual(ends, ["1 died", "2 died"])
    }).pipe(Effect.scoped)
  )
})
