/** The process of `roster studio` from outside: who gets an answer, what reaches the service, and where links lead. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, DownloadNotice, ImportSource } from "@roster/domain"
import { FetchTransport, RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { EmbeddedHttpClient, StudioServer } from "@roster/server"
import { exportTo } from "@roster/workflows"
import { Context, Deferred, Effect, Exit, Layer, Logger, Redacted, References, Scope, Stream, Tracer } from "effect"
import type { HttpClient } from "effect/http"
import { spawn, spawnSync } from "node:child_process"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { html, pageFolder, script } from "./PageFolder.ts"
import { answerTo, bodyOf, dial, head, type RawServed, refusedAs, statusOf } from "./RawServed.ts"

const target = { name: "[local] a.db", identity: "[local] /a.db", isStore: true, version: "1.2.3", flags: "--db a.db" }

/** The process, and the key of its page. */
const studioOn = Effect.fnUntraced(function* <E>(
  client: Layer.Layer<HttpClient.HttpClient, E>,
  service: StudioServer.ForwardedService
) {
  const page = { folder: yield* pageFolder }
  const services = yield* Layer.build(StudioServer.layer({ page, target, service, client }))
  const { address, addressToOpen } = Context.get(services, StudioServer.StudioServer)
  const key = new URL(Redacted.value(addressToOpen)).hash.replace("#session=", "")
  assert.match(key, /^[\w-]{43}$/)
  assert.strictEqual(new URL(address).hostname, "127.0.0.1")
  const served: RawServed = { address: `${address}v4`, key }
  return served
})

const onStore = Effect.suspend(() =>
  studioOn(EmbeddedHttpClient.layer({ filename: ":memory:" }), { baseUrl: EmbeddedHttpClient.baseUrl })
)

/** A service of the test's own making, with what it was asked. */
const fake = Effect.fnUntraced(function* (answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: Array<Pick<IncomingMessage, "method" | "url" | "headers">> = []
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((request, response) => {
        requests.push({ method: request.method, url: request.url, headers: request.headers })
        answer(request, response)
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close().closeAllConnections())
  )
  // A server that listens on a port has one.
  const { port } = server.address() as AddressInfo
  return { baseUrl: `http://127.0.0.1:${port}/lists/v4`, origin: `http://127.0.0.1:${port}`, requests }
})

const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
const serviceKey = "service-key-0123456789"

/** The process in front of a service with a key. */
const onService = ({ baseUrl }: { readonly baseUrl: string }) =>
  studioOn(UndiciHttpClient.layer(), {
    baseUrl,
    key: { header: "X-Own-Key", value: Redacted.make(`Bearer ${serviceKey}`) }
  })

const clientOf = ({ address, key }: RawServed) =>
  RosterClient.layer({ baseUrl: address, apiKey: Redacted.make(key), retry: { attempts: 1 } }).pipe(
    Layer.provide(FetchTransport.layer())
  )

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}

const hostOf = ({ address }: RawServed): string => new URL(address).host

const add = { "Content-Type": "application/json", "Content-Length": "29" }
const added = '[{"Email":"eve@example.com"}]'

/** Tries to add a contact, and gives the answer. */
const tryAdd = (studio: RawServed, headers: Readonly<Record<string, string | undefined>>) =>
  Effect.scoped(
    Effect.flatMap(
      dial(studio, head(studio, "POST /v4/contacts", { ...add, Connection: "close", ...headers }) + added),
      ({ closed }) => closed
    )
  )

const contacts = (studio: RawServed) =>
  Effect.map(answerTo(studio, "GET /v4/contacts"), (answer) => {
    assert.strictEqual(statusOf(answer), 200, answer)
    return bodyOf(answer)
  })

