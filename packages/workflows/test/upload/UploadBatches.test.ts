import { assert, describe, it } from "@effect/vitest"
import { maximumAddBytes, readContacts } from "@roster/domain"
import { Effect, Stream } from "effect"
import { batches } from "../../src/upload/UploadBatches.ts"

describe("batches of rows", () => {
  it.effect.each([20, 30_000])("are full by their number or by their bytes: rows of %d characters", (length) =>
    Effect.gen(function* () {
      const note = "x".repeat(length)
      const lines = Array.from({ length: 1500 }, (_, index) => `p${index}@example.com,${note}\n`)
      const text = new TextEncoder().encode(`Email,note\n${lines.join("")}`)
      const sent = yield* Stream.runCollect(batches(readContacts(Stream.succeed(text))))
      assert.deepStrictEqual(
        sent.flatMap(({ rows }) => [...rows]),
        lines.map((_, index) => index + 1)
      )
      assert.isAtMost(Math.max(...sent.map(({ batch }) => JSON.stringify(batch).length)), maximumAddBytes)
      if (length === 20)
        assert.deepStrictEqual(
          sent.map(({ batch }) => batch.length),
          [1000, 500]
        )
      else assert.isAtMost(sent.length, 40)
    })
  )
})
