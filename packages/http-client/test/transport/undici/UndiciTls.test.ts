import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import { HttpClient } from "effect/http"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import * as Http from "node:http"
import * as Https from "node:https"
import { type AddressInfo, connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layer, type UndiciOptions } from "../../../src/transport/undici/UndiciHttpClient.ts"

const openssl = spawnSync("openssl", ["version"]).status === 0

/** A certificate that signs itself, valid for so many days from now. */
const certificate = (name: string, days: number): { readonly key: string; readonly cert: string } => {
  const directory = mkdtempSync(join(tmpdir(), "roster-undici-"))
  const run = (...options: ReadonlyArray<string>) =>
    execFileSync("openssl", options, { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  try {
    const host = `subjectAltName=${name === "127.0.0.1" ? "IP" : "DNS"}:${name}`
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem"]
    run("req", "-new", ...kind, "-subj", `/CN=${name}`, "-addext", host, "-out", "request.pem")
    // Only here may the days lie in the past.
    const signed = ["-signkey", "key.pem", "-copy_extensions", "copy", "-days", String(days)]
    const cert = run("x509", "-req", "-in", "request.pem", ...signed)
    return { key: readFileSync(join(directory, "key.pem"), "utf8"), cert }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const listening = <S extends Http.Server>(
  make: () => S
): Effect.Effect<{ readonly server: S; readonly port: number }, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<S>((resume) => {
        const server = make()
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    ),
    // A server that listens on TCP has an address of this kind; a string is for pipes.
    (server) => ({ server, port: (server.address() as AddressInfo).port })
  )

/** Says what it was asked for. */
const echo: Http.RequestListener = (request, response) => response.end(`${request.method} ${request.url}`)

const serve = (tls: Https.ServerOptions) =>
  Effect.gen(function* () {
    const requests: Array<string | undefined> = []
    const { port } = yield* listening(() =>
      Https.createServer(tls, (request, response) => {
        requests.push(request.url)
        echo(request, response)
      })
    )
    return { url: `https://127.0.0.1:${port}/secret`, requests }
  })

const text = (url: string) => Effect.flatMap(HttpClient.get(url), (response) => response.text)

const codeOf = (url: string) =>
  Effect.map(Effect.flip(text(url)), ({ reason }) => {
    const cause = "cause" in reason ? reason.cause : undefined
    return [reason._tag, cause instanceof Error && "code" in cause ? cause.code : cause]
  })

const withClient = (options: UndiciOptions = {}) => Effect.provide(layer({ proxy: false, ...options }), { local: true })

describe.skipIf(!openssl)("UndiciHttpClient over TLS (needs openssl)", () => {
  it.live("C21: refuses a certificate that is self-signed, expired, or of another host, and sends nothing", () =>
    Effect.gen(function* () {
      const good = certificate("127.0.0.1", 2)
      const expired = certificate("127.0.0.1", -1)
      const other = certificate("other.example", 2)
      for (const [tls, trusted, code] of [
        [good, undefined, "DEPTH_ZERO_SELF_SIGNED_CERT"],
        [expired, expired.cert, "CERT_HAS_EXPIRED"],
        [other, other.cert, "ERR_TLS_CERT_ALTNAME_INVALID"]
      ] as const) {
        const { requests, url } = yield* serve(tls)
        const options = trusted === undefined ? {} : { tls: { ca: trusted } }
        assert.deepStrictEqual(yield* codeOf(url).pipe(withClient(options)), ["TransportError", code])
        assert.lengthOf(requests, 0)
      }
      const { url } = yield* serve(good)
      assert.strictEqual(yield* text(url).pipe(withClient({ tls: { ca: good.cert } })), "GET /secret")
    })
  )
})

const names = ["http_proxy", "https_proxy", "no_proxy"].flatMap((name) => [name, name.toUpperCase()])

/** Sets variables of the environment for as long as the scope is open. */
const environment = (variables: { readonly [name: string]: string }) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      for (const name of names) vi.stubEnv(name, variables[name])
    }),
    () => Effect.sync(() => vi.unstubAllEnvs())
  )

/** A proxy that forwards, or that hangs where a tunnel is asked for. */
const proxy = (options: { readonly hangs?: boolean } = {}) =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const tunnels: Array<Socket> = []
    const reached = Promise.withResolvers<void>()
    const { port, server } = yield* listening(() =>
      Http.createServer((request, response) => {
        asked.push(`${request.method} ${request.url}`)
        response.end("by proxy")
      })
    )
    server.on("connect", (request, socket: Socket) => {
      asked.push(`CONNECT ${request.url}`)
      tunnels.push(socket)
      socket.on("error", () => {})
      reached.resolve()
      if (options.hangs === true) {
        // Left half open by the server otherwise.
        socket.resume().once("end", () => socket.destroy())
        return
      }
      const port = Number(/:(\d+)$/.exec(request.url ?? "")?.[1])
      const onward = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        socket.pipe(onward)
        onward.pipe(socket)
      })
      onward.on("error", () => socket.destroy())
      socket.on("close", () => onward.destroy())
    })
    const address = `http://127.0.0.1:${port}`
    return { address, asked, tunnels, reached: Effect.promise(() => reached.promise) }
  })

