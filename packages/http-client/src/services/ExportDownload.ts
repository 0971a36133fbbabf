/**
 * Downloads the file of an export by its link, without the key. A broken download goes on behind what was passed on only
 * where a strong ETag proves that the file is the same; its length is checked. Where a link leads nowhere, the service is asked
 * at its own address. (docs/decisions/downloads.md)
 */
import { announcesItself, exportBelow } from "@roster/api"
import {
  DownloadNotice,
  ExportExpired,
  ExportNotFound,
  InvalidInput,
  type ServiceError,
  TimedOut,
  Unavailable
} from "@roster/domain"
import { type Context, Duration, Effect, Redacted, Stream } from "effect"
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
  /** The content encoding of the answer that the tag is of; empty without one. */
  encoding: string
  /** Whether to ask for the rest: an offset in the file is none in a compressed answer, and not all services can. */
  isResumable: boolean
  /** Whether it was said that the file comes from elsewhere than its link says. */
  isNoticed: boolean
}

const broken = (detail: string) => failureOf(operation, "Ambiguous", new Unavailable({ detail }))

const timedOut = (after: Duration.Duration, { received }: Progress) =>
  failureOf(operation, "Ambiguous", new TimedOut({ after: Duration.toSeconds(after), receivedBytes: received }))

/** Fails without another attempt, since the file of the service is no longer the one whose bytes the caller has. */
const unjoinable = ({ received }: Progress, detail: string) =>
  failureOf(
    operation,
    "Permanent",
    new Unavailable({ detail: `the download broke off after ${received} bytes, and ${detail}` })
  )

const unproved = (progress: Progress) =>
  unjoinable(progress, "the service does not show by a strong ETag that its file is still the same")

const changed = (progress: Progress) => unjoinable(progress, "the file has changed since")

/** An ETag that only the same bytes have (RFC 9110, 8.8.3), so not a weak one, a list or a bare word. */
const isStrong = (etag: string | undefined): etag is string => etag !== undefined && /^"[!#-~\x80-\xff]*"$/.test(etag)

