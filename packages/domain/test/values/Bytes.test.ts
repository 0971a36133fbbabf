import { assert, describe, it } from "@effect/vitest"
import { randomId } from "@roster/domain/internal"
import { Effect } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"

describe("a random identifier", () => {
  it.effect("is another each time, also on a page over plain http", () =>
    Effect.gen(function* () {
      const ids = new Set(yield* Effect.replicateEffect(randomId, 1000))
      assert.strictEqual(ids.size, 1000)
      for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/)
      // Browsers have the rest of `crypto` in secure contexts alone.
    }).pipe(Effect.provideService(WebCrypto, { getRandomValues: crypto.getRandomValues.bind(crypto) } as Crypto))
  )
})
