/** Classifies the failure of one attempt, and what it proves. */
import {
  operations,
  readAccountLimit,
  readExceedsGrantor,
  readRefusal,
  readRunRefused,
  readStoreFailure,
  readUnavailable,
  type Refusal
} from "@roster/api"
import {
  AccessDenied,
  AccessLevel,
  InvalidResponse,
  OutcomeUnknown,
  RateLimited,
  Rejected,
  ResponseTooLarge,
  ServiceError,
  type ServiceErrorReason,
  Unauthorized,
  Unavailable,
  type UnexpectedContentType,
  UnexpectedRedirect
} from "@roster/domain"
import { Duration, Predicate, Schema } from "effect"
import type { HttpClientError } from "effect/http"
import { UnsupportedEncoding } from "../transport/BufferedResponse.ts"
import { ProxyUnreachable } from "../transport/ProxyUnreachable.ts"
import type { Evidence, RetryRow } from "./RetryTable.ts"

export interface Failure<E> {
  readonly evidence: Evidence
  readonly error: E | ServiceError
  /** Whether the service asks to slow down. */
  readonly throttled?: boolean | undefined
  readonly retryAfter?: Duration.Duration | undefined
  /** Whether it settles the outcome even if an earlier attempt may have been carried out. */
  readonly settles?: boolean | undefined
}

export const failureOf = (operation: string, evidence: Evidence, reason: ServiceErrorReason): Failure<never> => ({
  evidence,
  error: new ServiceError({ operation, reason })
})

/** An answer that does not match the interface; a retry would get the same. */
export const invalidResponse = (operation: string, status: number, detail: string): Failure<never> =>
  failureOf(operation, "Permanent", new InvalidResponse({ status, detail }))

const notSentCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT"
])

/** Codes of invalid certificates, compression and addresses, of another protocol and of a transport that was closed. */
const permanent = /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|ERR_INVALID|EPROTO|^Z_(?!BUF)|UND_ERR_CLOSED/

/** Codes of an answer whose head cannot be read. */
const unreadable = /^HPE_|HEADERS_OVERFLOW/

/** Codes of a transport that was closed before, or during the request. */
const closed = new Set(["UND_ERR_CLOSED", "UND_ERR_DESTROYED"])

/** An error with its causes, the outermost first, and at most six. */
const causesOf = (cause: unknown, depth = 0): ReadonlyArray<object> => {
  if (depth > 5 || !Predicate.isObject(cause)) return []
  const { cause: inner, errors } = cause
  return [cause, ...causesOf(Array.isArray(errors) ? errors[0] : inner, depth + 1)]
}

/** The code of the first error that has one, and whether it came of reading from or writing to a connection. */
const codeOf = (
  causes: ReadonlyArray<object>
): { readonly code?: string; readonly said?: string; readonly isConnected?: boolean } => {
  for (const cause of causes) {
    const syscall = Predicate.hasProperty(cause, "syscall") ? cause.syscall : undefined
    const code = Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined
    // Nothing was sent, whatever failed.
    if (syscall === "connect") return { code: "ECONNREFUSED", said: code ?? "ECONNREFUSED" }
    if (code !== undefined) return { code, said: code, isConnected: syscall === "read" || syscall === "write" }
  }
  return {}
}

/** What codes mean, phrased to follow the host. */
const meanings: ReadonlyArray<readonly [codes: RegExp, meaning: string]> = [
  [/^(?:ENOTFOUND|EAI_NONAME)$/, "is a name that nobody knows"],
  [/^EAI_AGAIN$/, "is a name that cannot be looked up now"],
  [/TIMEDOUT$|CONNECT_TIMEOUT$/, "does not answer"],
  [/UNREACH$|^ENETDOWN$|^EADDRNOTAVAIL$/, "cannot be reached from this network"],
  [/WRONG_VERSION_NUMBER$|^EPROTO$/, "speaks no TLS, so its address begins with http://"],
  [/^CERT_HAS_EXPIRED$/, "has a certificate that is no longer valid"],
  [/ALTNAME/, "has a certificate for other names"],
  [/SELF_SIGNED|UNABLE_TO/, "has a certificate of an authority that is not known here"]
]

