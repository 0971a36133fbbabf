/**
 * The one PostgreSQL server of a test run, which all files of tests share that do not crash it. It starts when the first of
 * them asks for its address, at the address that is provided to them as `postgres`.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgres: string
  }
}

/** What the process of the server says: its address, or why it has none. */
export type Started = { readonly url: string } | { readonly problem: string }

const program = fileURLToPath(new URL("./PostgresProcess.ts", import.meta.url))

const startedBy = (server: ChildProcess) =>
  new Promise<Started>((resolve) => {
    // Nothing else sends anything.
    server.once("message", (started) => resolve(started as Started))
    server.once("exit", (code) => resolve({ problem: `PostgreSQL did not start: exit code ${code}` }))
  })

export default async (project: TestProject) => {
  let server: ChildProcess | undefined
  let started: Promise<Started> | undefined
  const starter = createServer((_, response) => {
    server ??= fork(program)
    started ??= startedBy(server)
    void started.then((started) => response.end(JSON.stringify(started)))
  }).listen(0, "127.0.0.1")
  await once(starter, "listening")
  const address = starter.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  project.provide("postgres", `http://127.0.0.1:${port}`)
  return async () => {
    starter.close()
    if (server === undefined || server.exitCode !== null) return
    const ended = once(server, "exit")
    server.disconnect()
    await ended
  }
}
