/** Finds the route of a request by its method and path. */
import type { Incoming, Route } from "./Routes.ts"

/** The path and the query of a URL. */
const partsOf = (url: string): readonly [path: string, query: string] => {
  const end = url.indexOf("?")
  return end === -1 ? [url, ""] : [url.slice(0, end), url.slice(end + 1)]
}

/** More segments than a path of the contract has: what is behind them need not be read. */
const maximumSegments = 16

const segmentsOf = (path: string): ReadonlyArray<string> => path.split("/", maximumSegments).slice(1)

/** The value in a segment of a path, which is never empty; `undefined` if it cannot be one. */
const valueOf = (segment: string): string | undefined => {
  if (!segment.includes("%")) return segment === "" ? undefined : segment
  try {
    const value = decodeURIComponent(segment)
    return value.includes("\0") ? undefined : value
  } catch {
    return undefined
  }
}

/** The values in a path of these segments; `undefined` if it has others. */
const paramsOf = (pattern: ReadonlyArray<string>, segments: ReadonlyArray<string>): Incoming["params"] | undefined => {
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, expected] of pattern.entries()) {
    const given = segments[index] ?? ""
    if (expected.startsWith(":")) {
      const value = valueOf(given)
      if (value === undefined) return undefined
      params[expected.slice(1)] = value
    } else if (given !== expected) return undefined
  }
  return params
}

/**
 * Finds routes by their paths, which match exactly. With `FindMyWay` a request takes a tenth longer, since that decodes a
 * path with an escaped @ character by character. (docs/decisions/performance.md)
 */
export const makeRouter = (routes: ReadonlyArray<Route>) => {
  const all = routes.map((route) => ({ route, pattern: segmentsOf(route.path) }))
  // A path without parameters comes before one that takes its last segment for a value.
  const places = (path: string) => path.split(":").length
  const patterns = Map.groupBy(
    all.sort((a, b) => places(a.route.path) - places(b.route.path)),
    ({ route }): string => route.method
  )

  const routeOfPath = (method: string, path: string) => {
    const segments = segmentsOf(path)
    for (const { pattern, route } of patterns.get(method) ?? []) {
      const params = paramsOf(pattern, segments)
      if (params !== undefined) return { route, params }
    }
    return undefined
  }

  /** Finds a route, for a URL without a `urlIssue`. */
  const find = (method: string, url: string) => {
    if (hasTooManyParameters(url)) return undefined
    const [path, query] = partsOf(url)
    const found = routeOfPath(method, path)
    return found === undefined ? undefined : { ...found, query }
  }
  /** The methods of a path in alphabetical order, with HEAD for GET. */
  const methodsOf = (url: string): ReadonlyArray<string> =>
    [...patterns.keys()]
      .filter((method) => routeOfPath(method, partsOf(url)[0]) !== undefined)
      .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
      .toSorted()
  return { find, methodsOf }
}

/** The parameters of a query. To read some thousands takes some ms on the thread that answers everybody. */
const maximumParameters = 1000

const hasTooManyParameters = (url: string): boolean =>
  url.length > maximumParameters && url.split("&", maximumParameters + 1).length > maximumParameters

/** Why no route is found for a URL, whatever its path. */
export const urlIssue = (url: string): string | undefined => {
  if (hasTooManyParameters(url)) return `The query has more than ${maximumParameters} parameters.`
  if (!url.includes("%")) return undefined
  const [path] = partsOf(url)
  try {
    return decodeURIComponent(path).includes("\0") ? "The path holds a NUL character." : undefined
  } catch {
    return "The path is not percent-encoded UTF-8."
  }
}
