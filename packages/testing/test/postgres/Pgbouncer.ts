/** A pooler in front of a PostgreSQL: pgbouncer of the system, in session mode. (docs/scaling.md) */
import { Effect } from "effect"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Where Debian's package has the program, which is not on the path of every user. */
const program = "/usr/sbin/pgbouncer"

/** Whether this machine has it. */
export const hasPgbouncer = spawnSync(program, ["--version"]).status === 0

/** What our client says as it connects and the pooler does not know: docs/scaling.md says where to set it instead. */
const ignored = "statement_timeout,idle_in_transaction_session_timeout,jit"

const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** Starts it in front of a database, and gives the address to use in place of that. It ends with the scope. */
export const pooled = Effect.fnUntraced(function* (url: URL) {
  const port = yield* freePort
  const { hostname, password, pathname, port: behind, username } = url
  const name = pathname.slice(1)
  const settings = [
    "[databases]",
    `${name} = host=${hostname} port=${behind} dbname=${name} user=${username} password=${password}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = session",
    // A session that has ended is none of the next one, which may be of another server.
    "server_lifetime = 0",
    "server_connect_timeout = 2",
    "server_login_retry = 1",
    `ignore_startup_parameters = ${ignored}`
  ]
  const isRoot = process.getuid?.() === 0
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "nobody"]))
  yield* Effect.acquireRelease(
    Effect.callback<() => void>((resume) => {
      const folder = mkdtempSync(join(tmpdir(), "roster-pgbouncer-"))
      const file = join(folder, "pgbouncer.ini")
      writeFileSync(file, settings.join("\n"))
      chmodSync(folder, 0o755)
      // It refuses to run as root.
      const user = isRoot ? { uid: idOf("-u"), gid: idOf("-g") } : {}
      const child = spawn(program, [file], { ...user, stdio: ["ignore", "ignore", "pipe"] })
      let output = ""
      child.stderr.on("data", (part: Buffer) => {
        output += part.toString()
        if (!output.includes("process up")) return
        resume(
          Effect.succeed(() => {
            child.kill("SIGKILL")
            rmSync(folder, { recursive: true, force: true })
          })
        )
      })
      child.on("exit", () => resume(Effect.die(new Error(`pgbouncer ended: ${output}`))))
    }),
    (end) => Effect.sync(end)
  )
  const pooled = new URL(url)
  pooled.port = `${port}`
  return pooled
})
