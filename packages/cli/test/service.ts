/**
 * `roster serve` as a process, and a service that answers whatever a test wants.
 */
import { Effect } from "effect"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { start } from "./roster.ts"

export interface Service {
  readonly address: string
  readonly child: ChildProcess
  /** The lines of stdout, up to the one that says that it listens. */
  readonly lines: ReadonlyArray<string>
  readonly stderr: () => string
}

/** Starts a service and waits until it says that it listens. The process ends with the test. */
export const serve = (folder: string, args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<Service> => {
      const child = start(folder, ["serve", "--port", "0", ...args])
      const lines: Array<string> = []
      let stderr = ""
      child.stderr?.on("data", (part: Buffer) => {
        stderr += part.toString()
      })
      if (child.stdout === null) throw new Error("the process has no stdout")
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line)
        const address = /^listening on (\S+)$/.exec(line)?.[1]
        if (address !== undefined) return { address, child, lines, stderr: () => stderr }
      }
      throw new Error(`the service did not start: ${stderr}`)
    }),
    ({ child }) =>
      Effect.promise(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill("SIGKILL")
        await once(child, "exit")
      })
  )

/** A service on a new store, and the environment in which commands reach it. */
export const serveWithKey = Effect.fnUntraced(function* (folder: string, args: ReadonlyArray<string> = []) {
  const keyFile = join(folder, "admin.key")
  const service = yield* serve(folder, ["--db", join(folder, "served.db"), "--key-file", keyFile, ...args])
  const key = readFileSync(keyFile, "utf8").trim()
  return { ...service, key, keyFile, env: { ROSTER_BASE_URL: service.address, ROSTER_API_KEY: key } }
})

/** Asks a process to end and waits for its exit code. */
export const stop = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.promise(async () => {
    const exit = once(child, "exit")
    child.kill(signal)
    const [code] = await exit
    return Number(code)
  })

/** Answers the reads of a command that records what it changes: there are no contacts. */
export const noContacts = ({ url = "" }: IncomingMessage, response: ServerResponse): void => {
  const isList = /\/contacts(?:\?|$)/.test(url)
  response.writeHead(isList ? 200 : 404, { "Content-Type": "application/json" })
  response.end(isList ? "[]" : '{"Error":"There is no such contact."}')
}

/** Whether a request is for an operation of our own, which a service of the test's own making does not know. */
export const isForOwnOperation = ({ url = "" }: IncomingMessage): boolean =>
  /\/contacts\/(?:changes|count|fields|lookup)(?:\?|$)/.test(url)

/** A service of the test's own making. Unless it stands before ours, it has no operations of our own, like any other. */
export const fakeService = (
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { knowsChanges = false }: { readonly knowsChanges?: boolean } = {}
) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const requests: Array<string> = []
      const server = createServer((request, response) => {
        if (!knowsChanges && isForOwnOperation(request)) {
          response.writeHead(404, { "Content-Type": "application/json" })
          return void response.end('{"Error":"There is no such operation."}')
        }
        requests.push(`${request.method} ${request.url}`)
        answer(request, response)
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      // A server that listens on TCP has an address of this kind.
      const { port } = server.address() as AddressInfo
      const env = { ROSTER_BASE_URL: `http://127.0.0.1:${port}/v4`, ROSTER_API_KEY: "test-key" }
      return { server, requests, env }
    }),
    ({ server }) =>
      Effect.promise(async () => {
        server.closeAllConnections()
        server.close()
        await once(server, "close")
      })
  )
