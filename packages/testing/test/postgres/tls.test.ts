/** The way to a database off this machine: by verified TLS or not at all, and what is said of it. */
import { assert, describe, it } from "@effect/vitest"
import { checkPostgres, type PostgresFinding } from "@roster/server"
import { Effect, Fiber, Option, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { platform, tmpdir } from "node:os"
import { join } from "node:path"
import { TLSSocket } from "node:tls"
import { testCertificate, type TestCertificate } from "../faults/server/TestCertificate.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { startServer, testSettings } from "./PostgresServer.ts"
import { describePostgres, restartPostgres } from "./TestPostgres.ts"

const password = "correct horse battery staple"

/** What a server answers to a start: that it asks for the password in clear text. */
const asksForPassword = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3])

/** The same by MD5, with its salt. */
const asksByMd5 = Buffer.from([0x52, 0, 0, 0, 12, 0, 0, 0, 5, 1, 2, 3, 4])

/** A message that holds the bytes of the one that ends the asking, as a version and eight empty names. */
const pretendsToBeDone = Buffer.from([0x76, 0, 0, 0, 20, 0, 0, 0, 0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0])
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

interface Fake {
  readonly port: number
  /** All that clients sent, as it was before TLS. */
  readonly received: () => string
}

/** A server that takes what passwords it gets, with TLS or without. */
const fake = (certificate?: TestCertificate, asks = asksForPassword) =>
  Effect.acquireRelease(
    Effect.callback<Fake & { readonly close: () => void }>((resume) => {
      let received = ""
      const sockets = new Set<Socket>()
      const talk = (socket: Socket): void => {
        let hasStarted = false
        socket.on("error", () => {})
        socket.on("data", (bytes) => {
          received += bytes.toString("latin1")
          if (!hasStarted) socket.write(asks)
          hasStarted = true
        })
      }
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
        socket.once("data", (bytes: Buffer) => {
          if (!bytes.equals(sslRequest)) {
            received += bytes.toString("latin1")
            talk(socket)
            socket.write(asks)
            return
          }
          socket.write(certificate === undefined ? "N" : "S")
          if (certificate !== undefined) talk(new TLSSocket(socket, { isServer: true, ...certificate }))
        })
      }).listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }
        resume(Effect.succeed({ port, received: () => received, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

// Linux takes 0.0.0.0 for this machine, and it is no address of the loopback.
const far = "0.0.0.0"

const check = (address: string) =>
  checkPostgres({ url: Redacted.make(address), password: Redacted.make(password) }).pipe(
    Effect.map((findings: ReadonlyArray<PostgresFinding>) => findings.map(({ detail }) => detail).join("\n"))
  )

const day = 24 * 60 * 60 * 1000

const ofToday = () =>
  testCertificate({ host: far, from: new Date(Date.now() - day), until: new Date(Date.now() + day) })

/** The path of a file with the authority of a certificate. */
const authorityOf = Effect.fnUntraced(function* ({ cert }: TestCertificate) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-authority-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )
  const file = join(folder, "authority.pem")
  writeFileSync(file, cert)
  return file
})

const tests = platform() === "linux" ? describe : describe.skip

tests("a database off this machine (on Linux)", () => {
  it.live("gets nothing without TLS, unless the address says so, and then no password in clear text", () =>
    Effect.gen(function* () {
      const { port, received } = yield* fake()
      for (const query of ["", "?sslmode=require", "?sslmode=verify-full"]) {
        const refused = yield* check(`postgres://roster@${far}:${port}/roster${query}`)
        assert.include(refused, "it offers no TLS")
        assert.include(refused, "sslrootcert=FILE")
        assert.include(refused, "sslmode=disable")
      }
      for (const mode of ["prefer", "allow"]) {
        const refused = yield* check(`postgres://roster@${far}:${port}/roster?sslmode=${mode}`)
        assert.include(refused, `sslmode=${mode} lets whoever is in between turn TLS off`)
      }
      assert.strictEqual(received(), "")
      const clear = yield* check(`postgres://roster@${far}:${port}/roster?sslmode=disable`)
      assert.include(clear, "it asks for the password in a way that gives it away")
      assert.include(received(), "roster")
      assert.notInclude(received(), password)
    }).pipe(Effect.scoped)
  )

  it.live("gets no password that gives itself away, whatever it says before it asks", () =>
    Effect.gen(function* () {
      for (const asks of [asksByMd5, Buffer.concat([pretendsToBeDone, asksForPassword])]) {
        const { port, received } = yield* fake(undefined, asks)
        const clear = yield* check(`postgres://roster@${far}:${port}/roster?sslmode=disable`)
        assert.include(clear, "it asks for the password in a way that gives it away")
        assert.notInclude(received(), password)
        assert.notInclude(received(), "md5")
      }
    }).pipe(Effect.scoped)
  )

  it.live("gets the password once its certificate is verified, by the authority that the address names", () =>
    Effect.gen(function* () {
      const certificate = ofToday()
      const { port, received } = yield* fake(certificate)
      const unknown = yield* check(`postgres://roster@${far}:${port}/roster`)
      assert.include(unknown, "its certificate is not trusted")
      assert.include(unknown, "sslrootcert=FILE")
      assert.strictEqual(received(), "")
      const file = yield* authorityOf(certificate)
      const missing = yield* check(`postgres://roster@${far}:${port}/roster?sslrootcert=${file}.missing`)
      assert.include(missing, "authority.pem.missing, cannot be read")
      const named = check(`postgres://roster@${far}:${port}/roster?sslrootcert=${file}`)
      for (const mode of [0o664, 0o646]) {
        chmodSync(file, mode)
        assert.include(yield* named, "authority.pem, can be changed by other users")
      }
      chmodSync(file, 0o644)
      if (process.getuid?.() === 0) {
        chownSync(file, 12_345, 12_345)
        assert.include(yield* named, "authority.pem, belongs to another user")
        chownSync(file, 0, 0)
      }
      assert.strictEqual(received(), "")
      const call = yield* Effect.forkChild(named)
      yield* eventually(Effect.sync(received), (text) => text.includes(password))
      yield* Fiber.interrupt(call)
    }).pipe(Effect.scoped)
  )
})

describePostgres("a PostgreSQL with TLS", () => {
  it.live.skipIf(platform() !== "linux" || restartPostgres === undefined)(
    "is used by it alone, and says what of its address has no effect (on Linux)",
    () =>
      Effect.gen(function* () {
        const certificate = ofToday()
        const { url } = yield* Effect.acquireRelease(
          Effect.promise(() => startServer({ settings: testSettings(false), certificate })),
          (server) => Effect.promise(() => server.stop())
        )
        url.hostname = far
        const untrusted = yield* checkPostgres({ url: Redacted.make(url.href) })
        assert.include(untrusted[0]?.detail, "its certificate is not trusted")
        url.searchParams.set("sslrootcert", yield* authorityOf(certificate))
        const trusted = yield* checkPostgres({ url: Redacted.make(url.href) })
        assert.deepInclude(trusted, { check: "tls", result: "ok", detail: "TLS, with a verified certificate" })
        const sql = yield* PostgresClient.make({ url: Redacted.make(url.href) })
        assert.deepStrictEqual(yield* sql`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`, [{ ssl: true }])
        // To cancel a statement takes a connection of its own.
        assert.isTrue(Option.isNone(yield* Effect.timeoutOption(sql`SELECT pg_sleep(60)`, "100 millis")))
        url.searchParams.set("target_session_attrs", "read-write")
        const named = yield* checkPostgres({ url: Redacted.make(url.href) })
        assert.include(
          named.find(({ check }) => check === "tls")?.detail,
          "the parameter target_session_attrs of the address of the database is not known, and has no effect"
        )
      }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})
