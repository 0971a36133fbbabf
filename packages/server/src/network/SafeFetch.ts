/**
 * Fetching the file of an import from an address that a request named.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import { ImportRefused } from "@roster/domain"
import { Duration, Effect, Stream } from "effect"
import type { IncomingMessage } from "node:http"
import { checkFileUrl } from "./AllowedUrls.ts"
import { codeOf, requestFileUrl } from "./SafeRequest.ts"
import { resolveFileUrl } from "./Resolver.ts"

export interface FetchFileOptions {
  /** The hosts that the operator allowed. (FileUrl) */
  readonly allowed: ReadonlyArray<string>
  /** 100 MiB where it is not given. */
  readonly maximumBytes?: number | undefined
  /** Until the name is resolved, and again until the connection stands: 10 seconds where it is not given. */
  readonly connectTimeout?: Duration.Input | undefined
  /** From the request to the head of the response: 30 seconds where it is not given. */
  readonly responseTimeout?: Duration.Input | undefined
  /** All waiting for the host together: 60 seconds where it is not given. */
  readonly timeout?: Duration.Input | undefined
}

/**
 * Fetches a file as a stream of bytes, at the pace at which they are consumed. The URL is checked again, its host is
 * resolved once, each address is checked, and only a checked one is connected to. No redirect is followed, and only a
 * plain 200 that is neither compressed nor HTML is accepted.
 *
 * **Gotchas**
 *
 * The time that the consumer takes is not counted, only the time that the host lets it wait. A refusal may come after
 * some of the bytes.
 */
export const fetchFile = (url: URL, options: FetchFileOptions): Stream.Stream<Uint8Array, ImportRefused> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const maximumBytes = options.maximumBytes ?? 100 * 1024 * 1024
      const connectTimeout = Duration.fromInputUnsafe(options.connectTimeout ?? "10 seconds")
      const responseTimeout = Duration.fromInputUnsafe(options.responseTimeout ?? "30 seconds")
      const total = Duration.fromInputUnsafe(options.timeout ?? "60 seconds")

      const checked = yield* checkFileUrl(url.href, options.allowed)
      const { host } = checked
      const wait = waiting(host, total)

      const addresses = yield* wait(resolveFileUrl(checked, options.allowed), connectTimeout, "could not be resolved")
      const request = yield* requestFileUrl(checked, addresses)
      yield* wait(request.connected, connectTimeout, "did not accept a connection")
      const response = yield* wait(request.response, responseTimeout, "did not answer")
      const problem = problemOf(response, maximumBytes)
      if (problem !== undefined) return yield* new ImportRefused({ reason: `${host} ${problem}` })

      let received = 0
      const limit = (chunks: ReadonlyArray<Uint8Array>) => {
        for (const chunk of chunks) received += chunk.length
        return received > maximumBytes
          ? Effect.fail(new ImportRefused({ reason: `${host} ${tooLarge(maximumBytes)}` }))
          : Effect.void
      }
      const body = NodeStream.fromReadable<Uint8Array, ImportRefused>({
        evaluate: () => response,
        onError: (error) =>
          new ImportRefused({ reason: `the file of ${host} broke off${codeOf(error)}. Import again.` })
      })
      return Stream.transformPull(body, (pull) =>
        Effect.succeed(Effect.tap(wait(pull, total, "did not send the whole file"), limit))
      )
    })
  )

/** Spends one budget of time on several waits, each of which may have a limit of its own. */
const waiting = (host: string, total: Duration.Duration) => {
  let spent = Duration.zero
  return <A, E, R>(effect: Effect.Effect<A, E, R>, limit: Duration.Duration, problem: string) =>
    Effect.suspend(() => {
      const left = Duration.subtract(total, spent)
      const duration = Duration.min(limit, left)
      return Effect.timed(effect).pipe(
        Effect.timeoutOrElse({
          duration,
          orElse: () =>
            Effect.fail(
              new ImportRefused({
                reason: `${host} ${problem} within ${Duration.format(
                  Duration.isLessThan(limit, left) ? limit : total
                )}. Try again later, or send the file itself.`
              })
            )
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

/** What speaks against a response, by its head. */
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
