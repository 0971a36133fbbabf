/** Truncated requests: bytes on a socket whose sender disconnects. */
import { Effect, type Scope } from "effect"
import { connect, type Socket } from "node:net"
import type { KillableServe } from "./KillableServe.ts"

/** The bytes of a complete request with a body of the given length. */
export const requestBytes = (
  { apiKey, baseUrl }: KillableServe,
  request: { readonly method: string; readonly path: string; readonly contentType: string; readonly body: string }
): { readonly head: Buffer; readonly body: Buffer } => {
  const { host, pathname } = new URL(baseUrl)
  const body = Buffer.from(request.body)
  const head = Buffer.from(
    `${request.method} ${pathname}${request.path} HTTP/1.1\r\nHost: ${host}\r\nX-Service-ApiKey: ${apiKey}\r\n` +
      `Content-Type: ${request.contentType}\r\nContent-Length: ${body.length}\r\n\r\n`
  )
  return { head, body }
}

/** A form with one file. */
export const fileForm = (content: string): { readonly contentType: string; readonly body: string } => ({
  contentType: "multipart/form-data; boundary=cut",
  body:
    `--cut\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\nContent-Type: ` +
    `text/csv\r\n\r\n${content}\r\n--cut--\r\n`
})

/** A connection on which the bytes were written; the scope closes it. */
export const sendBytes = ({ baseUrl }: KillableServe, bytes: Uint8Array): Effect.Effect<Socket, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const { hostname, port } = new URL(baseUrl)
      const socket = connect(Number(port), hostname, () => {
        if (bytes.length === 0) return resume(Effect.succeed(socket))
        socket.write(bytes, () => resume(Effect.succeed(socket)))
      })
      // A killed process resets its connections.
      socket.on("error", () => resume(Effect.succeed(socket)))
    }),
    (socket) => Effect.sync(() => socket.resetAndDestroy())
  )
