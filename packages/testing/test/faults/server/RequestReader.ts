/** Reads requests from a raw socket no faster than a script asks for them: heads, and bodies with their framing. */
import { Effect } from "effect"
import type { Duplex } from "node:stream"
import type { LedgerRequest } from "./FaultLedger.ts"

/** A pull-based reader of a socket. */
export interface ByteReader {
  /** Reads at least one and up to the given number of bytes; nothing at the end. */
  readonly take: (most: number) => Effect.Effect<Uint8Array>
  /** Reads all bytes up to and including the mark; `undefined` if the end comes first. */
  readonly takeThrough: (mark: string) => Effect.Effect<string | undefined>
}

export const byteReader = (socket: Duplex): ByteReader => {
  let buffered: Buffer = Buffer.alloc(0)
  let waiting: (() => void) | undefined
  const wake = () => {
    // The end is reported only to a further read.
    if (waiting === undefined && socket.readableLength === 0) socket.read()
    waiting?.()
  }
  socket.on("readable", wake).on("end", wake).on("close", wake)

  /** Whether more bytes arrived. */
  const pull = Effect.callback<boolean>((resume) => {
    const look = () => {
      const chunk: unknown = socket.read()
      const isEnd = chunk === null && (socket.readableEnded || socket.destroyed)
      if (chunk === null && !isEnd) return
      waiting = undefined
      if (Buffer.isBuffer(chunk)) buffered = Buffer.concat([buffered, chunk])
      resume(Effect.succeed(!isEnd))
    }
    waiting = look
    look()
    return Effect.sync(() => {
      waiting = undefined
    })
  })

  const cut = (length: number): Buffer => {
    const part = buffered.subarray(0, length)
    buffered = buffered.subarray(length)
    return part
  }

  return {
    take: Effect.fnUntraced(function* (most) {
      if (most <= 0 || (buffered.length === 0 && !(yield* pull))) return new Uint8Array()
      return cut(Math.min(most, buffered.length))
    }),
    takeThrough: Effect.fnUntraced(function* (mark) {
      let at = buffered.indexOf(mark)
      while (at < 0) {
        if (!(yield* pull)) return undefined
        at = buffered.indexOf(mark)
      }
      return cut(at + mark.length).toString("latin1")
    })
  }
}

export type RequestHead = Pick<LedgerRequest, "method" | "target" | "headers">

/** The head of the next request, or `undefined` if the connection ends first. */
export const readRequestHead = Effect.fnUntraced(function* (reader: ByteReader) {
  const text = yield* reader.takeThrough("\r\n\r\n")
  if (text === undefined) return undefined
  const [line = "", ...fields] = text.trimEnd().split("\r\n")
  const [method = "", target = ""] = line.split(" ")
  const headers = new Map<string, string>()
  for (const field of fields) {
    const colon = field.indexOf(":")
    const name = field.slice(0, colon).toLowerCase()
    const value = field.slice(colon + 1).trim()
    const earlier = headers.get(name)
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  const head: RequestHead = { method, target, headers: Object.fromEntries(headers) }
  return head
})

/**
 * Reads up to the given number of bytes of a request's body; nothing once it is complete, `undefined` if it is cut off.
 */
export const bodyReader = (reader: ByteReader, headers: RequestHead["headers"]) => {
  const isChunked = /chunked/i.test(headers["transfer-encoding"] ?? "")
  let left = isChunked ? 0 : Number(headers["content-length"] ?? "0")
  let isWhole = !isChunked && left === 0

  /** The size of the next chunk, or its absence. */
  const nextChunk = Effect.fnUntraced(function* () {
    const line = yield* reader.takeThrough("\r\n")
    if (line === undefined) return false
    left = Number.parseInt(line, 16)
    if (left > 0) return true
    isWhole = (yield* reader.takeThrough("\r\n")) !== undefined
    return isWhole
  })

  const take = Effect.fnUntraced(function* (most: number) {
    if (!isWhole && left === 0 && !(yield* nextChunk())) return undefined
    if (isWhole) return new Uint8Array()
    const bytes = yield* reader.take(Math.min(most, left))
    if (bytes.length === 0) return undefined
    left -= bytes.length
    if (left === 0 && !isChunked) isWhole = true
    if (left === 0 && isChunked && (yield* reader.takeThrough("\r\n")) === undefined) return undefined
    return bytes
  })

  return { take, isWhole: () => isWhole }
}
