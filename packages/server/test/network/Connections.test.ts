import { assert, it } from "@effect/vitest"
import { limitsOf } from "../../src/network/Connections.ts"

it("takes no more connections than the process has descriptors for", () => {
  const counts = (total: number, descriptors: number) => {
    const limits = limitsOf({ total }, descriptors)
    return [limits.total, limits.byAccount]
  }
  assert.deepStrictEqual(counts(1024, 1_048_576), [1024, 256])
  assert.deepStrictEqual(counts(1024, Infinity), [1024, 256])
  assert.deepStrictEqual(counts(1024, 1024), [768, 192])
  assert.deepStrictEqual(counts(1024, 64), [32, 8])
  assert.deepStrictEqual(counts(8, 64), [8, 2])
  assert.strictEqual(limitsOf({ byAccount: 100 }, 64).byAccount, 100)
})
