/** Joins bytes, makes random ids, and says which texts can be ids. */
import type { Effect } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"

/** Joins pieces. What is one piece is not copied, since memory outside the heap of V8 is collected late. */
export const joinBytes = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first = new Uint8Array(0), ...others] = pieces.filter(({ length }) => length > 0)
  if (others.length === 0) return first
  const bytes = new Uint8Array(others.reduce((size, { length }) => size + length, first.length))
  bytes.set(first)
  let at = first.length
  for (const piece of others) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/**
 * An identifier that nobody else makes: 128 random bits in hexadecimal. On a page over plain http browsers have no
 * `crypto.randomUUID`.
 */
export const randomId: Effect.Effect<string> = WebCrypto.useSync((crypto) =>
  crypto.getRandomValues(new Uint8Array(16)).reduce((text, byte) => text + (byte + 256).toString(16).slice(1), "")
)

/** Matches the id of a run, a job or a message, which our services give them. */
export const recordIdPattern = /^[0-9A-Za-z-]{1,64}$/

/** Whether a text can be such an id. */
export const isRecordId = (text: string): boolean => recordIdPattern.test(text)
