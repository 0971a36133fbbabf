/** Fetches a file by its URL without reaching private networks, and bounds its size and its time. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import type { ImportRefused } from "@roster/domain"
import { Duration, Effect, Stream } from "effect"
import type { IncomingMessage } from "node:http"
import { checkUrl, refusedUrl } from "./AllowedUrls.ts"
import { codeOf, safeRequest } from "./SafeRequest.ts"
import { resolveHost } from "./Resolver.ts"

export interface SafeFetchOptions {
  /** The hosts that the operator allowed, as in `checkUrl`. */
  readonly allowed: ReadonlyArray<string>
  /** Maximum size of the file (default: 100 MiB). */
  readonly maximumBytes?: number | undefined
  /** Timeout for the name lookup, and again for the connection (default: 10 seconds). */
  readonly connectTimeout?: Duration.Input | undefined
  /** Timeout from the request to the head of the response (default: 30 seconds). */
  readonly responseTimeout?: Duration.Input | undefined
  /** Timeout for all waiting on the host together (default: 60 seconds). */
  readonly timeout?: Duration.Input | undefined
}

/**
 * Streams the file of a URL at the pace of its consumer; a refusal may come after some bytes. The URL is checked again,
 * only checked addresses are connected to, and redirects, compressed and HTML responses are refused. Timeouts count
 * only the time spent waiting on the host.
 */
export const safeFetch = (url: URL, options: SafeFetchOptions): Stream.Stream<Uint8Array, ImportRefused> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const maximumBytes = options.maximumBytes ?? 100 * 1024 * 1024
      const connectTimeout = Duration.fromInputUnsafe(options.connectTimeout ?? "10 seconds")
      const responseTimeout = Duration.fromInputUnsafe(options.responseTimeout ?? "30 seconds")
      const total = Duration.fromInputUnsafe(options.timeout ?? "60 seconds")

      const checked = yield* checkUrl(url.href, options.allowed)
      const { host } = checked
      const wait = waiting(host, total)

      const addresses = yield* wait(resolveHost(checked, options.allowed), connectTimeout, "could not be resolved")
      const request = yield* safeRequest(checked, addresses)
      yield* wait(request.connected, connectTimeout, "did not accept a connection")
      const response = yield* wait(request.response, responseTimeout, "did not answer")
      const problem = problemOf(response, maximumBytes)
      if (problem !== undefined) return yield* refusedUrl(`${host} ${problem}`)

      let received = 0
      const limit = (chunks: ReadonlyArray<Uint8Array>) => {
        for (const chunk of chunks) received += chunk.length
        return received > maximumBytes ? Effect.fail(refusedUrl(`${host} ${tooLarge(maximumBytes)}`)) : Effect.void
      }
      const body = NodeStream.fromReadable<Uint8Array, ImportRefused>({
        evaluate: () => response,
        onError: (error) => refusedUrl(`the file of ${host} broke off${codeOf(error)}. Import again.`)
      })
      return Stream.transformPull(body, (pull) =>
        Effect.succeed(Effect.tap(wait(pull, total, "did not send the whole file"), limit))
      )
    })
  )

/** Spends one time budget on several waits, each with its own limit. */
const waiting = (host: string, total: Duration.Duration) => {
  let spent = Duration.zero
  return <A, E, R>(effect: Effect.Effect<A, E, R>, limit: Duration.Duration, problem: string) =>
    Effect.suspend(() => {
      const left = Duration.subtract(total, spent)
      const duration = Duration.min(limit, left)
      return Effect.timed(effect).pipe(
        Effect.timeoutOrElse({
          duration,
          orElse: () => {
            const waited = Duration.format(Duration.isLessThan(limit, left) ? limit : total)
            return Effect.fail(
              refusedUrl(`${host} ${problem} within ${waited}. Try again later, or send the file itself.`)
            )
          }
        }),
        Effect.map(([elapsed, value]) => {
          spent = Duration.sum(spent, elapsed)
          return value
        })
      )
    })
}

const tooLarge = (maximumBytes: number): string =>
  `sends more than the ${maximumBytes} bytes that are taken. Split the file and import the parts.`

/** Why a response is refused, by its status and headers. */
const problemOf = (response: IncomingMessage, maximumBytes: number): string | undefined => {
  const status = response.statusCode ?? 0
  const {
    "content-encoding": encoding = "",
    "content-length": length = "0",
    "content-type": type = ""
  } = response.headers
  if (status >= 300 && status < 400) {
    return `answered with a redirect (${status}), and none is followed. Give the address that it leads to.`
  }
  if (status !== 200) return `answered ${status} in place of the file. Check that the address opens without a log-in.`
  if (encoding !== "" && encoding.toLowerCase() !== "identity") {
    return "sends the file compressed although that was not asked for. Give an address that sends it as it is, or zipped."
  }
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type)) {
    return "answered with a web page in place of a file, perhaps to log in. Give the address of the file itself."
  }
  return Number(length) > maximumBytes ? tooLarge(maximumBytes) : undefined
}
