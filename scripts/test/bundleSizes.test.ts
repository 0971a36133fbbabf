/** What an application ships of Roster stays within its bounds. */
import { assert, describe, it } from "@effect/vitest"
import { entries, measure } from "../bundleSizes.ts"

describe("the bundle of", () => {
  it.each(entries)("$name is no larger than it may be", async ({ code, maximum, name }) => {
    const { compressed, modules } = await measure({ code })
    assert.isAtMost(compressed, maximum, `${name}: run pnpm sizes --modules`)
    // An entry that imports nothing would be small too.
    assert.isTrue(modules.some(([module]) => module.includes("/effect/")))
  })

  it("the tag has no code of the domain but the tag", async () => {
    const [tag] = entries
    const { modules } = await measure({ code: tag?.code ?? "" })
    const ours = modules.flatMap(([module]) => /\/packages\/(.*)/.exec(module)?.[1] ?? [])
    assert.deepStrictEqual(ours, ["domain/src/services/ContactsService.ts"])
  })
})
