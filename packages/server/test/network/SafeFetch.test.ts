import { assert, describe, it } from "@effect/vitest"
import type { ImportRefused } from "@roster/domain"
import { Deferred, Effect, Fiber, Layer, Queue, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync, spawnSync } from "node:child_process"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import * as Http from "node:http"
import * as Https from "node:https"
import { syncBuiltinESMExports } from "node:module"
import type { AddressInfo, Socket } from "node:net"
import os from "node:os"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { safeFetch, type SafeFetchOptions } from "../../src/network/SafeFetch.ts"
import { Resolver } from "../../src/network/Resolver.ts"

const file = "E-mail\nann@example.com\n"

interface Served {
  readonly port: number
  readonly connections: () => number
  readonly requests: ReadonlyArray<Http.IncomingMessage>
  /** Waits until a socket of this server has closed. */
  readonly closed: Effect.Effect<void>
}

/** A server on a loopback address that counts what reaches it. */
const serve = (
  handler: (request: Http.IncomingMessage, response: Http.ServerResponse, socket: Socket) => void,
  options: { readonly tls?: Https.ServerOptions } = {}
): Effect.Effect<Served, never, Scope.Scope> =>
  Effect.gen(function* () {
    let connections = 0
    const requests: Array<Http.IncomingMessage> = []
    const closed = yield* Deferred.make<void>()
    const listener: Http.RequestListener = (request, response) => {
      requests.push(request)
      handler(request, response, request.socket)
    }
    const server = yield* Effect.acquireRelease(
      Effect.callback<Http.Server>((resume) => {
        const server =
          options.tls === undefined ? Http.createServer(listener) : Https.createServer(options.tls, listener)
        server.on("connection", (socket) => {
          connections++
          socket.on("error", () => {})
          socket.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    // A server that listens on TCP has an address of this kind; a string is for pipes.
    const { port } = server.address() as AddressInfo
    return { port, connections: () => connections, requests, closed: Deferred.await(closed) }
  })

const plain = (body = file) => serve((_, response) => response.writeHead(200, { "content-type": "text/csv" }).end(body))

const read = (address: string, options: Partial<SafeFetchOptions> = {}) =>
  safeFetch(new URL(address), { allowed: ["127.0.0.1"], ...options }).pipe(Stream.decodeText, Stream.mkString)

const reason = (effect: Effect.Effect<unknown, ImportRefused>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason)

/** Answers with one list of addresses after the other, and counts. */
const resolver = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const asked: Array<string> = []
  return {
    asked,
    layer: Layer.succeed(Resolver, (hostname) => Effect.sync(() => answers[asked.push(hostname) - 1] ?? []))
  }
}

/** The number of sockets that this process opens towards anyone meanwhile. */
const sockets = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let opened = 0
    const count = () => void opened++
    subscribe("net.client.socket", count)
    return effect.pipe(
      Effect.map((value) => ({ opened, value })),
      Effect.ensuring(Effect.sync(() => unsubscribe("net.client.socket", count)))
    )
  })

describe("a file", () => {
  it.live("S51 is fetched from a listed host, loopback included, with none but plain headers", () =>
    Effect.gen(function* () {
      const server = yield* plain()
      const { opened, value } = yield* sockets(read(`http://127.0.0.1:${server.port}/a%20b.csv?token=x#part`))
      assert.deepStrictEqual({ opened, value }, { opened: 1, value: file })
      const [request] = server.requests
      assert.strictEqual(request?.method, "GET")
      assert.strictEqual(request?.url, "/a%20b.csv?token=x")
      assert.deepStrictEqual(request?.headers, {
        "user-agent": "roster",
        accept: "text/csv, text/plain, application/zip, */*",
        "accept-encoding": "identity",
        host: `127.0.0.1:${server.port}`,
        connection: "close"
      })
      yield* server.closed
    })
  )

  it.live("is fetched by name, resolved as the machine does", () =>
    Effect.gen(function* () {
      const server = yield* plain()
      const address = `http://LocalHost.:${server.port}/`
      assert.strictEqual(yield* read(address, { allowed: [`localhost:${server.port}`] }), file)
      assert.strictEqual(server.requests[0]?.headers.host, `localhost:${server.port}`)
    })
  )

  it.live("S51 is read at the pace of the consumer", () =>
    Effect.gen(function* () {
      const chunk = Buffer.alloc(65_536)
      let written = 0
      const full = yield* Deferred.make<void>()
      const server = yield* serve((_, response) => {
        const write = () => {
          while (response.write(chunk)) written += chunk.length
          written += chunk.length
          // What has not drained after so long is waiting for the consumer.
          const stuck = setTimeout(() => Deferred.doneUnsafe(full, Effect.void), 300)
          response.once("drain", () => {
            clearTimeout(stuck)
            write()
          })
        }
        write()
      })
      const release = yield* Deferred.make<void>()
      const fiber = yield* safeFetch(new URL(`http://127.0.0.1:${server.port}/`), {
        allowed: ["127.0.0.1"],
        maximumBytes: 2 ** 40
      }).pipe(
        Stream.mapEffect(() => Deferred.await(release)),
        Stream.runDrain,
        Effect.forkChild
      )
      yield* Deferred.await(full)
      assert.isBelow(written, 50_000_000)
      yield* Fiber.interrupt(fiber)
      yield* server.closed
    })
  )

  it.live("S50 does not come through a proxy of the environment", () =>
    Effect.gen(function* () {
      const server = yield* plain()
      const proxy = yield* plain("from the proxy")
      yield* Effect.acquireRelease(
        Effect.sync(() => Http.setGlobalProxyFromEnv({ http_proxy: `http://127.0.0.1:${proxy.port}` })),
        (restore) => Effect.sync(restore)
      )
      assert.strictEqual(yield* read(`http://127.0.0.1:${server.port}/`), file)
      assert.strictEqual(proxy.connections(), 0)
    })
  )
})

// One address in many spellings, and others that only look public.
const odd = [
  "127.1",
  "0x7f000001",
  "0x7f.1",
  "2130706433",
  "017700000001",
  "①②⑦.⓪.⓪.①",
  "127。0。0。1",
  "%31%32%37.1",
  "0",
  "[::]",
  "[::1]",
  "[::ffff:7f00:1]",
  "[::ffff:127.0.0.1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
  "localhost",
  "localhost.",
  "LOCALHOST",
  "127.0.0.1",
  "127.0.0.1.",
  "169.254.169.254",
  "0xa9fea9fe",
  "[::ffff:a9fe:a9fe]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "100.64.0.1",
  "100.100.100.200",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "user@127.0.0.1",
  "user:pw@8.8.8.8"
]

describe("with any, nothing is connected to", () => {
  it.live.each(odd)("S50 at %s", (host) =>
    Effect.gen(function* () {
      const server = yield* plain()
      const addresses = [`http://${host}/`, `https://${host}/`, `http://${host}:443/`, `http://${host}:${server.port}/`]
      for (const address of [...addresses, `http://${host}:22/`, `http://${host}:6379/`]) {
        const { opened } = yield* sockets(reason(read(address, { allowed: ["any"] })))
        assert.strictEqual(opened, 0, address)
      }
      for (const allowed of [[], ["files.example.com"], [`${host}.example.com`]]) {
        const { opened } = yield* sockets(reason(read(`http://${host}:${server.port}/`, { allowed })))
        assert.strictEqual(opened, 0, allowed.join())
      }
      assert.strictEqual(server.connections(), 0)
    })
  )

  it.live.each([
    "file:///etc/passwd",
    "data:text/csv,E-mail",
    "gopher://127.0.0.1/_",
    "ftp://127.0.0.1/",
    "http://8.8.8.8:22/",
    "http://8.8.8.8:6379/"
  ])("S50 at %s", (address) =>
    Effect.gen(function* () {
      const { opened } = yield* sockets(reason(read(address, { allowed: ["any"] })))
      assert.strictEqual(opened, 0)
    })
  )

  it.live.each([
    { answer: ["127.0.0.1"] },
    { answer: ["2000::1", "127.0.0.1"] },
    { answer: ["127.0.0.1", "2000::1"] },
    { answer: ["2000::1", "::ffff:10.0.0.1"] },
    { answer: ["169.254.169.254"] },
    { answer: ["fe80::1%lo"] },
    { answer: ["not an address"] },
    { answer: [] }
  ])("S50 when a name leads to $answer, and the refusal tells none of it", ({ answer }) =>
    Effect.gen(function* () {
      const names = resolver(answer)
      const { opened, value } = yield* sockets(
        reason(read("http://files.example.com/", { allowed: ["any"] })).pipe(Effect.provide(names.layer))
      )
      assert.strictEqual(opened, 0)
      assert.deepStrictEqual(names.asked, ["files.example.com"])
      assert.strictEqual(
        value,
        "files.example.com is not a host of the public Internet, or has no address at present. Check the address; to fetch from a private network, ask the operator to allow files.example.com."
      )
    })
  )
})

describe("with any", () => {
  it.live("S50 a public address in a network of this machine is not connected to", () =>
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const real = os.networkInterfaces
          os.networkInterfaces = () => ({
            eth0: [
              {
                address: "2000::5",
                cidr: "2000::5/64",
                family: "IPv6",
                internal: false,
                mac: "",
                netmask: "",
                scopeid: 0
              }
            ]
          })
          syncBuiltinESMExports()
          return real
        }),
        (real) =>
          Effect.sync(() => {
            os.networkInterfaces = real
            syncBuiltinESMExports()
          })
      )
      const { opened, value } = yield* sockets(
        reason(read("http://files.example.com/", { allowed: ["any"] })).pipe(
          Effect.provide(resolver(["2000::1"]).layer)
        )
      )
      assert.strictEqual(opened, 0)
      assert.include(value, "is not a host of the public Internet")
    })
  )
})