/** Says what happened to a connection. Of its error the code alone, since that may quote the request. */
const describe = (
  service: string,
  proxy: ProxyUnreachable | undefined,
  code: string | undefined,
  isPlain: boolean
): string => {
  const host = proxy === undefined ? service : `the proxy ${proxy.proxy}`
  if (proxy?.status !== undefined) return `${host} refuses the connection to ${service} with status ${proxy.status}`
  if (code === undefined) return `the connection to ${host} broke`
  if (closed.has(code)) return `the transport of this client was closed, as its layer or scope ended (${code})`
  if (unreadable.test(code)) return `the head of an answer from ${host} cannot be read (${code})`
  if (code === "ECONNREFUSED") return `nothing listens at ${host}`
  if (/^UND_ERR_SOCKET$|^ECONNRESET$|^EPIPE$/.test(code)) {
    const tls = isPlain && proxy === undefined ? "; if it speaks TLS, its address begins with https://" : ""
    return `${host} closed the connection without an answer${tls}`
  }
  const [, meaning] = meanings.find(([codes]) => codes.test(code)) ?? []
  return meaning === undefined ? `the connection to ${host} failed with ${code}` : `${host} ${meaning} (${code})`
}

/** Says in words why there is no connection to an address, or how it broke. */
export const connectionProblem = (url: URL, error: Error): string =>
  describe(url.host, undefined, codeOf(causesOf(error)).said, url.protocol === "http:")

/**
 * Judges an error of the transport, which has no complete answer. `sent` is whether any of the request was written, if the
 * transport tells: what was sent is in doubt, whatever the error.
 */
export const transportFailure = (
  operation: string,
  error: HttpClientError.HttpClientError,
  sent?: boolean
): Failure<never> => {
  const { reason } = error
  const failure = (evidence: Evidence, reason: ServiceErrorReason) => failureOf(operation, evidence, reason)
  const causes = causesOf("cause" in reason ? reason.cause : undefined)
  const tooLarge = causes.find((cause) => cause instanceof ResponseTooLarge)
  if (tooLarge !== undefined) return failure("Permanent", tooLarge)
  const encoded = causes.find((cause) => cause instanceof UnsupportedEncoding)
  if (encoded !== undefined && "response" in reason) {
    return invalidResponse(operation, reason.response.status, encoded.message)
  }
  const { code, isConnected = false, said } = codeOf(causes)
  const proxy = causes.find((cause) => cause instanceof ProxyUnreachable)
  const refusal = proxy?.status
  const url = URL.parse(error.request.url)
  const detail = describe(url?.host ?? "the service", proxy, said, url?.protocol === "http:")
  if ("response" in reason) {
    const { status } = reason.response
    // A parse error inside a body may come from a body that was cut inside a chunk.
    return code !== undefined && permanent.test(code)
      ? invalidResponse(operation, status, `it cannot be read (${code})`)
      : failure("Ambiguous", new Unavailable({ status, detail }))
  }
  const unavailable = new Unavailable({ detail })
  if (reason._tag === "EncodeError" || reason._tag === "InvalidUrlError") return failure("Permanent", unavailable)
  // A proxy that refuses has passed nothing on. One that asks for a password, or knows the host as forbidden, stays so.
  if (refusal !== undefined) {
    return refusal < 500
      ? failure("Permanent", new Unavailable({ detail, isPermanent: true }))
      : failure("NotSent", unavailable)
  }
  if (sent === true) return failure("Ambiguous", unavailable)
  if (code !== undefined && (permanent.test(code) || (sent === false && closed.has(code)))) {
    return failure("Permanent", new Unavailable({ detail, isPermanent: true }))
  }
  const isNotSent = sent === false || (code !== undefined && notSentCodes.has(code) && !isConnected)
  return failure(isNotSent ? "NotSent" : "Ambiguous", unavailable)
}

const unauthorizedText = /api ?key (?:expired|is missing|not found)|incorrect api ?key|invalid api ?key/i
const accessDeniedText = /access denied/i

/** The statuses about a key or a record, which count only from the service itself. */
const saidByService = new Set([401, 403, 404, 409, 410])

/** Refusals of the content of a request, which was never carried out. */
const settling = new Set([400, 413, 415, 422])

/** The scheme and host of the target of a redirect. */
const originOf = (location: string | undefined): string => {
  const url = location === undefined ? null : URL.parse(location)
  return url !== null && /^https?:$/.test(url.protocol) ? url.origin : ""
}

/** An answer that is no success. */
export interface RefusedAnswer {
  readonly status: number
  /** The `Error` field of its body, or else the type and beginning of it; empty without one. */
  readonly text: string
  /** The answer as one that is not in the form of the service. */
  readonly foreign?: UnexpectedContentType | undefined
  readonly retryAfter?: Duration.Duration | undefined
  readonly location?: string | undefined
}

