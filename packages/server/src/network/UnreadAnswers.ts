/**
 * Bounds what clients have been answered and do not read. Every answer is counted at its socket, for the account whose key
 * asked for it; beyond a bound, those that wait longest lose their connections. (docs/limits.md)
 */
import { type IncomingMessage, ServerResponse } from "node:http"
import { clientNetwork } from "./IpRanges.ts"
import { accountOf } from "./OpenRequests.ts"

/** Bytes of answers that wait for their clients, beyond what the system holds for them. */
export interface UnreadLimits {
  /** Those of one account (default: 64 MiB). Those without a key count for the network of the client. */
  readonly unreadOfAccount: number
  /** Those of all (default: 192 MiB). */
  readonly unreadOfAll: number
}

/** Less than this is not counted: that of all connections together is small. */
const smallest = 16 * 1024

/** The answers of a server that wait for their clients. */
export interface UnreadAnswers {
  /** The class of the server's responses, which counts each. */
  readonly Response: typeof ServerResponse<IncomingMessage>
  /** The bytes that wait. */
  readonly bytes: () => number
}

interface Waiting {
  readonly asker: string
  bytes: number
  /** Since when its client has taken nothing. */
  since: number
}

/** What a response holds. Those to requests that came before earlier answers were read have no socket yet. */
const unreadOf = (response: ServerResponse<IncomingMessage>): number =>
  response.writableFinished || response.req.socket.destroyed ? 0 : response.writableLength

/** Counts the answers of a server. */
export const makeUnreadAnswers = ({ unreadOfAccount, unreadOfAll }: UnreadLimits): UnreadAnswers => {
  const waiting = new Map<ServerResponse<IncomingMessage>, Waiting>()

  /** Looks at what waits now, and gives what it comes to: by whom, and in total. */
  const look = (now: number) => {
    const shares = new Map<string, number>()
    let all = 0
    for (const [response, own] of waiting) {
      const bytes = unreadOf(response)
      if (bytes < smallest) {
        waiting.delete(response)
        continue
      }
      if (bytes < own.bytes) own.since = now
      own.bytes = bytes
      shares.set(own.asker, (shares.get(own.asker) ?? 0) + bytes)
      all += bytes
    }
    return { shares, all }
  }

  /** Ends the connections of an asker that wait longest, until so many bytes are free. */
  const end = (asker: string, excess: number): void => {
    const oldestFirst = [...waiting].filter(([, own]) => own.asker === asker).sort(([, a], [, b]) => a.since - b.since)
    let left = excess
    for (const [response, { bytes }] of oldestFirst) {
      if (left <= 0) return
      left -= bytes
      waiting.delete(response)
      response.req.socket.destroy()
    }
  }

  const note = (response: ServerResponse<IncomingMessage>): void => {
    if (unreadOf(response) < smallest) return
    const { req } = response
    const now = performance.now()
    if (!waiting.has(response)) {
      const account = accountOf({ source: req })
      const asker =
        account === undefined ? `network ${clientNetwork(req.socket.remoteAddress ?? "")}` : `account ${account}`
      waiting.set(response, { asker, bytes: 0, since: now })
    }
    const { all, shares } = look(now)
    for (const [asker, share] of shares) if (share > unreadOfAccount) end(asker, share - unreadOfAccount)
    if (all <= unreadOfAll) return
    const [largest] = [...shares].sort(([, a], [, b]) => b - a)
    if (largest !== undefined) end(largest[0], all - unreadOfAll)
  }

  /** Sends head and body in one write, which Node does only without its own check of the content length. */
  class Response extends ServerResponse {
    override write(...given: ReadonlyArray<unknown>): boolean {
      const mayGoOn: boolean = Reflect.apply(super.write, this, given)
      note(this)
      return mayGoOn
    }
    override end(onEnd?: () => void): this
    override end(chunk: unknown, onEnd?: () => void): this
    override end(chunk: unknown, encoding: BufferEncoding, onEnd?: () => void): this
    override end(...given: ReadonlyArray<unknown>): this {
      if (typeof given[0] === "string") this.strictContentLength = false
      Reflect.apply(super.end, this, given)
      note(this)
      return this
    }
  }

  return { Response, bytes: () => look(performance.now()).all }
}
