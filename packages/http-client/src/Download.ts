/**
 * The file of an export, by its link: a stream of bytes, asked for without the key, since the link carries its own. A
 * download that breaks off goes on where it was, as long as it is the same file; what arrives is as long as was said.
 */
import { ExportExpired, ExportNotFound, InvalidInput, ServiceError, TimedOut, Unavailable } from "@roster/domain"
import { Duration, Effect, Random, Stream } from "effect"
import { type HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { errorText, isPage, readText, retryAfter, unexpectedContent } from "./Answer.ts"
import { type Failure, statusFailure, transportFailure } from "./Failure.ts"
import { RetryPolicy } from "./RetryPolicy.ts"
import { retryTable } from "./RetryTable.ts"
import { within } from "./TimeLimit.ts"

/** A download is the last part of asking for the file, and goes by the same row. */
const operation = "contactsExportByIdStatusGet"

type DownloadError = ExportNotFound | ExportExpired | ServiceError

/** How far a download is, and of which file. */
interface Progress {
  received: number
  /** The size of the whole file, where it was said. */
  size: number | undefined
  etag: string | undefined
}

const broken = (detail: string): Failure<never> => ({
  evidence: "Ambiguous",
  error: new ServiceError({ operation, reason: new Unavailable({ detail }) })
})

const silent = (after: Duration.Duration, { received }: Progress): Failure<never> => ({
  evidence: "Ambiguous",
  error: new ServiceError({
    operation,
    reason: new TimedOut({ after: Duration.toSeconds(after), receivedBytes: received })
  })
})

const changed = (): Failure<never> => ({ ...broken("the file changed while it was downloaded"), evidence: "Permanent" })

/** Asks for the file, or for the rest of it where that is known to be the same file. */
const requestOf = (url: URL, { etag, received }: Progress): HttpClientRequest.HttpClientRequest =>
  received === 0 || etag === undefined
    ? HttpClientRequest.get(url)
    : HttpClientRequest.get(url, { headers: { range: `bytes=${received}-`, "if-match": etag } })

/** Whether an answer is of another file than what was received of it before. */
const isAnother = (
  { headers, status }: HttpClientResponse.HttpClientResponse,
  { etag, received, size }: Progress
): boolean => {
  const length = headers["content-length"]
  const isOtherSize = status !== 206 && size !== undefined && length !== undefined && Number(length) !== size
  return received > 0 && ((headers["etag"] ?? etag) !== etag || isOtherSize)
}

/** How many bytes an answer repeats: none where it is the rest, all that was received where it is the whole file again. */
const overlapOf = (response: HttpClientResponse.HttpClientResponse, progress: Progress): number | undefined => {
  if (response.status !== 206) return progress.received
  const start = /^bytes (\d+)-/.exec(response.headers["content-range"] ?? "")?.[1]
  return start !== undefined && Number(start) <= progress.received ? progress.received - Number(start) : undefined
}

const refusedDownload = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse, link: string) {
  const { headers, status } = response
  const text = yield* errorText(response)
  const permanent = (error: DownloadError): Failure<DownloadError> => ({ evidence: "Permanent", error })
  if (status === 410) return yield* Effect.fail(permanent(new ExportExpired({ id: link })))
  if (status === 404) return yield* Effect.fail(permanent(new ExportNotFound({ id: link })))
  if (status === 412) return yield* Effect.fail(changed())
  const failure = statusFailure(operation, {
    status,
    text,
    retryAfter: yield* retryAfter(response),
    location: headers["location"]
  })
  const error = failure.error._tag === "ServiceError" ? failure.error : new ExportNotFound({ id: link })
  return yield* Effect.fail<Failure<DownloadError>>({ ...failure, error })
})

/**
 * One attempt: what is still missing, or all that is left of it before something breaks. A file may take long, but nothing is
 * waited for longer than `patience`: neither the head nor the bytes that come next.
 */
const attempt = (
  client: HttpClient.HttpClient,
  url: URL,
  progress: Progress,
  patience: Duration.Duration
): Stream.Stream<Uint8Array, Failure<DownloadError>> => {
  const late = () => silent(patience, progress)
  const answer = Effect.gen(function* () {
    const response = yield* client
      .execute(requestOf(url, progress))
      .pipe(Effect.mapError((error) => transportFailure(operation, error)))
    if (response.status < 200 || response.status >= 300) return yield* refusedDownload(response, url.href)
    if (isPage(response)) {
      return yield* Effect.fail(yield* unexpectedContent(operation, response, yield* readText(operation, response)))
    }
    if (isAnother(response, progress)) return yield* Effect.fail(changed())
    const overlap = overlapOf(response, progress)
    if (overlap === undefined) return yield* Effect.fail(broken("the service sent another part than was asked for"))
    const length = response.headers["content-length"]
    progress.etag ??= response.headers["etag"]
    if (length !== undefined) progress.size ??= Number(length) + progress.received - overlap
    let toSkip = overlap
    return response.stream.pipe(
      Stream.mapError((error) => transportFailure(operation, error)),
      Stream.timeoutOrElse({ duration: patience, orElse: () => Stream.fail(late()) }),
      Stream.map((chunk) => {
        const fresh = chunk.subarray(Math.min(toSkip, chunk.length))
        toSkip -= chunk.length - fresh.length
        progress.received += fresh.length
        return fresh
      }),
      Stream.concat(
        Stream.suspend(() =>
          progress.size === undefined || progress.size === progress.received
            ? Stream.empty
            : Stream.fail(broken(`${progress.received} of ${progress.size} bytes came`))
        )
      )
    )
  })
  return Stream.unwrap(within(answer, patience, late))
}

/**
 * @internal
 */
export const downloadExport = (
  client: HttpClient.HttpClient,
  link: string
): Stream.Stream<Uint8Array, DownloadError | InvalidInput> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const url = URL.parse(link)
      if (url === null || !/^https?:$/.test(url.protocol)) {
        return yield* new InvalidInput({ field: "link", issue: "it is not the link of an export" })
      }
      const policy = yield* RetryPolicy
      const row = retryTable[operation]
      const progress: Progress = { received: 0, size: undefined, etag: undefined }
      // Bytes that came are worth new attempts: what is bounded is how often nothing comes.
      const loop = (fruitless: number): Stream.Stream<Uint8Array, DownloadError> =>
        Stream.suspend(() => {
          const before = progress.received
          return attempt(client, url, progress, policy.attemptTimeout).pipe(
            Stream.catch((failure) => {
              const made = progress.received > before ? 1 : fruitless + 1
              const repeats = failure.evidence !== "Permanent" && row.ambiguous === "always"
              if (!repeats || made >= policy.attempts) return Stream.fail(failure.error)
              const told = failure.retryAfter ?? Duration.zero
              if (Duration.isGreaterThan(told, policy.longestRetryAfter)) return Stream.fail(failure.error)
              const ceiling = Duration.min(policy.longestWait, Duration.times(policy.base, 2 ** (made - 1)))
              const wait = Effect.flatMap(Random.next, (random) =>
                Effect.sleep(Duration.sum(told, Duration.times(ceiling, random)))
              )
              return Stream.concat(Stream.fromEffectDrain(wait), loop(made))
            })
          )
        })
      return loop(0)
    })
  )