/** Judges an answer by status and text, since services of this interface differ in the status. */
export const statusFailure = (
  operation: string,
  { foreign, location, retryAfter, status, text }: RefusedAnswer
): Failure<Refusal> => {
  const failure = (evidence: Evidence, reason: ServiceErrorReason, throttled = false): Failure<never> => ({
    ...failureOf(operation, evidence, reason),
    throttled,
    retryAfter
  })
  if (foreign !== undefined && saidByService.has(status)) return failure("Permanent", foreign)
  // The words of the service itself.
  const serviceText = foreign === undefined ? text : ""
  if (status === 401 || (status === 400 && unauthorizedText.test(serviceText)))
    return failure("Permanent", new Unauthorized({}))
  if (status === 403 || (status === 400 && accessDeniedText.test(serviceText))) {
    return failure(
      "Permanent",
      readExceedsGrantor(serviceText) ?? new AccessDenied({ required: requiredLevel(operation, serviceText) })
    )
  }
  const settles = foreign === undefined && settling.has(status)
  const runRefused = status === 400 ? readRunRefused(serviceText) : undefined
  if (runRefused !== undefined) return { ...failure("Permanent", runRefused), settles }
  const refusal = readRefusal(status, serviceText)
  if (refusal !== undefined) {
    return { evidence: "Permanent", error: refusal, settles: settles || refusal._tag === "LastManagingKey" }
  }
  const wait = retryAfter === undefined ? {} : { retryAfter: Duration.toSeconds(retryAfter) }
  if (status === 429) {
    const detail = readAccountLimit(serviceText)
    return failure("NotProcessed", new RateLimited(detail === undefined ? wait : { detail, ...wait }), true)
  }
  const said = text === "" ? "" : ` (${text})`
  const detail = readUnavailable(serviceText) ?? `it answers with status ${status}${said}`
  const unavailable = new Unavailable({ status, detail, ...wait })
  if (status === 503 && retryAfter !== undefined) {
    return failure("NotProcessed", readStoreFailure(serviceText) ?? unavailable, true)
  }
  if (status === 408 || status === 425) return failure("NotProcessed", unavailable)
  // No such status settles the outcome, whether the service or a proxy sent it.
  if (status >= 500 || status === 499 || status < 200) return failure("Ambiguous", unavailable)
  if (status >= 300 && status < 400)
    return failure("Permanent", new UnexpectedRedirect({ status, targetOrigin: originOf(location) }))
  const rejected = failure(
    "Permanent",
    new Rejected({ status, detail: text || (unsaid.get(status) ?? "no reason given") })
  )
  return { ...rejected, settles }
}

const tooLong = "the request is too long for it; use a shorter rule, or fewer addresses at one time"

/** What refusals mean that proxies and servers send without a text. */
const unsaid: ReadonlyMap<number, string> = new Map([
  [413, tooLong],
  [414, tooLong],
  [431, tooLong]
])

const isLevel = Schema.is(AccessLevel)

/** The access level that the service names, or else that of the operation. */
const requiredLevel = (operation: string, text: string): AccessLevel => {
  const named = /access level (\w+)/.exec(text)?.[1]
  // Every operation has a level: the contract says so and its tests prove it.
  return isLevel(named) ? named : (operations.get(operation)?.requiredAccess ?? "None")
}

/** The reason without its advice, which does not apply to an unknown outcome. */
const detailOf = (reason: ServiceErrorReason): string =>
  "detail" in reason
    ? reason.detail
    : reason._tag === "TimedOut"
      ? `no whole answer came within ${reason.after} s`
      : reason.message

/** The final error: an ambiguous failure of a write becomes an unknown outcome. */
export const finalError = <E>(
  call: { readonly operation: string; readonly row: RetryRow; readonly about: string },
  failure: Failure<E>
): E | ServiceError => {
  const { about, operation, row } = call
  if (failure.evidence !== "Ambiguous" || row.recovery === undefined) return failure.error
  const reason = failure.error instanceof ServiceError ? failure.error.reason : undefined
  const status =
    reason !== undefined && "status" in reason && reason.status !== undefined ? { status: reason.status } : {}
  const detail = reason === undefined ? "no whole answer came" : detailOf(reason)
  const recovery = row.recovery.replace("{name}", about)
  const { requestId, responseHeaders } = failure.error instanceof ServiceError ? failure.error : {}
  return new ServiceError({
    operation,
    reason: new OutcomeUnknown({ recovery, detail, ...status }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(responseHeaders === undefined ? {} : { responseHeaders })
  })
}