describe("a name that leads elsewhere the second time", () => {
  it.live("S50 is resolved once, and the first address is used", () =>
    Effect.gen(function* () {
      const server = yield* plain()
      const names = resolver(["127.0.0.1"], ["127.0.0.2"])
      const { opened, value } = yield* sockets(
        read(`http://files.example.com:${server.port}/`, { allowed: ["files.example.com"] }).pipe(
          Effect.provide(names.layer)
        )
      )
      assert.deepStrictEqual({ opened, value }, { opened: 1, value: file })
      assert.deepStrictEqual(names.asked, ["files.example.com"])
      assert.strictEqual(server.connections(), 1)
      assert.strictEqual(server.requests[0]?.headers.host, `files.example.com:${server.port}`)
    })
  )

  it.live("S50 is not asked again when the first, public answer cannot be reached", () =>
    Effect.gen(function* () {
      // 2000::/16 is given to no one: nothing answers there.
      const names = resolver(["2000::1"], ["127.0.0.1"])
      const said = yield* reason(
        read("http://files.example.com/", { allowed: ["any"], connectTimeout: "300 millis" })
      ).pipe(Effect.provide(names.layer))
      assert.match(said, /^files\.example\.com (could not be read from|did not accept a connection)/)
      assert.notInclude(said, "2000")
      assert.deepStrictEqual(names.asked, ["files.example.com"])
    })
  )

  it.live("is tried at each of its checked addresses", () =>
    Effect.gen(function* () {
      const server = yield* plain()
      const names = resolver(["127.0.0.3", "127.0.0.1"])
      const text = yield* read(`http://files.example.com:${server.port}/`, { allowed: ["files.example.com"] }).pipe(
        Effect.provide(names.layer)
      )
      assert.strictEqual(text, file)
    })
  )
})

