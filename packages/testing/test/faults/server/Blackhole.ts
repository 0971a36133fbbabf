/**
 * A port where nobody answers: connecting to it neither succeeds nor fails. No privileges are needed for it: a thread
 * listens and accepts nothing, and its queue is filled, so that the kernel drops every further SYN. (Linux)
 */
import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { Worker } from "node:worker_threads"

const backlog = 1

const listener = `
  const { parentPort } = require("node:worker_threads")
  const server = require("node:net").createServer(() => {})
  server.listen({ port: 0, host: "127.0.0.1", backlog: ${backlog} }, () => {
    parentPort.postMessage(server.address().port)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
`

/** Linux queues one connection more than the backlog. */
const queued = backlog + 1

/** Gives the port, for as long as the scope lasts. */
export const blackhole = Effect.gen(function* () {
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(listener, { eval: true })),
    (worker) => Effect.promise(() => worker.terminate())
  )
  const port = yield* Effect.callback<number>((resume) => {
    worker.once("message", (message: unknown) => resume(Effect.succeed(Number(message))))
  })
  yield* Effect.acquireRelease(
    Effect.callback<ReadonlyArray<Socket>>((resume) => {
      let connected = 0
      const sockets = Array.from({ length: queued }, () =>
        connect(port, "127.0.0.1")
          .on("error", () => {})
          .once("connect", () => {
            if (++connected === queued) resume(Effect.succeed(sockets))
          })
      )
    }),
    (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
  )
  return port
})
