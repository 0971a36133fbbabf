/**
 * A port where nobody answers: connecting to it neither succeeds nor fails. No privileges are needed for it: a thread
 * listens and accepts nothing, and its queue is filled, so that the kernel drops every further SYN. (Linux)
 */
import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { Worker } from "node:worker_threads"

const listener = `
  const { parentPort } = require("node:worker_threads")
  const server = require("node:net").createServer(() => {})
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
`

/** More connections than the queue holds; those beyond it hang as every other will. */
const queued = 8

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
      const sockets = Array.from({ length: queued }, () => connect(port, "127.0.0.1").on("error", () => {}))
      // As soon as the queue has taken what it takes, the others only wait.
      let settled: NodeJS.Timeout | undefined
      const full = () => {
        clearTimeout(settled)
        settled = setTimeout(() => resume(Effect.succeed(sockets)), 200)
      }
      full()
      for (const socket of sockets) socket.once("connect", full)
    }),
    (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
  )
  return port
})