describe("a listed name", () => {
  it.live.each([
    { answer: [], says: "files.example.com has no address at present" },
    { answer: ["169.254.169.254"], says: "files.example.com leads to a link-local or metadata address" },
    { answer: ["10.0.0.1", "fe80::1%lo"], says: "files.example.com leads to a link-local or metadata address" }
  ])("S50 is refused where it leads to $answer", ({ answer, says }) =>
    Effect.gen(function* () {
      const { opened, value } = yield* sockets(
        reason(read("http://files.example.com/", { allowed: ["files.example.com"] })).pipe(
          Effect.provide(resolver(answer).layer)
        )
      )
      assert.strictEqual(opened, 0)
      assert.include(value, says)
    })
  )

  it.live("S50 that is never resolved is given up", () =>
    Effect.gen(function* () {
      const said = yield* reason(
        read("http://files.example.com/", { allowed: ["files.example.com"], connectTimeout: "50 millis" })
      ).pipe(Effect.provideService(Resolver, () => Effect.never))
      assert.strictEqual(
        said,
        "files.example.com could not be resolved within 50ms. Try again later, or send the file itself."
      )
    })
  )
})

describe("a response is refused", () => {
  it.live.each([301, 302, 303, 307, 308])("S51 that redirects with %i, and the target is not visited", (status) =>
    Effect.gen(function* () {
      const target = yield* plain()
      const server = yield* serve((_, response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${target.port}/` }).end()
      )
      assert.include(
        yield* reason(read(`http://127.0.0.1:${server.port}/`)),
        `answered with a redirect (${status}), and none is followed`
      )
      assert.strictEqual(server.requests.length, 1)
      assert.strictEqual(target.connections(), 0)
      yield* server.closed
    })
  )

  it.live.each([
    { status: 404, headers: {}, says: "answered 404" },
    { status: 401, headers: { "www-authenticate": "Basic" }, says: "answered 401" },
    { status: 204, headers: {}, says: "answered 204" },
    { status: 206, headers: {}, says: "answered 206" },
    { status: 500, headers: {}, says: "answered 500" },
    { status: 200, headers: { "content-encoding": "gzip" }, says: "compressed" },
    { status: 200, headers: { "content-encoding": "identity, br" }, says: "compressed" },
    { status: 200, headers: { "content-type": "Text/HTML; charset=utf-8" }, says: "web page" },
    { status: 200, headers: { "content-type": "application/xhtml+xml" }, says: "web page" },
    { status: 200, headers: { "content-length": "10737418240" }, says: "more than the 104857600 bytes" }
  ])("S51 with $status and $headers", ({ headers, says, status }) =>
    Effect.gen(function* () {
      // The body never ends: the head alone decides.
      const server = yield* serve((_, response) => response.writeHead(status, headers).flushHeaders())
      const said = yield* reason(read(`http://127.0.0.1:${server.port}/`))
      assert.include(said, says)
      assert.include(said, `127.0.0.1:${server.port} `)
      yield* server.closed
    })
  )

  it.live("S51 without an end, at the limit", () =>
    Effect.gen(function* () {
      const server = yield* serve((_, response) => {
        const write = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, "a"))) continue
        }
        response.on("drain", write)
        write()
      })
      let taken = 0
      const said = yield* safeFetch(new URL(`http://127.0.0.1:${server.port}/`), {
        allowed: ["127.0.0.1"],
        maximumBytes: 1_000_000
      }).pipe(
        Stream.runForEach((chunk) => Effect.sync(() => void (taken += chunk.length))),
        reason
      )
      assert.include(said, "sends more than the 1000000 bytes")
      assert.isAtMost(taken, 1_000_000)
      yield* server.closed
    })
  )

  it.live("S51 that breaks off", () =>
    Effect.gen(function* () {
      const server = yield* serve((_, response, socket) => {
        response.writeHead(200, { "content-length": "100" })
        response.write(file, () => socket.destroy())
      })
      assert.include(
        yield* reason(read(`http://127.0.0.1:${server.port}/`)),
        `the file of 127.0.0.1:${server.port} broke off`
      )
    })
  )

  it.live.each([
    { answer: "", says: "(ECONNRESET)" },
    { answer: "SSH-2.0-OpenSSH_9.9\r\n", says: "(HPE_" },
    {
      answer: "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
      says: "closed the connection"
    },
    { answer: `HTTP/1.1 200 OK\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, says: "(HPE_HEADER_OVERFLOW)" },
    { answer: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", says: "(HPE_" }
  ])("S51 that is no HTTP: $says", ({ answer, says }) =>
    Effect.gen(function* () {
      const server = yield* serve((_, __, socket) => socket.end(answer))
      const said = yield* reason(read(`http://127.0.0.1:${server.port}/`))
      assert.include(said, says)
      yield* server.closed
    })
  )

  it.live("S51 by a closed port", () =>
    Effect.gen(function* () {
      const { port } = yield* Effect.scoped(plain())
      assert.strictEqual(
        yield* reason(read(`http://127.0.0.1:${port}/`)),
        `127.0.0.1:${port} could not be read from (ECONNREFUSED). Check the address and that the host is up, then import again.`
      )
    })
  )
})

