/** The calls of the thread of `RpcThread.test.ts`. */
import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import * as RpcThread from "../../src/threads/RpcThread.ts"

export const Counting = RpcGroup.make(
  Rpc.make("Count", { success: Schema.Int }),
  Rpc.make("Fill", {
    payload: Schema.Int,
    success: RpcThread.plain<Float64Array<ArrayBuffer>>(({ buffer }) => [buffer])
  }),
  Rpc.make("Throw"),
  Rpc.make("Wait"),
  Rpc.make("Exit")
)
