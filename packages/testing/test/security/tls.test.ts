/**
 * The service with a certificate of its own: what clients see of it, how it is renewed, and that the limits of
 * connections hold. `openssl` makes the certificates.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, FileSystem, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { connect as connectPlain } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { head, rawServed, type RawServed } from "./RawServed.ts"

const bin = fileURLToPath(new URL("../../../cli/dist/roster.js", import.meta.url))

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

const openssl = (folder: string, args: ReadonlyArray<string>): void => {
  const { status, stderr } = spawnSync("openssl", args, { cwd: folder, encoding: "utf8" })
  assert.strictEqual(status, 0, stderr)
}

/** Makes a certificate for this machine, signed by itself, and its key. */
const certify = (folder: string, name: string) => {
  const files = { certFile: join(folder, `${name}.pem`), keyFile: join(folder, `${name}.key`) }
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
  const out = ["-keyout", files.keyFile, "-out", files.certFile, "-days", "2"]
  openssl(folder, [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    ...subject,
    ...out
  ])
  return files
}

const temporaryFolder: Effect.Effect<string, never, Scope.Scope> = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "roster-tls-" })
).pipe(Effect.orDie, Effect.provide(NodeServices.layer))

/** Connects with TLS, trusting whatever certificate is shown. */
const dialSecurely = ({ address }: RawServed, options: ConnectionOptions = {}) =>
  Effect.acquireRelease(
    Effect.callback<TLSSocket, string>((resume) => {
      const { port } = new URL(address)
      const to = { host: "127.0.0.1", port: Number(port), rejectUnauthorized: false, ...options }
      const socket = connect(to, () => resume(Effect.succeed(socket)))
      socket.on("error", ({ message }) => resume(Effect.fail(message)))
      socket.once("close", () => resume(Effect.fail("it was closed")))
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** What arrives until the connection closes, or until it holds something. */
const received = (socket: TLSSocket, holds?: RegExp) =>
  Effect.callback<string>((resume) => {
    let text = ""
    socket.on("data", (part: Buffer) => {
      text += part.toString("latin1")
      if (holds?.test(text) === true) resume(Effect.succeed(text))
    })
    socket.once("close", () => resume(Effect.succeed(text)))
    if (socket.destroyed) resume(Effect.succeed(text))
  })

const list = (served: RawServed) =>
  Effect.gen(function* () {
    const socket = yield* dialSecurely(served)
    socket.write(head(served, "GET /v4/contacts", { Connection: "close" }))
    return yield* received(socket)
  }).pipe(Effect.scoped)

const shownBy = (served: RawServed) =>
  Effect.scoped(Effect.map(dialSecurely(served), (socket) => socket.getPeerCertificate().subject.CN))

/** Runs the command line to its end, or until it listens. */
const roster = (folder: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [bin, ...args], {
        cwd: folder,
        env: {
          PATH: process.env["PATH"] ?? "",
          HOME: folder,
          NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
          NO_COLOR: "1",
          ...env
        },
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.flatMap((child) =>
      Effect.callback<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resume) => {
        let [stdout, stderr] = ["", ""]
        child.stderr.on("data", (part: Buffer) => (stderr += part.toString()))
        child.stdout.on("data", (part: Buffer) => {
          stdout += part.toString()
          if (/^listening on /m.test(stdout)) resume(Effect.succeed({ code: null, stdout, stderr }))
        })
        child.on("close", (code) => resume(Effect.succeed({ code, stdout, stderr })))
      })
    )
  )

describe.skipIf(!hasOpenssl)("TLS (needs openssl)", () => {
  it.live("C21 S27 our client calls a service that has a certificate, by https alone", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { certFile, keyFile } = certify(folder, "own")
      chmodSync(keyFile, 0o644)
      const tls = ["--tls-cert", certFile, "--tls-key", keyFile]
      const adminKey = join(folder, "admin.key")
      const serving = [
        "serve",
        "--host",
        "0.0.0.0",
        "--port",
        "0",
        "--db",
        join(folder, "a.db"),
        "--key-file",
        adminKey
      ]
      const { stderr, stdout } = yield* roster(folder, [...serving, ...tls])
      // Nothing is sent unencrypted, but the key of the certificate is not private.
      assert.match(
        stderr,
        /^warning: other users can read or change the key in \S+own\.key\. Run: chmod 600 \S+\nroster /
      )
      const [, address = ""] = /^listening on (https:\/\/0\.0\.0\.0:\d+\/v4)\n$/.exec(stdout) ?? []
      const baseUrl = address.replace("0.0.0.0", "127.0.0.1")
      const env = { ROSTER_BASE_URL: baseUrl, ROSTER_API_KEY: readFileSync(adminKey, "utf8").trim() }
      const trusting = { ...env, NODE_EXTRA_CA_CERTS: certFile }
      const added = yield* roster(folder, ["contacts", "add", "a@example.com"], trusting)
      assert.strictEqual(added.code, 0, added.stderr)
      const exported = yield* roster(folder, ["contacts", "export"], trusting)
      assert.include(exported.stdout, "a@example.com", exported.stderr)
      assert.strictEqual((yield* roster(folder, ["contacts", "list"], env)).code, 8)
    })
  )

  it.live("files that are no certificate and its key are one clear error, and nothing is made", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const own = certify(folder, "own")
      const other = certify(folder, "other")
      const locked = join(folder, "locked.key")
      openssl(folder, ["pkcs8", "-topk8", "-in", own.keyFile, "-out", locked, "-passout", "pass:secret"])
      const broken = join(folder, "broken")
      writeFileSync(broken, "-----BEGIN CERTIFICATE-----\nnonsense\n")
      for (const [cert, key, expected] of [
        [join(folder, "absent"), own.keyFile, /absent cannot be read: ENOENT/],
        [own.certFile, folder, /cannot be read: EISDIR/],
        [broken, own.keyFile, /broken holds no certificate in PEM format/],
        [own.certFile, broken, /broken holds no private key in PEM format/],
        [own.certFile, locked, /locked\.key holds .* passphrase/],
        [own.certFile, other.keyFile, /The key in \S+other\.key is not that of the certificate in \S+own\.pem/]
      ] as const) {
        const error = yield* Effect.flip(rawServed({ tls: { certFile: cert, keyFile: key } }))
        assert.strictEqual(error._tag, "CertificateError")
        assert.match(error.message, expected)
      }
      const args = ["serve", "--port", "0", "--db", join(folder, "a.db"), "--key-file", "-"]
      args.push("--tls-cert", broken, "--tls-key", broken)
      const { code, stderr, stdout } = yield* roster(folder, args)
      assert.deepStrictEqual([code, stdout], [2, ""], stderr)
      assert.include(stderr, '"code":"CertificateError"')
      assert.isFalse(existsSync(join(folder, "a.db")))
    })
  )

  it.live("older versions of TLS are refused", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ tls: certify(yield* temporaryFolder, "own") })
      assert.match(served.address, /^https:/)
      const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const
      assert.include(yield* Effect.flip(dialSecurely(served, old)), "alert protocol version")
      for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
        const socket = yield* dialSecurely(served, { minVersion: version, maxVersion: version })
        assert.strictEqual(socket.getProtocol(), version)
      }
    })
  )

  it.effect("a renewed certificate is noticed, and until both files are there the old one is shown", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const [first, second] = [certify(folder, "first"), certify(folder, "second")]
      const used = { certFile: join(folder, "used.pem"), keyFile: join(folder, "used.key") }
      const put = (from: typeof used, file: keyof typeof used) => copyFileSync(from[file], used[file])
      put(first, "certFile")
      put(first, "keyFile")
      const served = yield* rawServed({ tls: used })
      assert.strictEqual(yield* shownBy(served), "first")
      put(second, "certFile")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* shownBy(served), "first")
      put(second, "keyFile")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* shownBy(served), "second")
    })
  )

  const limits = { headTimeout: Duration.millis(300), waitTimeout: Duration.seconds(60) }

  it.live("S27 a handshake that does not come is cut off", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ tls: certify(yield* temporaryFolder, "own"), connectionLimits: limits })
      for (const text of ["", "GET / HTTP/1.1\r\n\r\n", "\u0016\u0003\u0001"]) {
        yield* Effect.callback<void>((resume) => {
          const socket = connectPlain(Number(new URL(served.address).port), "127.0.0.1", () => socket.write(text))
          socket.on("error", () => {})
          socket.resume()
          socket.on("close", () => resume(Effect.void))
        })
      }
      // A head that does not come, after the handshake.
      assert.match(yield* received(yield* dialSecurely(served)), /^HTTP\/1\.1 408 /)
      assert.match(yield* list(served), /^HTTP\/1\.1 200 /)
    })
  )

  it.live("S27 connections are counted with TLS as without: by their requests, and never twice", () =>
    Effect.gen(function* () {
      const byAddress = 3
      const served = yield* rawServed({
        tls: certify(yield* temporaryFolder, "own"),
        connectionLimits: { byAddress }
      })
      // What never gets through the handshake is counted off again.
      for (let i = 0; i < 10; i++) {
        yield* Effect.callback<void>((resume) => {
          const socket = connectPlain(Number(new URL(served.address).port), "127.0.0.1", () => socket.write("nonsense"))
          socket.on("error", () => {})
          socket.resume()
          socket.on("close", () => resume(Effect.void))
        })
      }
      const announced = head(served, "POST /v4/contacts", {
        "Content-Type": "application/json",
        "Content-Length": "10",
        Expect: "100-continue"
      })
      const busy = Effect.gen(function* () {
        const socket = yield* dialSecurely(served)
        socket.write(announced)
        assert.match(yield* received(socket, /Continue\r\n\r\n/), /^HTTP\/1\.1 100 /)
        return socket
      })
      const [first, ...others] = yield* Effect.forEach(Array.from({ length: byAddress }), () => busy)
      // The one that has waited longest for its client makes room, and the others stay.
      assert.match(yield* list(served), /^HTTP\/1\.1 200 /)
      yield* eventually(
        Effect.sync(() => first?.destroyed === true || first?.readableEnded === true),
        (isClosed) => isClosed
      )
      assert.deepStrictEqual(
        others.map(({ destroyed, readableEnded }) => destroyed || readableEnded),
        [false, false]
      )
      // One that waits for a request makes room for the next.
      yield* dialSecurely(served)
      assert.match(yield* list(served), /^HTTP\/1\.1 200 /)
    })
  )
})