describe("time is limited", () => {
  it.live("S51 until the head of the response", () =>
    Effect.gen(function* () {
      const server = yield* serve(() => {})
      const said = yield* reason(read(`http://127.0.0.1:${server.port}/`, { responseTimeout: "100 millis" }))
      assert.include(said, "did not answer within 100ms")
      yield* server.closed
    })
  )

  it.live("S51 until the handshake is done", () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.callback<Http.Server>((resume) => {
          const server = Http.createServer()
          // Reads the greeting of TLS and says nothing.
          server.removeAllListeners("connection").listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const { port } = server.address() as AddressInfo // It listens on TCP.
      const said = yield* reason(read(`https://127.0.0.1:${port}/`, { connectTimeout: "100 millis" }))
      assert.include(said, "did not accept a connection within 100ms")
    })
  )

  it.live("S51 in all, however steadily the bytes drip", () =>
    Effect.gen(function* () {
      const server = yield* serve((_, response) => {
        const drip = setInterval(() => response.write("a"), 10)
        response.once("close", () => clearInterval(drip))
      })
      const said = yield* reason(read(`http://127.0.0.1:${server.port}/`, { timeout: "2 seconds" }))
      assert.include(said, "did not send the whole file within 2s")
      yield* server.closed
    })
  )
})

