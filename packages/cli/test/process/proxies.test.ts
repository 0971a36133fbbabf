import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { type AddressInfo, connect } from "node:net"
import { join } from "node:path"
import { failure, makeRoster, temporaryFolder } from "../roster.ts"
import { fakeService } from "../service.ts"

/** A proxy that notes what it is asked, with the headers, and passes tunnels and requests on to one port. */
const proxyTo = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const heard: Array<string> = []
      const server = createServer((request, response) => {
        heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`)
        response.writeHead(200, { "Content-Type": "application/json" }).end("[]")
      })
      server.on("connect", (request, socket) => {
        heard.push(`CONNECT ${request.url} ${JSON.stringify(request.headers)}`)
        const upstream = connect(port, "127.0.0.1", () => {
          socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
          upstream.pipe(socket)
          socket.pipe(upstream)
        })
        upstream.on("error", () => socket.destroy())
        socket.on("error", () => upstream.destroy())
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      // A server that listens on TCP has an address of this kind.
      const address = server.address() as AddressInfo
      return { server, heard, url: `http://127.0.0.1:${address.port}` }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )

const emptyList = fakeService((_, response) =>
  response.writeHead(200, { "Content-Type": "application/json" }).end("[]")
)

const hasOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

/** A service with a certificate that nobody has signed but itself. */
const selfSigned = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
  execFileSync("openssl", [...made, "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" })
  const requests: Array<string> = []
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
        requests.push(`${request.method} ${request.url}`)
        response.writeHead(200, { "Content-Type": "application/json" }).end("[]")
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  // A server that listens on TCP has an address of this kind.
  const { port } = server.address() as AddressInfo
  return { cert, port, requests }
})

const canary = "canary-7c1d9e52f0"

describe("the way to the network", () => {
  it.live("K14 is the proxy that the environment names, but for the hosts that it excepts", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const service = yield* emptyList
      const port = Number(new URL(service.env.ROSTER_BASE_URL).port)
      const { heard, url } = yield* proxyTo(port)
      for (const variable of ["HTTP_PROXY", "http_proxy"]) {
        heard.length = 0
        const listed = yield* run(["contacts", "list"], { env: { ...service.env, [variable]: url } })
        assert.strictEqual(listed.code, 0, listed.stderr)
        assert.strictEqual(heard.length, 1, variable)
      }
      for (const [variable, value] of [
        ["NO_PROXY", "127.0.0.1"],
        ["no_proxy", "127.0.0.1"],
        ["NO_PROXY", "*"]
      ] as const) {
        heard.length = 0
        service.requests.length = 0
        const env = { ...service.env, HTTP_PROXY: url, HTTPS_PROXY: url, [variable]: value }
        assert.strictEqual((yield* run(["contacts", "list"], { env })).code, 0)
        assert.deepStrictEqual([heard.length, service.requests.length], [0, 1], `${variable}=${value}`)
      }
      const dead = yield* run(["contacts", "list"], { env: { ...service.env, HTTP_PROXY: "http://127.0.0.1:9" } })
      assert.deepStrictEqual([dead.code, failure(dead).code], [8, "Unavailable"])
      assert.include(failure(dead).message, "the proxy 127.0.0.1:9 failed with ECONNREFUSED")
      // A tunnel, and a name that nobody knows; a service that is down is no proxy.
      const tunnel = { ROSTER_BASE_URL: "https://127.0.0.1:10/v4", ROSTER_API_KEY: "test-key" }
      for (const proxy of ["127.0.0.1:9", "proxy.invalid:3128"]) {
        const dead = yield* run(["contacts", "list"], { env: { ...tunnel, HTTPS_PROXY: `http://user:pass@${proxy}` } })
        assert.deepStrictEqual([dead.code, failure(dead).code], [8, "Unavailable"])
        assert.include(failure(dead).message, `the proxy ${proxy} failed with`)
        assert.notInclude(dead.stderr, "pass@")
      }
      const down = yield* run(["contacts", "list"], {
        env: { ...tunnel, HTTPS_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1" }
      })
      assert.include(failure(down).message, "the connection to 127.0.0.1:10 failed")
      const doctor = yield* run(["doctor"], { env: { ...service.env, HTTP_PROXY: "http://127.0.0.1:9" } })
      assert.strictEqual(doctor.code, 8)
      assert.match(doctor.stdout, /"Check":"connection","Result":"failed","Detail":"[^"]*proxy that HTTP_PROXY names/)
      const well = yield* run(["doctor"], { env: { ...service.env, HTTP_PROXY: url } })
      assert.match(well.stdout, /"Check":"connection","Result":"ok"/)
    })
  )

  it.live.skipIf(!hasOpenssl)("K14 of HTTPS is a tunnel, in which the proxy sees no key (needs openssl)", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const { cert, port, requests } = yield* selfSigned
      const { heard, url } = yield* proxyTo(port)
      const env = {
        ROSTER_BASE_URL: `https://localhost:${port}/v4`,
        ROSTER_API_KEY: canary,
        HTTPS_PROXY: url,
        NODE_EXTRA_CA_CERTS: cert
      }
      const listed = yield* run(["contacts", "list"], { env })
      assert.deepStrictEqual([listed.code, listed.stdout], [0, "[]\n"], listed.stderr)
      assert.strictEqual(requests.length, 1)
      assert.strictEqual(heard.length, 1)
      assert.match(heard[0] ?? "", new RegExp(`^CONNECT localhost:${port} `))
      assert.notInclude(heard.join(), canary)
    })
  )

  it.live.skipIf(!hasOpenssl)("K14 is safe unless told, and then says that it is not (needs openssl)", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const { port, requests } = yield* selfSigned
      const env = { ROSTER_BASE_URL: `https://localhost:${port}/v4`, ROSTER_API_KEY: canary }
      const refused = yield* run(["contacts", "list"], { env })
      assert.deepStrictEqual([refused.code, refused.stdout], [8, ""], refused.stderr)
      assert.notMatch(refused.stderr, /again/)
      assert.include(failure(refused).hint, "NODE_EXTRA_CA_CERTS")
      assert.deepStrictEqual(requests, [])
      const insecure = { ...env, NODE_TLS_REJECT_UNAUTHORIZED: "0" }
      const warned = yield* run(["contacts", "list"], { env: insecure })
      assert.strictEqual(warned.code, 0, warned.stderr)
      assert.match(warned.stderr, /NODE_TLS_REJECT_UNAUTHORIZED.*insecure/)
      const doctor = yield* run(["doctor"], { env: insecure })
      assert.strictEqual(doctor.code, 8)
      assert.match(doctor.stdout, /"Check":"tls","Result":"failed"/)
      for (const { stderr, stdout } of [refused, warned, doctor]) assert.notInclude(stdout + stderr, canary)
    })
  )
})