describe("UndiciHttpClient through a proxy", () => {
  it.live("uses the proxy of the environment for http, unless it is turned off", () =>
    Effect.gen(function* () {
      const { address, asked } = yield* proxy()
      const { port } = yield* listening(() => Http.createServer(echo))
      const url = "http://service.example/x?y=1"
      const own = `http://127.0.0.1:${port}/x?y=1`
      for (const variables of [{ http_proxy: address }, { HTTP_PROXY: address.replace("http://", "") }]) {
        yield* environment(variables)
        assert.strictEqual(yield* text(url).pipe(withClient({ proxy: true })), "by proxy")
        for (const proxy of [true, false])
          assert.strictEqual(yield* text(own).pipe(withClient({ proxy })), "GET /x?y=1")
      }
      yield* environment({ HTTP_PROXY: address, NO_PROXY: "service.example" })
      yield* Effect.exit(text(url).pipe(withClient({ proxy: true })))
      assert.deepStrictEqual(asked, Array(2).fill(`GET ${url}`))
    })
  )

  it.live.skipIf(!openssl)("opens a tunnel for https, and checks the certificate at its end (needs openssl)", () =>
    Effect.gen(function* () {
      const { address, asked } = yield* proxy()
      const tls = certificate("service.example", 2)
      const { requests, url: own } = yield* serve(tls)
      const url = own.replace("127.0.0.1", "service.example")
      yield* environment({ https_proxy: address })
      const options = { proxy: true, tls: { ca: tls.cert } }
      assert.strictEqual(yield* text(url).pipe(withClient(options)), "GET /secret")
      assert.deepStrictEqual(yield* codeOf(url).pipe(withClient({ proxy: true })), [
        "TransportError",
        "DEPTH_ZERO_SELF_SIGNED_CERT"
      ])
      assert.deepStrictEqual(asked, Array(2).fill(`CONNECT ${new URL(url).host}`))
      assert.lengthOf(requests, 1)
    })
  )

  it.live("gives a silent proxy up in time, and at once when interrupted", () =>
    Effect.gen(function* () {
      const silent = yield* proxy({ hangs: true })
      yield* environment({ https_proxy: silent.address })
      const options = { proxy: true, connectTimeout: "100 millis" } as const
      assert.deepStrictEqual(yield* codeOf("https://service.example:1/").pipe(withClient(options)), [
        "TransportError",
        "UND_ERR_CONNECT_TIMEOUT"
      ])
      const other = yield* proxy({ hangs: true })
      yield* environment({ https_proxy: other.address })
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(text("https://service.example:1/"))
        yield* other.reached
        yield* Fiber.interrupt(fiber)
        const [tunnel] = other.tunnels
        yield* Effect.callback<void>((resume) => void tunnel?.once("close", () => resume(Effect.void)))
      }).pipe(withClient({ proxy: true, connectTimeout: "1 hour" }))
    })
  )
})
