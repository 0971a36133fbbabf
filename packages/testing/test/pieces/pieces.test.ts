/** The longest pieces on a file. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { piecesCases, slowOf } from "./Pieces.ts"
import { worst } from "./Shapes.ts"

piecesCases("on a file", Effect.succeed({}))

it.live("no request that once stopped the service keeps the answering thread for more than 200 ms of CPU", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* slowOf({}, worst), [])
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
