/** A server on a store of its own, and what it costs to ask it. */
import { Effect } from "effect"
import { serve as serveCommand } from "../src/Served.ts"
import { type Arguments, runTrial, server, type Server } from "../src/Variant.ts"

export interface ServedStore {
  readonly server: Server
  readonly store: string
}

/** Starts a server on a store, which leaves the key to it beside it. */
export const serve = (source: URL, store: string, values: Arguments = {}) =>
  Effect.map(server(source, { ...values, store }), (server): ServedStore => ({ server, store }))

/** Starts `roster serve` on a store, or on a database whose key is kept beside it. */
export const serveRoster = (store: string, options: { readonly database?: string } = {}) =>
  Effect.map(serveCommand(store, options), (server): ServedStore => ({ server, store }))

/** Asks over 32 connections. The figures are those of the server. */
export const ask = (
  { server: { pid, url }, store }: ServedStore,
  values: {
    readonly call: "one" | "page" | "add"
    readonly calls: number
    /** How many contacts are known to be there. */
    readonly known: number
    readonly size?: number
    readonly from?: number
    readonly offset?: number
    readonly isKeyed?: boolean
  }
) => {
  const { call, calls, from = 0, isKeyed = false, known, offset = -1, size = 0 } = values
  const keyed = isKeyed ? "yes" : "no"
  const flags = { url, pid, call, calls, known, size, from, offset, keyed, "key-file": `${store}.key` }
  return runTrial(new URL("load.ts", import.meta.url), flags)
}
