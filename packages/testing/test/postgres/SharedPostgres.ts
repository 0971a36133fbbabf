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

const program = fileURLToPath(new URL("./PostgresProcess.ts", import.meta.url))

/** The address that the process says, unless it ends before. */
const addressOf = (server: ChildProcess) =>
  new Promise<string>((resolve, reject) => {
    server.once("message", (url) => resolve(String(url)))
    server.once("exit", (code) => reject(new Error(`PostgreSQL did not start: exit code ${code}`)))
  })

export default async (project: TestProject) => {
  let server: ChildProcess | undefined
  let url: Promise<string> | undefined
  const starter = createServer((_, response) => {
    server ??= fork(program)
    url ??= addressOf(server)
    url.then(
      (url) => response.end(url),
      (cause: unknown) => response.writeHead(500).end(String(cause))
    )
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
