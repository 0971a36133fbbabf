/** Addresses of requests as undici takes them: plain ones without the cost of parsing them, others as `URL` reads them. */
import { Result } from "effect"
import { type HttpClientRequest, Url } from "effect/http"

/** The address of a request for undici. */
interface Address {
  readonly origin: string
  /** The path with the query. */
  readonly path: string
  /** The whole address, without a fragment. */
  readonly href: string
}

/** An address that `URL` would not change: no dot segments and nothing to escape. */
const plain = /^(https?:\/\/[^/?#\\\s]+)((?:\/(?!\.|%2e)[\w~.%@+,;=:!$&()*-]*)+)$/i

/** The last parsed origin: `URL` on every call takes 6 % of the CPU of a `get` (benchmarks/get). */
let known = { text: "", origin: "" }

const originOf = (text: string): string | undefined => {
  if (known.text === text) return known.origin
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "") return undefined
  known = { text, origin: url.origin }
  return url.origin
}

/** The address of a request; fails unless it is one of http or https. */
export const addressOf = ({
  url,
  urlParams
}: HttpClientRequest.HttpClientRequest): Result.Result<Address, Url.UrlError | undefined> => {
  const [, start, path] = urlParams.params.length === 0 ? (plain.exec(url) ?? []) : []
  const origin = start === undefined ? undefined : originOf(start)
  if (origin !== undefined && path !== undefined) return Result.succeed({ origin, path, href: origin + path })
  return Result.flatMap(Url.make(url, urlParams, undefined), ({ href, origin, pathname, protocol, search }) =>
    /^https?:$/.test(protocol)
      ? Result.succeed({ origin, path: pathname + search, href: href.split("#", 1)[0] ?? "" })
      : Result.fail(undefined)
  )
}
