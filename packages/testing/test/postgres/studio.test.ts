/** The chain of the demo through the page of `roster serve` on PostgreSQL. */
import { NodeServices } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { killableServe, servePlace } from "../durability/KillableServe.ts"
import { hasBrowser } from "../browser/Browser.ts"
import { chainTimeout, studioChain } from "../studio/Chain.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("the page of roster serve on PostgreSQL", () => {
  describe.skipIf(!hasBrowser)("in Chromium", () => {
    it.live(
      "imports, edits, exports, deletes and undoes, and a key is made, used, rotated and deleted",
      () =>
        Effect.gen(function* () {
          const { apiKey, baseUrl } = yield* killableServe(yield* servePlace, { database: yield* freshDatabase })
          yield* studioChain({ baseUrl, key: apiKey })
        }).pipe(Effect.provide(NodeServices.layer)),
      chainTimeout
    )
  })
})
