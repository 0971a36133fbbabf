/**
 * Where a request goes, as undici takes it.
 */
import { Result } from "effect"
import { type HttpClientRequest, Url } from "effect/http"

export interface Address {
  readonly origin: string
  /** With the query. */
  readonly path: string
  /** The whole address, without a fragment. */
  readonly href: string
}

const ofUrl = (url: URL): Address => ({
  origin: url.origin,
  path: url.pathname + url.search,
  href: url.href.split("#", 1)[0] ?? ""
})

/** An address that is written as `URL` would write it: its path has no segment that leads elsewhere, and nothing to escape. */
const plain = /^(https?:\/\/[^/?#\\\s]+)((?:\/(?!\.|%2e)[\w~.%@+,;=:!$&()*-]*)+)$/i

/** The origins of those that were asked last. */
const origins = new Map<string, string>()
const mostOrigins = 100

const originOf = (text: string): string | undefined => {
  const known = origins.get(text)
  if (known !== undefined) return known
  const url = URL.parse(text)
  // What is more than an origin is not for many.
  if (url === null || url.username !== "" || url.password !== "") return undefined
  if (origins.size >= mostOrigins) origins.clear()
  origins.set(text, url.origin)
  return url.origin
}

/** The address of a request; one that is none, or of no kind that is spoken here, is a failure. */
export const addressOf = ({
  url,
  urlParams
}: HttpClientRequest.HttpClientRequest): Result.Result<Address, Url.UrlError | undefined> => {
  const [, start, path] = urlParams.params.length === 0 ? (plain.exec(url) ?? []) : []
  const origin = start === undefined ? undefined : originOf(start)
  if (origin !== undefined && path !== undefined) return Result.succeed({ origin, path, href: origin + path })
  const parsed = Url.make(url, urlParams, undefined)
  if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
  return /^https?:$/.test(parsed.success.protocol) ? Result.succeed(ofUrl(parsed.success)) : Result.fail(undefined)
}