describe("the time of the consumer", () => {
  it.effect("is not counted", () =>
    Effect.gen(function* () {
      const rest = yield* Deferred.make<() => void>()
      const server = yield* serve((_, response) => {
        response.write("a")
        Deferred.doneUnsafe(
          rest,
          Effect.succeed(() => response.end("b"))
        )
      })
      const text = yield* safeFetch(new URL(`http://127.0.0.1:${server.port}/`), { allowed: ["127.0.0.1"] }).pipe(
        Stream.tap(() =>
          TestClock.adjust("1 hour").pipe(
            Effect.andThen(Deferred.await(rest)),
            Effect.map((end) => end())
          )
        ),
        Stream.decodeText,
        Stream.mkString
      )
      assert.strictEqual(text, "ab")
    })
  )
})

describe("an interrupted stream", () => {
  it.live("closes the socket while it waits for bytes", () =>
    Effect.gen(function* () {
      const server = yield* serve((_, response) => response.write("a"))
      const received = yield* Queue.make<Uint8Array>()
      const fiber = yield* safeFetch(new URL(`http://127.0.0.1:${server.port}/`), { allowed: ["127.0.0.1"] }).pipe(
        Stream.runForEach((chunk) => Queue.offer(received, chunk)),
        Effect.forkChild
      )
      yield* Queue.take(received)
      yield* Fiber.interrupt(fiber)
      yield* server.closed
    })
  )

  it.live("closes the socket while it waits for the head", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const server = yield* serve(() => Deferred.doneUnsafe(arrived, Effect.void))
      const fiber = yield* Effect.forkChild(read(`http://127.0.0.1:${server.port}/`))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      yield* server.closed
    })
  )

  it.live("closes the socket when the consumer has enough", () =>
    Effect.gen(function* () {
      const server = yield* serve((_, response) => response.write("a"))
      yield* safeFetch(new URL(`http://127.0.0.1:${server.port}/`), { allowed: ["127.0.0.1"] }).pipe(
        Stream.take(1),
        Stream.runDrain
      )
      yield* server.closed
    })
  )
})

const openssl = spawnSync("openssl", ["version"]).status === 0

/** A certificate for files.example.com that nobody trusts. */
const certificate = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(os.tmpdir(), "roster-tls-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
).pipe(
  Effect.map((directory) => {
    const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")]
    execFileSync(
      "openssl",
      [
        ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=files.example.com".split(
          " "
        ),
        "-addext",
        "subjectAltName=DNS:files.example.com",
        "-keyout",
        key,
        "-out",
        cert
      ],
      { stdio: "ignore" }
    )
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
  })
)

describe.skipIf(!openssl)("over TLS (needs openssl)", () => {
  it.live("the certificate has to be trusted and to name the host", () =>
    Effect.gen(function* () {
      const tls = yield* certificate
      const server = yield* serve((_, response) => response.end(file), { tls })
      const fetch = (host: string) =>
        read(`https://${host}:${server.port}/`, { allowed: [host] }).pipe(Effect.provide(resolver(["127.0.0.1"]).layer))

      assert.include(yield* reason(fetch("files.example.com")), "(DEPTH_ZERO_SELF_SIGNED_CERT)")
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const before = getCACertificates("default")
          setDefaultCACertificates([...before, tls.cert])
          return before
        }),
        (before) => Effect.sync(() => setDefaultCACertificates(before))
      )
      assert.strictEqual(yield* fetch("files.example.com"), file)
      assert.include(yield* reason(fetch("other.example.com")), "(ERR_TLS_CERT_ALTNAME_INVALID)")
      assert.strictEqual(server.requests.length, 1)
    })
  )
})
