/** Finds the route of a request by its method and path. */
import { readSearchParams } from "./QueryNames.ts"
import type { Incoming, Route } from "./Routes.ts"

/** The routes below a part of the paths. */
interface Branch {
  readonly fixed: Map<string, Branch>
  /** The parameter that any other segment is a value of. */
  parameter: { readonly name: string; readonly branch: Branch } | undefined
  readonly routes: Map<string, Route>
}

const makeBranch = (): Branch => ({ fixed: new Map(), parameter: undefined, routes: new Map() })

const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
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

interface Found extends Pick<Incoming, "params" | "searchParams"> {
  readonly route: Route
}

/**
 * Finds routes by their paths, which match exactly. With `FindMyWay` a request takes a tenth longer, since that decodes a
 * path with an escaped @ character by character. (docs/decisions/performance.md)
 */
export const makeRouter = (routes: ReadonlyArray<Route>) => {
  const root = makeBranch()
  for (const route of routes) {
    let branch = root
    for (const segment of segmentsOf(route.path)) {
      const isParameter = segment.startsWith(":")
      const below: Branch = (isParameter ? branch.parameter?.branch : branch.fixed.get(segment)) ?? makeBranch()
      if (isParameter) branch.parameter = { name: segment.slice(1), branch: below }
      else branch.fixed.set(segment, below)
      branch = below
    }
    branch.routes.set(route.method, route)
  }
  const methods = new Set(routes.map(({ method }) => method))

  const routeOfPath = (method: string, path: string, params: Record<string, string>): Route | undefined => {
    const segments = segmentsOf(path)
    const follow = ({ fixed, parameter, routes }: Branch, index: number): Route | undefined => {
      const segment = segments[index]
      if (segment === undefined) return routes.get(method)
      const branch = fixed.get(segment)
      const route = branch === undefined ? undefined : follow(branch, index + 1)
      if (route !== undefined || parameter === undefined) return route
      const value = valueOf(segment)
      if (value === undefined) return undefined
      params[parameter.name] = value
      return follow(parameter.branch, index + 1)
    }
    return follow(root, 0)
  }

  /** Finds a route, for a URL without a `urlIssue`. */
  const find = (method: string, url: string): Found | undefined => {
    if (hasTooManyParameters(url)) return undefined
    const params: Record<string, string> = {}
    const route = routeOfPath(method, pathOf(url), params)
    if (route === undefined) return undefined
    const end = url.indexOf("?")
    return { route, params, searchParams: readSearchParams(end === -1 ? "" : url.slice(end + 1)) }
  }
  /** The methods of a path in alphabetical order, with HEAD for GET. */
  const methodsOf = (url: string): ReadonlyArray<string> =>
    [...methods]
      .filter((method) => routeOfPath(method, pathOf(url), {}) !== undefined)
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
  const path = pathOf(url)
  try {
    return decodeURIComponent(path).includes("\0") ? "The path holds a NUL character." : undefined
  } catch {
    return "The path is not percent-encoded UTF-8."
  }
}
