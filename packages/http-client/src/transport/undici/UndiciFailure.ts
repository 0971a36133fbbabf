/**
 * Why an exchange on undici failed, in terms of what reached the other side.
 */
import { Predicate } from "effect"

/** The request was given up. Seen by nobody but undici, and by whoever still reads the body. */
export class Interrupted extends Error {
  readonly code = "UND_ERR_ABORTED"
}

/** Codes of a connection that broke, as opposed to one that was refused, and to a peer that must not be trusted. */
const broken = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_PRX_CONN",
  "UND_ERR_HEADERS_TIMEOUT"
])

/** Requests that undici will not write. */
const refused = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"])

const codeOf = (error: unknown): string | undefined =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : undefined

/**
 * The connection broke before a byte of the request was written: during the handshake of TLS, or on an idle connection.
 * `syscall` says so in the way of a connection that never came about, since for the server it is the same.
 */
export class NeverSent extends Error {
  readonly code: string
  readonly syscall = "connect"
  constructor(code: string, cause: unknown) {
    super(`The connection broke with ${code} before the request was sent.`, { cause })
    this.code = code
  }
}

/** The answer is not HTTP/1.1. The codes of llhttp, which begin like this one, are lost in undici 8.12.4. */
export class NotHttp extends Error {
  readonly code = "HPE_INVALID_RESPONSE"
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/** Whether it was undici that would not write the request. */
export const isRefusal = (error: Error): boolean => {
  const code = codeOf(error)
  return code !== undefined && refused.has(code)
}

/** The error of undici, or one that says more. `begun` is whether the request was being written. */
export const explain = (error: Error, begun: boolean): Error => {
  const code = codeOf(error)
  if (error.name === "HTTPParserError") return new NotHttp(error)
  if (begun || code === undefined || !broken.has(code)) return error
  return Predicate.hasProperty(error, "syscall") && error.syscall === "connect" ? error : new NeverSent(code, error)
}
