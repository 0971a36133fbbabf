/** Requests to `roster serve` as bytes on a socket, sent in parts, and what comes back on it. */
import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import type { KillableServe } from "../durability/KillableServe.ts"

export interface RawAnswer {
  readonly status: number
  readonly headers: string
  readonly text: string
}

export interface RawRequest {
  /** Sends more of the body, as long as the service reads it. Gives the number of bytes that were taken. */
  readonly send: (parts: Iterable<string | Uint8Array>) => Effect.Effect<number>
  readonly answer: Effect.Effect<RawAnswer>
  /** Waits until the service has closed the connection. */
  readonly closed: Effect.Effect<void>
  readonly isOpen: () => boolean
}

const answerIn = (bytes: string): RawAnswer | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  const headers = bytes.slice(0, end)
  const text = Buffer.from(bytes.slice(end + 4), "latin1").toString()
  const length = Number(/^content-length: (\d+)/im.exec(headers)?.[1] ?? 0)
  return end === -1 || bytes.length - end - 4 < length
    ? undefined
    : { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(headers)?.[1]), headers, text }
}

const taken = (socket: Socket, part: string | Uint8Array) =>
  Effect.callback<boolean>((resume) => {
    if (socket.destroyed || !socket.writable) return resume(Effect.succeed(false))
    const gone = () => resume(Effect.succeed(false))
    socket.once("close", gone)
    socket.write(part, (error) => {
      socket.off("close", gone)
      resume(Effect.succeed(error === null || error === undefined))
    })
  })

/** Opens a connection and sends the head of a request with JSON; the scope destroys it. */
export const rawRequest = (
  { apiKey, baseUrl }: Pick<KillableServe, "apiKey" | "baseUrl">,
  method: string,
  path: string,
  headers: Readonly<Record<string, string | number | undefined>>
) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { host, hostname, pathname, port } = new URL(baseUrl)
      const socket = connect({ port: Number(port), host: hostname })
      let bytes = ""
      socket.setEncoding("latin1")
      socket.on("data", (text) => {
        bytes += String(text)
      })
      socket.on("error", () => {})
      const all = { Host: host, "X-Service-ApiKey": apiKey, "Content-Type": "application/json", ...headers }
      const lines = Object.entries(all).map(([name, value]) => (value === undefined ? "" : `${name}: ${value}\r\n`))
      socket.write(`${method} ${pathname}${path} HTTP/1.1\r\n${lines.join("")}\r\n`)
      const closed = Effect.callback<void>((resume) => {
        if (socket.readableEnded || socket.destroyed) return resume(Effect.void)
        socket.once("end", () => resume(Effect.void))
        socket.once("close", () => resume(Effect.void))
      })
      const answer = Effect.callback<RawAnswer>((resume) => {
        const look = (): boolean => {
          const answer = answerIn(bytes)
          if (answer !== undefined) resume(Effect.succeed(answer))
          return answer !== undefined
        }
        const none = () => {
          if (!look()) resume(Effect.die(new Error(`the connection closed without an answer: ${bytes}`)))
        }
        if (look()) return
        if (socket.destroyed) return none()
        socket.on("data", look)
        socket.once("close", none)
      })
      const send = Effect.fnUntraced(function* (parts: Iterable<string | Uint8Array>) {
        let count = 0
        for (const part of parts) {
          if (!(yield* taken(socket, part))) break
          count += part.length
        }
        return count
      })
      const request: RawRequest = { send, answer, closed, isOpen: () => !socket.readableEnded && !socket.destroyed }
      return { request, socket }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  ).pipe(Effect.map(({ request }) => request))