/** Requests the file, or its rest if its tag is still that of the bytes that were passed on. */
const requestOf = (url: URL, { etag, isResumable, received, size }: Progress): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.get(url, {
    headers: {
      // A compressed answer cannot be resumed, and `fetch` would accept one.
      "accept-encoding": "identity",
      ...(received > 0 && received !== size && isResumable && isStrong(etag)
        ? { range: `bytes=${received}-`, "if-range": etag }
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

/** Where the bytes of an answer stand in the file. */
interface Place {
  /** The offset of the first byte. */
  readonly start: number
  /** The offset behind the last byte, if known. */
  readonly end: number | undefined
  /** The size of the whole file, if known. */
  readonly size: number | undefined
}

/** The place of the bytes that an answer brings, by its `Content-Range` if it is a part. */
const placeOf = (response: Response): Place | undefined => {
  const length = lengthOf(response)
  if (response.status !== 206) return { start: 0, end: length, size: length }
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(response.headers["content-range"] ?? "")
  if (range === null || encodingOf(response.headers) !== "") return undefined
  const [first = 0, last = 0, size = 0] = range.slice(1).map(Number)
  const end = last + 1
  return first < end && end <= size && (length ?? end - first) === end - first ? { start: first, end, size } : undefined
}

/** The place of an answer, or why its bytes may be those of another file than the bytes that were passed on. */
const joined = (response: Response, progress: Progress): Place | Failure<never> => {
  const { encoding, etag, received, size } = progress
  const { headers, status } = response
  const place = placeOf(response)
  if (received > 0) {
    const said = headers["etag"]
    if (!isStrong(said)) return unproved(progress)
    if (said !== etag) return changed(progress)
    // In another encoding, the same tag does not mean the same bytes.
    if (status !== 206 && encodingOf(headers) !== encoding) return unproved(progress)
    if (size !== undefined && place?.size !== undefined && place.size !== size) return changed(progress)
  }
  return place === undefined || (status === 206 && place.start !== received)
    ? broken("the service sent another part than the requested one")
    : place
}

/** Closes the connection of an unread answer. */
const discard = (response: Response) => Effect.ignore(Effect.scoped(Stream.toPull(response.stream)))

/** The secrets of a link, by which anybody could download its file: its query, and keys in its path. */
const secretsOf = ({ password, pathname, search, searchParams, username }: URL): Secrets =>
  [
    search.slice(1),
    ...search.split("&").map((parameter) => parameter.slice(parameter.indexOf("=") + 1)),
    ...searchParams.values(),
    ...pathname.split("/").filter((segment) => segment.length >= 20),
    username,
    password
  ]
    // Shorter ones are no secrets, and would hide words.
    .filter((text) => text.length >= 8)
    .map((text) => Redacted.make(text))

/** A link in errors. */
const shownLink = ({ origin }: URL): string => `${origin}/…`

const noticeOf = ({ error }: Failure<DownloadError>, { host }: URL): string => {
  const why = error._tag === "ServiceError" && "detail" in error.reason ? error.reason.detail : error.message
  return `The link of the export leads nowhere: ${why}. The file comes from ${host}, where the service is called.`
}

const refusedDownload = Effect.fnUntraced(function* (response: Response, url: URL, secrets: Secrets) {
  const link = shownLink(url)
  const { headers, status } = response
  const { foreign, isEmpty, text } = yield* readRefusalBody(response, secrets)
  const isOwn = foreign === undefined || isEmpty
  const permanent = (error: DownloadError): Failure<DownloadError> => ({ evidence: "Permanent", error })
  if (status === 410 && isOwn) return yield* Effect.fail(permanent(new ExportExpired({ id: link })))
  if (status === 404 && isOwn) return yield* Effect.fail(permanent(new ExportNotFound({ id: link })))
  const failure = statusFailure(operation, {
    status,
    text,
    foreign: isOwn ? undefined : foreign,
    retryAfter: yield* retryAfter(response),
    location: headers["location"]
  })
  const error = failure.error._tag === "ServiceError" ? failure.error : new ExportNotFound({ id: link })
  return yield* Effect.fail<Failure<DownloadError>>({ ...failure, error })
})

/**
 * One attempt at the missing bytes. Neither the head nor the next bytes may take longer than `idleTimeout`. With `instead`, why
 * the link leads nowhere, the address is another one: unless a service of ours answers there, that is the failure.
 */
const attempt = (
  client: HttpClient.HttpClient,
  url: URL,
  secrets: Secrets,
  progress: Progress,
  idleTimeout: Duration.Duration,
  instead?: Failure<DownloadError>
): Stream.Stream<Uint8Array, Failure<DownloadError>> => {
  const late = () => timedOut(idleTimeout, progress)
  const answer = Effect.gen(function* () {
    const request = requestOf(url, progress)
    const response = yield* client
      .execute(request)
      .pipe(Effect.mapError((error) => instead ?? transportFailure(operation, error)))
    if (instead !== undefined) {
      if (!announcesItself(response)) {
        yield* discard(response)
        return yield* Effect.fail(instead)
      }
      if (!progress.isNoticed) yield* (yield* DownloadNotice)(noticeOf(instead, url))
      progress.isNoticed = true
    }
    const named = withResponseHeaders(secrets, response)
    const isRest = request.headers["range"] !== undefined
    if (isRest && response.status === 416) {
      // Asking for the whole file tells whether it ends here or is another one.
      progress.isResumable = false
      yield* discard(response)
      return yield* Effect.fail(broken("the service has no bytes behind those that came"))
    }
    if (response.status < 200 || response.status >= 300) {
      return yield* Effect.mapError(refusedDownload(response, url, secrets), named)
    }
    if (isPage(response)) {
      const page = Effect.flatMap(readText(operation, response), (text) =>
        unexpectedContent(operation, response, secrets, text)
      )
      return yield* Effect.mapError(page, named)
    }
    const issue = formIssue(response, isRest)
    const place = issue === undefined ? joined(response, progress) : invalidResponse(operation, response.status, issue)
    if ("error" in place) {
      progress.isResumable = false
      yield* discard(response)
      return yield* Effect.fail(place)
    }
    const isEncoded = encodingOf(response.headers) !== ""
    progress.isResumable = !isEncoded
    if (progress.received === 0) {
      progress.etag = response.headers["etag"]
      progress.encoding = encodingOf(response.headers)
      progress.size = undefined
    }
    progress.size ??= place.size
    const end = place.end ?? progress.size
    let at = place.start
    return response.stream.pipe(
      Stream.mapError((error) => transportFailure(operation, error)),
      Stream.timeoutOrElse({ duration: idleTimeout, orElse: () => Stream.fail(late()) }),
      Stream.mapEffect((chunk) => {
        const fresh = chunk.subarray(Math.min(Math.max(progress.received - at, 0), chunk.length))
        at += chunk.length
        if (at > (end ?? at)) return Effect.fail(unjoinable(progress, "more bytes come than the service said"))
        progress.received += fresh.length
        return Effect.succeed(fresh)
      }),
      Stream.concat(
        Stream.suspend(() => {
          const { received, size } = progress
          // Even an empty file is not empty when compressed, so an encoded answer without bytes was cut off.
          const isWhole = at === received && (size ?? received) === received && !(isEncoded && received === 0)
          return isWhole ? Stream.empty : Stream.fail(broken(`${received} of ${size ?? "all"} bytes came`))
        })
      )
    )
  })
  return Stream.unwrap(Effect.timeoutOrElse(answer, { duration: idleTimeout, orElse: () => Effect.fail(late()) }))
}

export const downloadExport = (
  {
    baseUrl,
    policyOf,
    withoutKey: client
  }: Pick<Context.Service.Shape<typeof RosterHttpApi>, "baseUrl" | "policyOf" | "withoutKey">,
  link: string
): Stream.Stream<Uint8Array, DownloadError | InvalidInput> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const url = URL.parse(link)
      if (url === null || !/^https?:$/.test(url.protocol)) {
        return yield* new InvalidInput({ field: "link", issue: "it is not the link of an export" })
      }
      if (baseUrl.startsWith("https:") && url.protocol === "http:") {
        return yield* new InvalidInput({
          field: "link",
          issue:
            "it is http, and the service is called by https: its operator gives it a public address that begins with https"
        })
      }
      const policy = policyOf(yield* Effect.context<never>())
      const secrets = secretsOf(url)
      const row = retryTable[operation]
      const progress: Progress = {
        received: 0,
        size: undefined,
        etag: undefined,
        encoding: "",
        isResumable: false,
        isNoticed: false
      }
      const other = exportBelow(baseUrl, url)
      const tryAt = (at: URL, instead?: Failure<DownloadError>) =>
        attempt(client, at, secrets, progress, policy.attemptTimeout, instead)
      const tryOnce =
        other === undefined
          ? tryAt(url)
          : Stream.catch(tryAt(url), (failure) =>
              failure.evidence === "NotSent" ? tryAt(other, failure) : Stream.fail(failure)
            )
      // Only attempts that bring no bytes are limited.
      const loop = (fruitless: number): Stream.Stream<Uint8Array, DownloadError> =>
        Stream.suspend(() => {
          const before = progress.received
          return tryOnce.pipe(
            Stream.catch((failure) => {
              const attempt = progress.received > before ? 1 : fruitless + 1
              const repeats = failure.evidence !== "Permanent" && row.ambiguous === "always"
              if (!repeats || attempt >= policy.attempts) return Stream.fail(failure.error)
              if (progress.received > 0 && !isStrong(progress.etag)) return Stream.fail(unproved(progress).error)
              return Stream.unwrap(
                Effect.gen(function* () {
                  const wait = yield* waitAfter(policy, failure, attempt)
                  if (wait === undefined) return Stream.fail(failure.error)
                  yield* Effect.sleep(wait)
                  return loop(attempt)
                })
              )
            })
          )
        })
      return loop(0)
    })
  )