describe("the process of roster studio", () => {
  it.live("serves the page without a key, and everything else to its page alone", () =>
    Effect.gen(function* () {
      const studio = yield* onStore
      const keyless = { "X-Service-ApiKey": undefined }
      const page = yield* answerTo(studio, "GET /", { ...keyless, "Sec-Fetch-Site": "none" })
      assert.strictEqual(bodyOf(page), html)
      assert.match(page, /\r\ncontent-security-policy: default-src 'none'; script-src 'self'/i)
      assert.match(page, /\r\ncache-control: no-store\r\n/i)
      const file = yield* answerTo(studio, "GET /assets/main.1a2b3c.js", {
        ...keyless,
        "Sec-Fetch-Site": "same-origin"
      })
      assert.strictEqual(bodyOf(file), script)
      refusedAs(yield* answerTo(studio, "GET /assets/..%2findex.html", keyless), 404)

      const own = { Origin: `http://${hostOf(studio)}`, "Sec-Fetch-Site": "same-origin" }
      assert.deepStrictEqual(JSON.parse(bodyOf(yield* answerTo(studio, "GET /studio/target", own))), target)
      assert.strictEqual(statusOf(yield* tryAdd(studio, own)), 200)
      assert.include(yield* contacts(studio), "eve@example.com")
      for (const name of ["localhost", "[::1]"]) {
        const Host = `${name}:${new URL(studio.address).port}`
        assert.strictEqual(statusOf(yield* answerTo(studio, "GET /v4/contacts", { Host })), 200)
      }
    })
  )

  it.live("refuses a name that another site has rebound to this machine, whatever it knows", () =>
    Effect.gen(function* () {
      const studio = yield* onStore
      const { port } = new URL(studio.address)
      for (const Host of [
        `evil.example:${port}`,
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        `127.0.0.2:${port}`,
        `localhost.evil.example:${port}`,
        `localhost.:${port}`,
        ""
      ]) {
        for (const line of ["GET /", "GET /assets/main.1a2b3c.js", "GET /v4/contacts", "GET /studio/target"]) {
          refusedAs(yield* answerTo(studio, line, { Host }), 421)
        }
      }
    })
  )

  it.live("refuses other pages, also simple requests of them that know the key", () =>
    Effect.gen(function* () {
      const studio = yield* onStore
      const { port } = new URL(studio.address)
      for (const headers of [
        { Origin: "http://evil.example", "Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain" },
        { Origin: "http://evil.example" },
        { Origin: "null" },
        { Origin: `http://localhost:${port}` },
        { Origin: `https://127.0.0.1:${port}` },
        { Origin: "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site" },
        { "Sec-Fetch-Site": "cross-site" },
        { "Sec-Fetch-Site": "same-site" },
        // As when somebody types the address of a call.
        { "Sec-Fetch-Site": "none" }
      ]) {
        refusedAs(yield* tryAdd(studio, headers), 403)
      }
      refusedAs(yield* answerTo(studio, "GET /", { "Sec-Fetch-Site": "cross-site" }), 403)
      const preflight = yield* answerTo(studio, "OPTIONS /v4/contacts", {
        Origin: `http://${hostOf(studio)}`,
        "Access-Control-Request-Method": "POST"
      })
      refusedAs(preflight, 405)
      assert.notMatch(preflight, /access-control/i)
      assert.strictEqual(yield* contacts(studio), "[]")
    })
  )

  it.live("refuses a local process that does not know the key", () =>
    Effect.gen(function* () {
      const studio = yield* onStore
      const wrong = studio.key.replace(/.$/, (last) => (last === "A" ? "B" : "A"))
      for (const headers of [
        { "X-Service-ApiKey": undefined },
        { "X-Service-ApiKey": "" },
        { "X-Service-ApiKey": wrong },
        { "X-Service-ApiKey": `${studio.key}A` },
        { "X-Service-ApiKey": undefined, Cookie: `key=${studio.key}`, Authorization: `Bearer ${studio.key}` }
      ]) {
        refusedAs(yield* tryAdd(studio, headers), 401)
        for (const path of ["/studio/target", "/studio/calls", "/v4/contacts", "/v4", "/nothing"]) {
          refusedAs(yield* answerTo(studio, `GET ${path}`, headers), 401)
        }
      }
      refusedAs(yield* answerTo(studio, `GET /v4/contacts?key=${studio.key}`, { "X-Service-ApiKey": undefined }), 401)
      const upgrade = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13" }
      for (const path of ["/v4/contacts", "/"]) {
        const line = `GET ${path}`
        const asked = head(studio, line, { ...upgrade, "X-Service-ApiKey": undefined, "Sec-WebSocket-Key": "eA==" })
        const answer = yield* Effect.scoped(Effect.flatMap(dial(studio, asked), ({ until }) => until(/\r\n\r\n/)))
        assert.strictEqual(statusOf(answer), path === "/" ? 200 : 401)
      }
      assert.strictEqual(yield* contacts(studio), "[]")
    })
  )

  const isRoot = process.platform === "linux" && process.getuid?.() === 0
  it.live.skipIf(!isRoot)(
    `refuses another user of this machine, who may have read the key${isRoot ? "" : " (needs root on Linux)"}`,
    () =>
      Effect.gen(function* () {
        const studio = yield* onStore
        const program = `fetch(${JSON.stringify(`${studio.address}/contacts`)}, { headers: { "x-service-apikey": process.argv[1] } })
          .then(({ status }) => console.log(status))`
        const askAs = (uid: number) =>
          Effect.promise(async () => {
            const child = spawn(process.execPath, ["--eval", program, "--", studio.key], { uid, cwd: "/", env: {} })
            let text = ""
            for await (const part of child.stdout) text += String(part)
            return text.trim()
          })
        assert.strictEqual(yield* askAs(0), "200")
        // The program may lie where only root can run it.
        if (spawnSync(process.execPath, ["--version"], { uid: 65_534, cwd: "/" }).status === 0)
          assert.strictEqual(yield* askAs(65_534), "403")
      })
  )
})

