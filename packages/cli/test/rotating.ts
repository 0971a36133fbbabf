/**
 * What the tests of rotation need: a way to the service on which a process is stopped, and a program that uses a key all the
 * time.
 */
import { Effect } from "effect"
import { type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"

/** Lets the time pass after which a successor belongs to no run at work any more. */
export const age = (store: string, name: string): void => {
  using database = new DatabaseSync(store)
  database.prepare("UPDATE credentials SET date_created = date_created - 1200 WHERE name = ?").run(name)
}

/** Where a request is stopped: before the service has it, or when it has done it and nobody was told. */
export interface Place {
  readonly method: string
  /** Which request of this method. */
  readonly number: number
  readonly when: "before" | "after"
}

/** Stands before a service. At a place it calls back in place of going on. */
export const stoppingProxy = (target: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const counts = new Map<string, number>()
      const state: { place: Place | undefined; reached: () => void } = { place: undefined, reached: () => {} }
      const isAt = (method: string, number: number, when: Place["when"]) =>
        state.place?.method === method && state.place.number === number && state.place.when === when
      const server = createServer(async (request, response) => {
        const method = request.method ?? ""
        const number = (counts.get(method) ?? 0) + 1
        counts.set(method, number)
        const parts: Array<Buffer> = []
        for await (const part of request) parts.push(part)
        if (isAt(method, number, "before")) return state.reached()
        const { host: _, "content-length": __, connection: ___, ...headers } = request.headers
        const answer = await fetch(new URL(request.url ?? "", target), {
          method,
          // What a client of Node sends has one value for each of these headers.
          headers: headers as Record<string, string>,
          ...(parts.length === 0 ? {} : { body: Buffer.concat(parts) })
        })
        const body = Buffer.from(await answer.arrayBuffer())
        if (isAt(method, number, "after")) return state.reached()
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" })
        response.end(body)
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      // A server that listens on TCP has an address of this kind.
      const { port } = server.address() as AddressInfo
      return {
        address: `http://127.0.0.1:${port}/v4`,
        server,
        stopAt: (place: Place | undefined, child: ChildProcess | undefined) => {
          counts.clear()
          state.place = place
          state.reached = () => child?.kill("SIGKILL")
        }
      }
    }),
    ({ server }) =>
      Effect.promise(async () => {
        server.closeAllConnections()
        server.close()
        await once(server, "close")
      })
  )

/** A program that reads its key from a file before every request, until the scope ends. */
export const keyUser = (address: string, file: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const seen = { requests: 0, refused: 0, keys: new Set<string>(), goesOn: true }
      let requested = () => {}
      /** Waits until this holds after a request. */
      const until = (holds: () => boolean) =>
        Effect.promise(async () => {
          while (!holds()) await new Promise<void>((done) => (requested = done))
        })
      const read = () => readFileSync(file, "utf8").trim()
      const run = (async () => {
        while (seen.goesOn) {
          const key = read()
          const { status } = await fetch(`${address}/contacts?limit=1`, { headers: { "X-Service-ApiKey": key } })
          seen.requests++
          seen.keys.add(key)
          // A key that was replaced while the request was on its way may be refused; the one that is there may not.
          if (status !== 200 && read() === key) seen.refused++
          requested()
          await new Promise((done) => setTimeout(done, 10))
        }
      })()
      return { run, seen, until }
    }),
    ({ run, seen }) =>
      Effect.promise(() => {
        seen.goesOn = false
        return run
      })
  )
