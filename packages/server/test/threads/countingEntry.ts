/** The thread of `RpcThread.test.ts`. */
import { Effect, Schema } from "effect"
import { workerData } from "node:worker_threads"
import * as RpcThread from "../../src/threads/RpcThread.ts"
import { Counting } from "./Counting.ts"

let calls = 0

const handlers = Counting.toLayer({
  Count: () => Effect.as(Effect.logInfo("counted"), ++calls),
  Fill: (length) => Effect.succeed(new Float64Array(length).fill(1)),
  Throw: () => Effect.die(new Error("only this call")),
  Wait: () => Effect.never,
  Exit: () => Effect.sync(() => process.exit(3))
})

RpcThread.run(Schema.decodeUnknownSync(Schema.Struct(RpcThread.LogSettings.fields))(workerData), Counting, handlers)
