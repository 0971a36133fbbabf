/**
 * Downloads the file of an export by its link, without the key. A broken download resumes, or restarts behind what was
 * received, if the file is provably the same; its length is checked. (docs/decisions/downloads.md)
 */
import { ExportExpired, ExportNotFound, InvalidInput, type ServiceError, TimedOut, Unavailable } from "@roster/domain"
import { type Context, Duration, Effect, Stream } from "effect"
import { type HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { withResponseHeaders } from "../calls/ResponseHeaders.ts"
import {
  isPage,
  readRefusalBody,
  readText,
  retryAfter,
  type Secrets,
  unexpectedContent
} from "../calls/ResponseDecoding.ts"
import { BufferedResponse, encodingOf, isDecodable, UnsupportedEncoding } from "../transport/BufferedResponse.ts"
import {
  type Failure,
  failureOf,
  invalidResponse,
  statusFailure,
  transportFailure
} from "../calls/ErrorClassification.ts"
import { waitAfter } from "../calls/RetryPolicy.ts"
import { retryTable } from "../calls/RetryTable.ts"
import type { RosterHttpApi } from "../calls/RosterHttpApi.ts"

/** Downloads have the same retry row as the status of an export. */
const operation = "contactsExportByIdStatusGet"

type Response = HttpClientResponse.HttpClientResponse

type DownloadError = ExportNotFound | ExportExpired | ServiceError

/** The progress of a download, in bytes of the decoded file. */
interface Progress {
  received: number
  /** The size of the whole file, if known. */
  size: number | undefined
  etag: string | undefined
  /** Whether an offset in the file is one in the answer, which is not so for compressed answers. */
  isResumable: boolean
}

const broken = (detail: string) => failureOf(operation, "Ambiguous", new Unavailable({ detail }))

const timedOut = (after: Duration.Duration, { received }: Progress) =>
  failureOf(operation, "Ambiguous", new TimedOut({ after: Duration.toSeconds(after), receivedBytes: received }))

const changed = (detail = "the file changed while it was downloaded") =>
  failureOf(operation, "Permanent", new Unavailable({ detail }))

/** Requests the file, or its rest if a strong ETag identifies it. */
const requestOf = (url: URL, { etag, isResumable, received, size }: Progress): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.get(url, {
    headers: {
      // A compressed answer cannot be resumed, and `fetch` would accept one.
      "accept-encoding": "identity",
      ...(received > 0 && received !== size && isResumable && etag !== undefined && !etag.startsWith("W/")
        ? { range: `bytes=${received}-`, "if-match": etag }
        : {})
    }
  })

/** The length of the file, or part of it, in an answer; unknown if it is compressed. */
const lengthOf = (response: Response): number | undefined => {
  const said = response.headers["content-length"]
  return encodingOf(response.headers) === "" && said !== undefined && /^\d+$/.test(said) ? Number(said) : undefined
}

/** Why an answer is not a file, or part of one, whose end can be recognised. */
const formIssue = (response: Response, wasPartAskedFor: boolean): string | undefined => {
  const { headers, status } = response
  const encoding = encodingOf(headers)
  if (status === 206 && !wasPartAskedFor) return "it is a part of the file, but the whole file was requested"
  if (status !== 200 && status !== 206) return "it is not a file"
  if (status === 200 && headers["content-range"] !== undefined)
    return "it claims to be both the whole file and a part of it"
  if (!isDecodable(encoding)) return new UnsupportedEncoding(encoding).message
  const isFramed = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined
  const isCutDetected = response instanceof BufferedResponse && response.detectsTruncation
  return encoding === "" || isFramed || isCutDetected ? undefined : "it is compressed, and its end cannot be recognised"
}

const opaqueTag = (etag: string | undefined): string | undefined => etag?.replace(/^W\//, "")

/** The number of bytes that the whole file repeats, or why it may be another file. */
const overlapOfWhole = (response: Response, { etag, received, size }: Progress): number | Failure<never> => {
  if (received === 0) return 0
  const said = response.headers["etag"]
  const length = lengthOf(response)
  if (opaqueTag(said ?? etag) !== opaqueTag(etag)) return changed()
  if (size !== undefined && length !== undefined && length !== size) return changed()
  const isSame = (said !== undefined && etag !== undefined) || (size !== undefined && length !== undefined)
  return isSame
    ? received
    : changed("the download broke off, and the service does not show that the file is still the same")
}

/** The size of the whole file according to a part of it. */
const totalOf = ({ headers }: Response): number | undefined => {
  const total = /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1]
  return total === undefined ? undefined : Number(total)
}

/** The same for a part: 0 if it begins with the first missing byte. */
const overlapOfPart = (response: Response, { etag, received, size }: Progress): number | Failure<never> => {
  const said = response.headers["etag"]
  const start = /^bytes (\d+)-\d+\/(?:\d+|\*)$/i.exec(response.headers["content-range"] ?? "")?.[1]
  const whole = totalOf(response) ?? size
  if (opaqueTag(said ?? etag) !== opaqueTag(etag)) return changed()
  if (start === undefined || Number(start) > received || whole === undefined || encodingOf(response.headers) !== "") {
    return broken("the service sent another part than the requested one")
  }
  return size !== undefined && size !== whole ? changed() : received - Number(start)
}

/** Closes the connection of an unread answer. */
const discard = (response: Response) => Effect.ignore(Effect.scoped(Stream.toPull(response.stream)))

/** No key is sent, so that no answer can quote it. */
const noSecrets: Secrets = []

const refusedDownload = Effect.fnUntraced(function* (response: Response, link: string) {
  const { headers, status } = response
  const { text } = yield* readRefusalBody(response, noSecrets)
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

/** One attempt at the missing bytes. Neither the head nor the next bytes may take longer than `idleTimeout`. */
const attempt = (
  client: HttpClient.HttpClient,
  url: URL,
  progress: Progress,
  idleTimeout: Duration.Duration
): Stream.Stream<Uint8Array, Failure<DownloadError>> => {
  const late = () => timedOut(idleTimeout, progress)
  const answer = Effect.gen(function* () {
    const request = requestOf(url, progress)
    const response = yield* client.execute(request).pipe(Effect.mapError((error) => transportFailure(operation, error)))
    const named = withResponseHeaders(noSecrets, response)
    if (response.status < 200 || response.status >= 300) {
      return yield* Effect.mapError(refusedDownload(response, url.href), named)
    }
    if (isPage(response)) {
      const page = Effect.flatMap(readText(operation, response), (text) =>
        unexpectedContent(operation, response, noSecrets, text)
      )
      return yield* Effect.mapError(page, named)
    }
    const issue = formIssue(response, request.headers["range"] !== undefined)
    const isPart = response.status === 206
    const overlap =
      issue !== undefined
        ? invalidResponse(operation, response.status, issue)
        : isPart
          ? overlapOfPart(response, progress)
          : overlapOfWhole(response, progress)
    if (typeof overlap !== "number") {
      progress.isResumable = false
      yield* discard(response)
      return yield* Effect.fail(overlap)
    }
    const isEncoded = encodingOf(response.headers) !== ""
    progress.isResumable = !isEncoded
    if (progress.received === 0) {
      progress.etag = response.headers["etag"]
      progress.size = undefined
    }
    progress.size ??= isPart ? totalOf(response) : lengthOf(response)
    let toSkip = overlap
    return response.stream.pipe(
      Stream.mapError((error) => transportFailure(operation, error)),
      Stream.timeoutOrElse({ duration: idleTimeout, orElse: () => Stream.fail(late()) }),
      Stream.map((chunk) => {
        const fresh = chunk.subarray(Math.min(toSkip, chunk.length))
        toSkip -= chunk.length - fresh.length
        progress.received += fresh.length
        return fresh
      }),
      Stream.concat(
        Stream.suspend(() => {
          const { received, size } = progress
          // Even an empty file is not empty when compressed, so an encoded answer without bytes was cut off.
          const isWhole = toSkip === 0 && (size ?? received) === received && !(isEncoded && received === 0)
          return isWhole ? Stream.empty : Stream.fail(broken(`${received} of ${size ?? "all"} bytes came`))
        })
      )
    )
  })
  return Stream.unwrap(Effect.timeoutOrElse(answer, { duration: idleTimeout, orElse: () => Effect.fail(late()) }))
}

export const downloadExport = (
  {
    isEncrypted,
    policyOf,
    withoutKey: client
  }: Pick<Context.Service.Shape<typeof RosterHttpApi>, "isEncrypted" | "policyOf" | "withoutKey">,
  link: string
): Stream.Stream<Uint8Array, DownloadError | InvalidInput> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const url = URL.parse(link)
      if (url === null || !/^https?:$/.test(url.protocol)) {
        return yield* new InvalidInput({ field: "link", issue: "it is not the link of an export" })
      }
      if (isEncrypted && url.protocol === "http:") {
        return yield* new InvalidInput({
          field: "link",
          issue: "it is http, and the service is called by https: start the service with --public-url"
        })
      }
      const policy = policyOf(yield* Effect.context<never>())
      const row = retryTable[operation]
      const progress: Progress = { received: 0, size: undefined, etag: undefined, isResumable: false }
      // Only attempts that bring no bytes are limited.
      const loop = (fruitless: number): Stream.Stream<Uint8Array, DownloadError> =>
        Stream.suspend(() => {
          const before = progress.received
          return attempt(client, url, progress, policy.attemptTimeout).pipe(
            Stream.catch((failure) => {
              const made = progress.received > before ? 1 : fruitless + 1
              const repeats = failure.evidence !== "Permanent" && row.ambiguous === "always"
              if (!repeats || made >= policy.attempts) return Stream.fail(failure.error)
              return Stream.unwrap(
                Effect.gen(function* () {
                  const wait = yield* waitAfter(policy, failure, made)
                  if (wait === undefined) return Stream.fail(failure.error)
                  yield* Effect.sleep(wait)
                  return loop(made)
                })
              )
            })
          )
        })
      return loop(0)
    })
  )
