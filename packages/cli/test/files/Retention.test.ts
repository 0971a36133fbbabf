import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { readdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Retention, removeOld } from "../../src/files/Retention.ts"
import { temporaryFolder } from "../roster.ts"

const now = 1_700_000_000

/** What stays of files of 10 bytes that are 0, 1, 2 and 3 seconds old, and of one that is gone already. */
const kept = Effect.fnUntraced(function* (retention: Retention) {
  const folder = yield* temporaryFolder
  const names = ["2", "0", "3", "1"]
  for (const name of names) {
    writeFileSync(join(folder, name), "0123456789")
    utimesSync(join(folder, name), now, now - Number(name))
  }
  yield* TestClock.setTime(now * 1000)
  yield* removeOld(
    ["gone", ...names].map((name) => join(folder, name)),
    retention
  )
  return readdirSync(folder).join("")
}, Effect.provide(NodeServices.layer))

describe("files that are kept", () => {
  it.effect("are removed once their time is over", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* kept({ keptFor: Duration.seconds(3) }), "0123")
      assert.strictEqual(yield* kept({ keptFor: Duration.millis(2999) }), "012")
    })
  )

  it.effect("are within their number, the newest first", () =>
    Effect.gen(function* () {
      const keptFor = Duration.days(1)
      assert.strictEqual(yield* kept({ keptFor, maximumFiles: 4 }), "0123")
      assert.strictEqual(yield* kept({ keptFor, maximumFiles: 3 }), "012")
    })
  )
})
