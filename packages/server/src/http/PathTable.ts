/**
 * Which route a path belongs to. A path that ends with an address, as clients write it, is found by what stands before the
 * address: the whole table takes as long as looking for the contact.
 */
import { FindMyWay, type HttpMethod } from "effect/http"

/** Paths are matched to the letter; a value in a path may be as long as the longest e-mail, three bytes a character. */
const exactly: Partial<FindMyWay.RouterConfig> = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: 4096
}

/** An address in which nothing is escaped but its @. No path of ours has one, so it can be nothing but a value. */
const plainAddress = /^[\w.+-]{1,64}%40[\w.-]{1,255}$/

const endsWithValue = /^([^:]*\/):(\w+)$/

interface End<A> {
  readonly method: HttpMethod.HttpMethod
  readonly prefix: string
  readonly name: string
  readonly handler: A
}

/** A route by its method and its path. */
export interface PathRoute<A> {
  readonly method: HttpMethod.HttpMethod
  readonly path: FindMyWay.PathInput
  readonly handler: A
}

export const makePathTable = <A>(routes: ReadonlyArray<PathRoute<A>>) => {
  const table = FindMyWay.make<A>(exactly)
  const methods = [...new Set(routes.map(({ method }) => method))]
  const ends: Array<End<A>> = []
  for (const { handler, method, path } of routes) {
    table.on(method, path, handler)
    const [, prefix, value] = endsWithValue.exec(path) ?? []
    // The name of a property, since V8 takes many times as long to write one by a name that was cut out of a text.
    const [name] = Object.keys({ [value ?? ""]: undefined })
    if (prefix !== undefined && name !== undefined) ends.push({ method, prefix, name, handler })
  }
  /** Any path; a value in it is never empty. */
  const find = (method: string, url: string): FindMyWay.FindResult<A> | undefined => {
    const found = table.find(method, url)
    return found === undefined || Object.values(found.params).includes("") ? undefined : found
  }
  return {
    find,
    /** The methods that a path has, in alphabetical order: HEAD where there is GET. */
    methodsOf: (url: string): ReadonlyArray<string> =>
      methods
        .filter((method) => find(method, url) !== undefined)
        .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
        .toSorted(),
    /** The same of a path without a query that ends with a plain address, and `undefined` for all others. */
    findPlain: (method: string, url: string): FindMyWay.FindResult<A> | undefined => {
      for (const end of ends) {
        if (end.method !== method || !url.startsWith(end.prefix)) continue
        const value = url.slice(end.prefix.length)
        if (!plainAddress.test(value)) continue
        const params: Record<string, string> = {}
        params[end.name] = value.replace("%40", "@")
        return { handler: end.handler, params, searchParams: {} }
      }
      return undefined
    }
  }
}
