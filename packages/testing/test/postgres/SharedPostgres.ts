/**
 * The one PostgreSQL server of a test run, which all files of tests share that do not crash it. It starts when the first of
 * them asks for its address, at the address that is provided to them as `postgres`.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { TestProject } from "vitest/node"
import { type PostgresServer, startServer } from "./PostgresServer.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgres: string
  }
}

export default async (project: TestProject) => {
  let server: Promise<PostgresServer> | undefined
  const starter = createServer((_, response) => {
    server ??= startServer(false)
    server.then(
      ({ url }) => response.end(url.href),
      (cause: unknown) => response.writeHead(500).end(String(cause))
    )
  }).listen(0, "127.0.0.1")
  await once(starter, "listening")
  const address = starter.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  project.provide("postgres", `http://127.0.0.1:${port}`)
  return async () => {
    starter.close()
    const started = await server?.catch(() => undefined)
    await started?.stop()
  }
}
