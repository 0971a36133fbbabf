/** What an attacker asks: calls over connections of its own address, counted by their status. */
import { randomUUID } from "node:crypto"
import { Agent, request } from "node:http"
import { connect, type Socket } from "node:net"
import { setTimeout } from "node:timers/promises"

/** The address that attackers call from, another one than that of the others. */
const localAddress = "127.0.0.2"

/** A request. */
export interface Call {
  readonly method: string
  /** Below `/v4`. */
  readonly path: string
  readonly body?: Buffer
  /** Of the body (default: JSON). */
  readonly type?: string
  /** The key, if it is not that of the attacker. */
  readonly key?: string
  /** Sends a new Idempotency-Key. */
  readonly isKeyed?: boolean
}

export interface Target {
  readonly send: (call: Call) => Promise<string>
  /** Opens a connection without a word. */
  readonly open: () => Promise<Socket>
  /** The head of a request up to its last line, for a connection. */
  readonly head: (method: string, path: string) => string
  /** Whether the time of the attack is over. */
  readonly isOver: () => boolean
  /** How often each status was answered; 0 for a connection that was closed. */
  readonly statuses: Map<number, number>
}

export const makeTarget = (url: URL, key: string, isOver: () => boolean): Target => {
  const agent = new Agent({ keepAlive: true, maxSockets: 100, localAddress })
  const statuses = new Map<number, number>()
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const send = ({ body, isKeyed, key: other, method, path, type = "application/json" }: Call) =>
    new Promise<string>((resolve) => {
      const failed = () => {
        count(0)
        resolve("")
      }
      const headers = {
        "X-Service-ApiKey": other ?? key,
        ...(body === undefined ? {} : { "Content-Type": type, "Content-Length": body.length }),
        ...(isKeyed === true ? { "Idempotency-Key": randomUUID() } : {})
      }
      request(new URL(url), { agent, method, path: `/v4${path}`, headers }, (response) => {
        // Most answers are thrown away: to keep them would cost the machine more than to ask for them.
        let text = ""
        response.on("data", (chunk: Buffer) => {
          if (text.length < 4096) text += chunk.toString("latin1")
        })
        response.on("error", failed)
        response.on("end", () => {
          count(response.statusCode ?? 0)
          resolve(text)
        })
      })
        .on("error", failed)
        .end(body)
    })
  const open = () =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect({ host: url.hostname, port: Number(url.port), localAddress }, () => resolve(socket))
      socket.on("error", reject)
      socket.on("close", () => count(0))
    })
  const head = (method: string, path: string) =>
    `${method} /v4${path} HTTP/1.1\r\nHost: ${url.host}\r\nX-Service-ApiKey: ${key}\r\n`
  return { send, open, head, isOver, statuses }
}

/** Sends the calls in turn, so many at once, until the time is over. */
export const again =
  (atOnce: number, calls: ReadonlyArray<Call>) =>
  async (target: Target): Promise<void> => {
    let next = 0
    const sendOn = async () => {
      while (!target.isOver()) {
        const call = calls[next++ % calls.length]
        if (call === undefined) return
        await target.send(call)
        // A refused connection is no loop that takes the machine.
        if ((target.statuses.get(0) ?? 0) > 0) await setTimeout(10)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, sendOn))
  }