/** The bytes of an export. */
const exported = Effect.gen(function* () {
  let text = ""
  yield* exportTo({ fileFormat: "Csv" }, (content) =>
    Stream.runForEach(Stream.decodeText(content), (part) => Effect.sync(() => (text += part)))
  )
  return text
})

describe("what roster studio passes on", () => {
  it.live("is every call of a client, and the file of an export", () =>
    Effect.gen(function* () {
      const studio = yield* onStore
      yield* Effect.gen(function* () {
        const service = yield* ContactsService
        yield* service.add([{ email: "ada@example.com" }, { email: "bob@example.com" }])
        yield* service.import(
          ImportSource.File({
            name: "more.csv",
            content: Stream.make(new TextEncoder().encode("Email\neve@example.com\n"))
          })
        )
        const text = yield* Effect.repeat(exported, { until: (text) => text.includes("eve@"), times: 100 })
        for (const name of ["ada", "bob", "eve"]) assert.include(text, `${name}@example.com`)
        const { link } = yield* service.export()
        assert.match(link, new RegExp(`^http://${hostOf(studio)}/studio/exports/[\\w-]{43}/`))
        // The links of the service itself end with its process, and one that was made up leads nowhere.
        refusedAs(yield* answerTo(studio, `GET ${new URL(link).pathname.replace(/[\w-]{43}/, "A".repeat(43))}`), 404)
        refusedAs(yield* answerTo(studio, `GET ${new URL(link).pathname}`, { Origin: "http://evil.example" }), 403)
      }).pipe(Effect.provide(clientOf(studio)))
    })
  )

  it.live("has the key of the service in place of the key of the page, and nothing of the browser", () =>
    Effect.gen(function* () {
      const service = yield* fake((_, response) => {
        response.setHeader("Set-Cookie", "a=b")
        response.setHeader("Access-Control-Allow-Origin", "*")
        response.setHeader("Location", "http://evil.example/")
        response.setHeader("Roster-Changes", "honoured")
        json(response, 200, [])
      })
      const studio = yield* onService(service)
      const answer = yield* answerTo(studio, "GET /v4/contacts?limit=2", {
        Cookie: "session=of-another-page",
        Origin: `http://${hostOf(studio)}`,
        Referer: `http://${hostOf(studio)}/`,
        "User-Agent": "Browser",
        "X-Own-Key": "another",
        "Idempotency-Key": "once"
      })
      assert.strictEqual(statusOf(answer), 200)
      assert.match(answer, /\r\nroster-changes: honoured\r\n/i)
      assert.notMatch(answer, /set-cookie|access-control|location/i)
      const [asked = { url: "", headers: {} }] = service.requests
      assert.strictEqual(asked.url, "/lists/v4/contacts?limit=2")
      assert.strictEqual(asked.headers["x-own-key"], `Bearer ${serviceKey}`)
      assert.strictEqual(asked.headers["idempotency-key"], "once")
      for (const name of ["cookie", "origin", "referer", "x-service-apikey", "sec-fetch-site"]) {
        assert.isUndefined(asked.headers[name], name)
      }
      assert.notInclude(JSON.stringify(service.requests), studio.key)
    })
  )

  it.live("stays below the address of the service", () =>
    Effect.gen(function* () {
      const service = yield* fake((_, response) => json(response, 200, []))
      const studio = yield* onService(service)
      for (const path of [
        "/v4/../admin",
        "/v4/%2e%2e/admin",
        "/v4/..%2f..",
        "/v4/../../x",
        "/v4@evil.example/contacts",
        "/v4.evil.example/",
        "/v40/contacts",
        "//evil.example/v4",
        "http://evil.example/v4/contacts",
        "/lists/v4/contacts",
        "/studio/exports/http://evil.example/",
        "/studio/exports/"
      ]) {
        const status = statusOf(yield* answerTo(studio, `GET ${path}`))
        // Node takes the host of a whole address for that of the request.
        if (path !== "/v4/..%2f..") assert.strictEqual(status, path.startsWith("http:") ? 421 : 404, path)
      }
      assert.deepStrictEqual(
        service.requests.filter(({ url = "" }) => !url.startsWith("/lists/v4/")),
        []
      )
    })
  )

  it.live("gives files from elsewhere by links that only this process knows, and brings no key there", () =>
    Effect.gen(function* () {
      const elsewhere = yield* fake((request, response) => {
        response.setHeader("Content-Disposition", "inline")
        response.writeHead(request.headers.range === undefined ? 200 : 206, { "content-type": "text/html" })
        response.end("<script>")
      })
      const service = yield* fake((_, response) =>
        json(response, 202, {
          Link: `${elsewhere.origin}/bucket/file.csv?signature=abcdefgh`,
          PublicExportID: id
        })
      )
      const studio = yield* onService(service)
      const { link } = yield* Effect.provide(
        ContactsService.use((contacts) => contacts.export()),
        clientOf(studio)
      )
      assert.match(link, new RegExp(`^http://${hostOf(studio)}/studio/exports/[\\w-]{43}/file\\.csv$`))
      const { pathname } = new URL(link)
      const keyless = { "X-Service-ApiKey": undefined, "Sec-Fetch-Site": "same-origin" }
      const file = yield* answerTo(studio, `GET ${pathname}`, keyless)
      assert.strictEqual(bodyOf(file).includes("<script>"), true)
      assert.match(file, /\r\ncontent-disposition: attachment\r\n/i)
      assert.match(file, /\r\ncontent-security-policy: default-src 'none'; frame-ancestors 'none'; sandbox\r\n/i)
      const part = yield* answerTo(studio, `GET ${pathname}`, { ...keyless, Range: "bytes=3-" })
      assert.strictEqual(statusOf(part), 206)
      assert.deepStrictEqual(
        elsewhere.requests.map(({ headers, url }) => [url, headers["x-own-key"], headers.cookie]),
        Array.from({ length: 2 }, () => ["/bucket/file.csv?signature=abcdefgh", undefined, undefined])
      )
      assert.notMatch(JSON.stringify(elsewhere.requests), new RegExp(`${serviceKey}|${studio.key}`))
    })
  )

  it.live("asks a service of ours itself where the link of an export leads nowhere, and says so", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(fake(() => {}))
      const path = "/v4/exports/8cW5yQ0b3kq1v7zX2mJ4tR6uP9sA/contacts.csv"
      for (const isOurs of [true, false]) {
        const service = yield* fake(({ method }, response) => {
          if (isOurs) response.setHeader("Roster-Changes", "honoured")
          if (method === "POST") json(response, 202, { Link: `${gone.origin}${path}`, PublicExportID: id })
          else response.end("Email")
        })
        const notices: Array<string> = []
        const studio = yield* onService(service).pipe(
          Effect.provideService(DownloadNotice, (notice) => Effect.sync(() => void notices.push(notice)))
        )
        const { link } = yield* Effect.provide(
          ContactsService.use((contacts) => contacts.export()),
          clientOf(studio)
        )
        const file = yield* answerTo(studio, `GET ${new URL(link).pathname}`, { "X-Service-ApiKey": undefined })
        assert.strictEqual(statusOf(file), isOurs ? 200 : 503)
        assert.deepInclude(
          service.requests.map(({ headers, url }) => [url, headers["x-own-key"]]),
          [`/lists${path}`, undefined]
        )
        assert.lengthOf(notices, isOurs ? 1 : 0)
        for (const notice of notices) assert.include(notice, `ECONNREFUSED at ${new URL(gone.origin).host}`)
      }
    })
  )

  it.live("tells a service that was not reached from one whose answer was lost", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(fake((_, response) => json(response, 200, [])))
      const unreached = yield* answerTo(yield* onService(gone), "GET /v4/contacts")
      refusedAs(unreached, 503)
      assert.match(unreached, /\r\nretry-after: 1\r\n/i)
      const breaking = yield* fake((request) => request.socket.destroy())
      refusedAs(yield* answerTo(yield* onService(breaking), "GET /v4/contacts"), 502)
      const redirecting = yield* fake((_, response) => {
        response.writeHead(302, { location: "http://evil.example/" }).end()
      })
      assert.strictEqual(statusOf(yield* answerTo(yield* onService(redirecting), "GET /v4/contacts")), 302)
      assert.lengthOf(redirecting.requests, 1)
    })
  )

  it.live("is in no log and no span, and neither are the keys", () =>
    Effect.gen(function* () {
      const said: Array<unknown> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          said.push(span)
          return span
        }
      })
      const logger = Logger.make(({ cause, message }) => void said.push(message, cause))
      const keys: Array<string> = []
      yield* Effect.gen(function* () {
        const service = yield* fake((request, response) =>
          request.method === "GET" ? request.socket.destroy() : json(response, 500, { Error: "no" })
        )
        const studio = yield* onService(service)
        keys.push(studio.key)
        yield* answerTo(studio, "GET /v4/contacts/ada@example.com")
        yield* tryAdd(studio, {})
        yield* Effect.logInfo("the test looks")
      }).pipe(
        Effect.scoped,
        Effect.provideService(Tracer.Tracer, tracer),
        Effect.provide(Logger.layer([logger])),
        Effect.provideService(References.MinimumLogLevel, "All")
      )
      const text = JSON.stringify(said, (_, part: unknown) => (part instanceof Map ? [...part] : part))
      assert.include(text, "the test looks")
      for (const secret of [...keys, serviceKey, "ada@example.com", "eve@example.com"]) assert.notInclude(text, secret)
    })
  )

  it.live("ends with the process, also what still waits", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const service = yield* fake(() => Deferred.doneUnsafe(asked, Effect.void))
      const scope = yield* Scope.make()
      const studio = yield* Scope.provide(onService(service), scope)
      const { closed } = yield* dial(studio, head(studio, "GET /v4/contacts"))
      yield* Deferred.await(asked)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* closed, "")
      const after = yield* Effect.exit(Effect.tryPromise(() => fetch(studio.address)))
      assert.isTrue(Exit.isFailure(after))
    })
  )
})
