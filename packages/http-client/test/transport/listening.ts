import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"

/** Listens until the scope ends, and gives the address. */
export const listening = Effect.fnUntraced(function* (answer: RequestListener) {
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(answer).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  // A server that listens on TCP has an address of this kind; a string is for pipes.
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
})
