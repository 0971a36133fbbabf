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

/** A service that is not on this machine, and that the proxy alone knows. */
const remote = "service.invalid"

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
  const subject = ["-subj", "/CN=localhost", "-addext", `subjectAltName=DNS:localhost,DNS:${remote},IP:127.0.0.1`]
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
  it.live("K14 to this machine is no proxy, which would see the key", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const service = yield* emptyList
      const { heard, url } = yield* proxyTo(1)
      const env = { ...service.env, HTTP_PROXY: url, HTTPS_PROXY: url }
      const listed = yield* run(["contacts", "list"], { env })
      assert.strictEqual(listed.code, 0, listed.stderr)
      assert.deepStrictEqual(heard, [])
    })
  )

  it.live.skipIf(!hasOpenssl)(
    "K14 is the proxy that the environment names, but for the hosts that it excepts (needs openssl)",
    () =>
      Effect.gen(function* () {
        const { run } = yield* makeRoster
        const { cert, port } = yield* selfSigned
        const { heard, url } = yield* proxyTo(port)
        const service = {
          ROSTER_BASE_URL: `https://${remote}:${port}/v4`,
          ROSTER_API_KEY: canary,
          NODE_EXTRA_CA_CERTS: cert
        }
        for (const variables of [
          { HTTPS_PROXY: url },
          { https_proxy: url },
          { HTTP_PROXY: url },
          { HTTPS_PROXY: url.replace("http://", "") }
        ]) {
          heard.length = 0
          const listed = yield* run(["contacts", "list"], { env: { ...service, ...variables } })
          assert.strictEqual(listed.code, 0, listed.stderr)
          assert.strictEqual(heard.length, 1)
        }
        heard.length = 0
        for (const NO_PROXY of [remote, "*"]) {
          const env = { ...service, HTTPS_PROXY: url, NO_PROXY }
          assert.strictEqual((yield* run(["contacts", "list"], { env })).code, 8)
        }
        assert.deepStrictEqual(heard, [])
        // A tunnel, and a name that nobody knows.
        for (const proxy of ["127.0.0.1:9", "proxy.invalid:3128"]) {
          const env = { ...service, HTTPS_PROXY: `http://user:${canary}@${proxy}` }
          const dead = yield* run(["contacts", "list"], { env })
          assert.deepStrictEqual([dead.code, failure(dead).code], [8, "Unavailable"])
          assert.include(failure(dead).message, `the proxy ${proxy}`)
          assert.notInclude(dead.stderr, canary)
        }
        const unread = yield* run(["contacts", "list"], {
          env: { ...service, HTTPS_PROXY: `http://user:${canary}@proxy.example:99999` }
        })
        assert.deepStrictEqual(failure(unread).code, "InvalidSettings")
        assert.include(failure(unread).message, "HTTPS_PROXY")
        assert.notInclude(unread.stderr, canary)
        const doctor = yield* run(["doctor"], { env: { ...service, HTTPS_PROXY: "http://127.0.0.1:9" } })
        assert.strictEqual(doctor.code, 8)
        assert.match(doctor.stdout, /"Check":"service","Result":"failed","Detail":"[^"]*the proxy 127.0.0.1:9/)
      })
  )

  it.live.skipIf(!hasOpenssl)("K14 of HTTPS is a tunnel, in which the proxy sees no key (needs openssl)", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const { cert, port, requests } = yield* selfSigned
      const { heard, url } = yield* proxyTo(port)
      const env = {
        ROSTER_BASE_URL: `https://${remote}:${port}/v4`,
        ROSTER_API_KEY: canary,
        HTTPS_PROXY: url,
        NODE_EXTRA_CA_CERTS: cert
      }
      const listed = yield* run(["contacts", "list"], { env })
      assert.deepStrictEqual([listed.code, listed.stdout], [0, "[]\n"], listed.stderr)
      assert.strictEqual(requests.length, 1)
      assert.strictEqual(heard.length, 1)
      assert.match(heard[0] ?? "", new RegExp(`^CONNECT ${remote}:${port} `))
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
      for (const { stderr, stdout } of [refused, warned]) assert.notInclude(stdout + stderr, canary)
    })
  )
})
