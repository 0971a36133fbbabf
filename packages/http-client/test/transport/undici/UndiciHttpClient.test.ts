import { assert, describe, it } from "@effect/vitest"
import { ResponseTooLarge } from "@roster/domain"
import { Deferred, Effect, Exit, Fiber, Layer, type Scope, Stream } from "effect"
import { HttpBody, HttpClient, type HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { gzipSync } from "node:zlib"
import { BufferedResponse, UnsupportedEncoding } from "../../../src/transport/BufferedResponse.ts"
import { CurrentRequestPhase, type RequestPhase } from "../../../src/transport/RequestPhase.ts"
import { NotSent } from "../../../src/transport/undici/UndiciExchange.ts"
import { layer, type UndiciOptions } from "../../../src/transport/undici/UndiciHttpClient.ts"

const mebibyte = 1024 * 1024

/** One connection of the server, read by hand. */
class Connection {
  readonly socket: Socket
  readonly closed: Promise<void>
  /** What has come and was not taken yet. */
  #received: Array<Buffer> = []
  #length = 0
  #discarding = false
  #changed = Promise.withResolvers<void>()
  #open = true
  readonly #heads: Array<string>

  constructor(socket: Socket, heads: Array<string>) {
    this.socket = socket
    this.#heads = heads
    const closed = Promise.withResolvers<void>()
    this.closed = closed.promise
    socket.on("error", () => {})
    socket.on("data", (data: Buffer) => {
      this.#length += data.length
      if (!this.#discarding) this.#received.push(data)
      this.#change()
    })
    socket.on("close", () => {
      this.#open = false
      this.#change()
      closed.resolve()
    })
  }

  #change() {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  async #until(end: () => number): Promise<Buffer> {
    let length = end()
    while (length < 0 && this.#open) {
      await this.#changed.promise
      length = end()
    }
    if (length < 0) throw new Error("the client has closed the connection")
    const all = Buffer.concat(this.#received)
    this.#received = [all.subarray(length)]
    this.#length -= length
    return all.subarray(0, length)
  }

  #find(text: string): number {
    this.#received = [Buffer.concat(this.#received)]
    const at = this.#received[0]?.indexOf(text) ?? -1
    return at < 0 ? -1 : at + text.length
  }

  /** The next head, which goes into the ledger. */
  async head(): Promise<string> {
    const head = await this.#until(() => this.#find("\r\n\r\n"))
    this.#heads.push(head.toString("latin1"))
    return head.toString("latin1")
  }

  body = (length: number): Promise<Buffer> => this.#until(() => (this.#length < length ? -1 : length))

  /** Waits for so many bytes, and lets them and all that follow go by. */
  async pass(length: number): Promise<void> {
    this.#discarding = true
    while (this.#length < length && this.#open) await this.#changed.promise
  }

  /** A body in chunks, up to and with the last one. */
  async chunked(): Promise<Buffer> {
    const parts: Array<Buffer> = []
    for (;;) {
      const line = await this.#until(() => this.#find("\r\n"))
      const size = Number.parseInt(line.toString("latin1"), 16)
      parts.push((await this.body(size + 2)).subarray(0, size))
      if (size === 0) return Buffer.concat(parts)
    }
  }

  write = (data: string | Uint8Array): Promise<void> =>
    new Promise((resolve) => this.socket.write(data, () => resolve()))

  answer = (body: string | Uint8Array, ...fields: ReadonlyArray<string>): Promise<void> => {
    const bytes = Buffer.from(body)
    const head = ["HTTP/1.1 200 OK", `content-length: ${bytes.length}`, ...fields].join("\r\n")
    return this.write(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), bytes]))
  }

  /** Writes until the client closes, as fast as it takes it. Returns how many bytes went out. */
  async pour(chunk: Uint8Array, total = Number.POSITIVE_INFINITY, onSent: (sent: number) => void = () => {}) {
    let sent = 0
    while (this.#open && sent < total) {
      if (!this.socket.write(chunk)) {
        await Promise.race([new Promise((resolve) => this.socket.once("drain", resolve)), this.closed])
      }
      sent += chunk.length
      onSent(sent)
    }
    return sent
  }
}

interface Served {
  readonly url: string
  /** The heads of all requests that came. */
  readonly heads: ReadonlyArray<string>
  readonly connections: ReadonlyArray<Connection>
}

/** A server of raw bytes. The script plays on each connection; that the client hangs up ends it. */
const serve = (
  script: (connection: Connection, index: number) => Promise<unknown>
): Effect.Effect<Served, never, Scope.Scope> =>
  Effect.gen(function* () {
    const heads: Array<string> = []
    const connections: Array<Connection> = []
    const server = yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((socket) => {
          const connection = new Connection(socket, heads)
          connections.push(connection)
          script(connection, connections.length - 1).catch(() => {})
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const { socket } of connections) socket.destroy()
        })
    )
    // A server that listens on TCP has an address of this kind; a string is for pipes.
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}`, heads, connections }
  })

/** Answers every request of a connection in the same way. */
const always =
  (answer: (connection: Connection, head: string) => Promise<unknown>) => async (connection: Connection) => {
    for (;;) await answer(connection, await connection.head())
  }

const withClient = (options: UndiciOptions = {}) =>
  Effect.provide(Layer.orDie(layer({ proxy: false, ...options })), { local: true })

const wait = <A>(promise: () => Promise<A>) => Effect.promise(promise)

const closed = (connections: ReadonlyArray<Connection>, index: number) =>
  wait(() => connections[index]?.closed ?? Promise.reject(new Error("there is no such connection")))

/** Everything that is said in the causes of an error, the outermost first. */
const codes = (error: unknown): ReadonlyArray<unknown> => {
  if (!(error instanceof Error)) return []
  const own = "code" in error ? [error.code] : []
  return [...own, ...codes(error.cause), ...(error instanceof AggregateError ? error.errors.flatMap(codes) : [])]
}

const failure = <A, R>(effect: Effect.Effect<A, HttpClientError.HttpClientError, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    const cause = "cause" in error.reason ? error.reason.cause : undefined
    return { tag: error.reason._tag, cause, codes: codes(cause), status: error.response?.status }
  })

const get = (url: string) => HttpClient.get(url)
const bytesOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.arrayBuffer, (bytes) => new Uint8Array(bytes))
const whole = (url: string) => Effect.flatMap(get(url), bytesOf)

describe("UndiciHttpClient", () => {
  describe("what is sent", () => {
    it.live("is the request, and nothing that it does not say", () =>
      Effect.gen(function* () {
        const { heads, url } = yield* serve(always((connection) => connection.answer("{}")))
        yield* HttpClientRequest.get(`${url}/v4/contacts/a%2Fb@example.com`, { headers: { "X-Key": "k" } }).pipe(
          HttpClientRequest.setUrlParam("q", "ü +&"),
          HttpClient.execute,
          Effect.flatMap((response) => response.json),
          Effect.withSpan("a span that could be passed on")
        )
        const host = new URL(url).host
        assert.deepStrictEqual(heads, [
          "GET /v4/contacts/a%2Fb@example.com?q=%C3%BC+%2B%26 HTTP/1.1\r\n" +
            `host: ${host}\r\nconnection: keep-alive\r\nx-key: k\r\naccept-encoding: identity\r\n\r\n`
        ])
      }).pipe(withClient())
    )

    it.live("has the length and type of its body", () =>
      Effect.gen(function* () {
        const bodies: Array<string> = []
        const { heads, url } = yield* serve(
          always(async (connection, head) => {
            const length = /content-length: (\d+)/.exec(head)?.[1]
            bodies.push(
              (await (length === undefined ? connection.chunked() : connection.body(Number(length)))).toString()
            )
            await connection.answer("")
          })
        )
        const send = (body: HttpBody.HttpBody) => Effect.flatMap(HttpClient.post(url, { body }), bytesOf)
        yield* send(HttpBody.empty)
        yield* send(HttpBody.text('{"name":"é"}', "application/json"))
        yield* send(HttpBody.raw("é", { contentType: "text/csv" }))
        yield* send(HttpBody.raw(new TextEncoder().encode("é").buffer))
        const parts = Stream.fromArray(["12", "345"]).pipe(
          Stream.rechunk(1),
          Stream.tap(() => Effect.yieldNow)
        )
        yield* send(HttpBody.stream(Stream.encodeText(parts)))
        yield* send(HttpBody.stream(Stream.make(new TextEncoder().encode("12345")), "text/csv", 5))
        yield* send(HttpBody.stream(Stream.empty, "text/csv"))
        const fields = heads.map((head) =>
          head
            .split("\r\n")
            .filter((line) => /^(?:content|transfer)/.test(line))
            .join(" ")
        )
        assert.deepStrictEqual(fields, [
          "content-length: 0",
          "content-type: application/json content-length: 13",
          "content-type: text/csv content-length: 2",
          "content-length: 2",
          "content-type: application/octet-stream transfer-encoding: chunked",
          "content-type: text/csv content-length: 5",
          "content-type: text/csv content-length: 0"
        ])
        assert.deepStrictEqual(bodies, ["", '{"name":"é"}', "é", "é", "12345", "12345", ""])
      }).pipe(withClient())
    )

    it.live("can be a form: a small one with a length, one with a large file in pieces", () =>
      Effect.gen(function* () {
        const forms: Array<FormData> = []
        const { heads, url } = yield* serve(
          always(async (connection, head) => {
            const length = /content-length: (\d+)/.exec(head)?.[1]
            const body = await (length === undefined ? connection.chunked() : connection.body(Number(length)))
            const contentType = /content-type: (.*)/.exec(head)?.[1] ?? ""
            forms.push(
              await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData()
            )
            await connection.answer("")
          })
        )
        const send = (size: number) => {
          const file = new File(["x".repeat(size)], "contacts.csv", { type: "text/csv" })
          return Effect.flatMap(HttpClient.post(url, { body: HttpBody.formDataRecord({ list: "é", file }) }), bytesOf)
        }
        yield* send(10)
        yield* send(3 * mebibyte)
        assert.deepStrictEqual(
          forms.map((form) => form.get("list")),
          ["é", "é"]
        )
        const files = forms.map((form) => form.get("file"))
        assert.deepStrictEqual(
          files.map((file) => (file instanceof File ? [file.name, file.size] : file)),
          [
            ["contacts.csv", 10],
            ["contacts.csv", 3 * mebibyte]
          ]
        )
        assert.match(heads[0] ?? "", /content-length: /)
        assert.match(heads[1] ?? "", /transfer-encoding: chunked/)
      }).pipe(withClient())
    )

    it.live("is nothing at all where the request cannot be one", () =>
      Effect.gen(function* () {
        const { connections, url } = yield* serve(always((connection) => connection.answer("")))
        const tag = (request: HttpClientRequest.HttpClientRequest) =>
          Effect.map(failure(HttpClient.execute(request)), ({ tag }) => tag)
        const tags = yield* Effect.all([
          tag(HttpClientRequest.get("ftp://127.0.0.1/")),
          tag(HttpClientRequest.get("no address")),
          tag(HttpClientRequest.get(url, { headers: { "x-key": "a\r\nb: c" } })),
          tag(HttpClientRequest.get(url, { headers: { "transfer-encoding": "chunked" } })),
          tag(HttpClientRequest.post(url, { body: HttpBody.raw({ a: 1 }) }))
        ])
        assert.deepStrictEqual(tags, [
          "InvalidUrlError",
          "InvalidUrlError",
          "EncodeError",
          "EncodeError",
          "EncodeError"
        ])
        assert.lengthOf(connections, 0)
      }).pipe(withClient())
    )
  })

  describe("a response", () => {
    it.live("has status, headers, cookies, address and a body in every form", () =>
      Effect.gen(function* () {
        const { heads, url } = yield* serve(
          always((connection) =>
            connection.answer(
              "a=%C3%A9&b=1",
              "Content-Type: application/x-www-form-urlencoded",
              "Set-Cookie: c=1; Path=/",
              "Set-Cookie: d=2"
            )
          )
        )
        const response = yield* get(`${url}/x?y=1#z`)
        assert.strictEqual(response.url, `${url}/x?y=1`)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers["content-length"], "12")
        assert.deepStrictEqual(Object.keys(response.cookies.cookies), ["c", "d"])
        assert.strictEqual(yield* response.text, "a=%C3%A9&b=1")
        assert.deepStrictEqual((yield* response.urlParamsBody).params, [
          ["a", "é"],
          ["b", "1"]
        ])
        assert.strictEqual((yield* response.formData).get("a"), "é")
        assert.strictEqual(yield* Stream.mkString(Stream.decodeText(response.stream)), "a=%C3%A9&b=1")
        assert.strictEqual((yield* failure(response.json)).tag, "DecodeError")
        assert.lengthOf(heads, 1)
      }).pipe(withClient())
    )

    it.live("may have no body; text must be UTF-8, with or without a mark of byte order", () =>
      Effect.gen(function* () {
        const bodies = ["", "\uFEFF{}", Buffer.from("é", "latin1")]
        const { url } = yield* serve(
          always((connection, head) => connection.answer(bodies[Number(/GET \/(\d)/.exec(head)?.[1])] ?? ""))
        )
        assert.isNull(yield* Effect.flatMap(get(`${url}/0`), ({ json }) => json))
        assert.strictEqual(yield* Effect.flatMap(get(`${url}/0`), ({ text }) => text), "")
        assert.deepStrictEqual(yield* Effect.flatMap(get(`${url}/1`), ({ json }) => json), {})
        const error = yield* failure(Effect.flatMap(get(`${url}/2`), ({ text }) => text))
        assert.deepStrictEqual([error.tag, error.status, error.cause instanceof TypeError], ["DecodeError", 200, true])
        const head = yield* HttpClient.head(url)
        assert.strictEqual(yield* head.text, "")
      }).pipe(withClient())
    )

    it.live("is read as a stream once, or as a whole often", () =>
      Effect.gen(function* () {
        const { url } = yield* serve(always((connection) => connection.answer("abc")))
        const streamed = yield* get(url)
        assert.strictEqual(yield* Stream.mkString(Stream.decodeText(streamed.stream)), "abc")
        assert.strictEqual((yield* failure(streamed.text)).tag, "DecodeError")
      }).pipe(withClient())
    )

    it.live("is passed on in chunks that nothing holds, up to the limit and only once", () =>
      Effect.gen(function* () {
        const body = "a".repeat(300_000)
        const { url } = yield* serve(always((connection) => connection.answer(body)))
        const chunksOf = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
          assert.instanceOf(response, BufferedResponse)
          const chunks: Array<Uint8Array> = []
          yield* response.each((chunk) => void chunks.push(chunk))
          return chunks
        })
        const passed = yield* get(url)
        const chunks = yield* chunksOf(passed)
        assert.isAbove(chunks.length, 1)
        assert.strictEqual(Buffer.concat(chunks).toString(), body)
        assert.strictEqual((yield* failure(passed.text)).tag, "DecodeError")
        const whole = yield* get(url)
        assert.strictEqual(yield* whole.text, body)
        assert.strictEqual(Buffer.concat(yield* chunksOf(whole)).toString(), body)
        const limited = Effect.flatMap(get(url), chunksOf).pipe(withClient({ maximumResponseBytes: 200_000 }))
        assert.instanceOf((yield* failure(limited)).cause, ResponseTooLarge)
      }).pipe(withClient())
    )

    it.live("C17: five interim answers before it are ignored", () =>
      Effect.gen(function* () {
        const interim = [102, 103, 103, 102, 103].map((status) => `HTTP/1.1 ${status} Wait\r\nx-a: 1\r\n\r\n`)
        const { connections, heads, url } = yield* serve(
          always(async (connection, head) => {
            if (head.includes("/slow")) for (const letter of interim.join("")) await connection.write(letter)
            else await connection.write(interim.join(""))
            await connection.answer("done")
          })
        )
        for (const path of ["/fast", "/slow", "/fast"]) {
          const response = yield* get(url + path)
          assert.deepStrictEqual([response.status, yield* response.text], [200, "done"])
        }
        assert.deepStrictEqual([connections.length, heads.length], [1, 3])
      }).pipe(withClient({ connections: 1 }))
    )

    it.live("C17: an unasked 100, which undici cannot read, fails the request and closes its connection", () =>
      Effect.gen(function* () {
        const { connections, heads, url } = yield* serve(
          always(async (connection) => {
            await connection.write("HTTP/1.1 100 Continue\r\n\r\n")
            await connection.answer("done")
          })
        )
        const error = yield* failure(get(url))
        assert.deepStrictEqual([error.tag, error.codes], ["TransportError", ["UND_ERR_SOCKET"]])
        yield* closed(connections, 0)
        assert.lengthOf(heads, 1)
      }).pipe(withClient())
    )

    it.live("C46, C47: a redirect is an answer like any other, and is not followed", () =>
      Effect.gen(function* () {
        const other = yield* serve(always((connection) => connection.answer("")))
        const { url } = yield* serve(
          always(async (connection, head) => {
            const status = /\/(\d+) /.exec(head)?.[1]
            const location = head.includes("/304") || head.includes("/none") ? "" : `location: ${other.url}/\r\n`
            await connection.write(`HTTP/1.1 ${status ?? 302} No\r\n${location}content-length: 0\r\n\r\n`)
          })
        )
        for (const status of [301, 302, 303, 307, 308, 304]) {
          const headers = { "x-key": "canary" }
          assert.strictEqual((yield* HttpClient.get(`${url}/${status}`, { headers })).status, status)
          const body = HttpBody.text("canary")
          if (status !== 304)
            assert.strictEqual((yield* HttpClient.post(`${url}/${status}`, { headers, body })).status, status)
        }
        assert.strictEqual((yield* get(`${url}/none`)).status, 302)
        assert.lengthOf(other.connections, 0)
      }).pipe(withClient())
    )

    it.live("C63: a compressed body that is unreadable, or cut, fails and closes its connection", () =>
      Effect.gen(function* () {
        const zipped = gzipSync("x".repeat(10_000))
        const broken = Promise.withResolvers<void>()
        const { connections, url } = yield* serve(
          always(async (connection, head) => {
            if (head.includes("/zstd")) {
              await connection.write("HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 1000\r\n\r\nabc")
            }
            if (head.includes("/cut")) await connection.answer(zipped.subarray(0, -9), "content-encoding: gzip")
            if (head.includes("/no")) {
              await connection.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1000\r\n\r\nno gzip")
              await connection.closed
              broken.resolve()
            }
          })
        )
        const streamed = Effect.flatMap(get(`${url}/zstd`), ({ stream }) => Stream.runDrain(stream))
        const zstd = yield* failure(streamed)
        assert.deepStrictEqual([zstd.tag, zstd.status], ["DecodeError", 200])
        assert.deepStrictEqual(zstd.cause, new UnsupportedEncoding("zstd"))
        yield* closed(connections, 0)
        assert.deepStrictEqual((yield* failure(whole(`${url}/cut`))).codes, ["Z_BUF_ERROR"])
        const no = Effect.flatMap(get(`${url}/no`), ({ stream }) => Stream.runDrain(stream))
        assert.deepStrictEqual((yield* failure(no)).codes, ["Z_DATA_ERROR"])
        yield* wait(() => broken.promise)
      }).pipe(withClient())
    )
  })

  describe("sizes", () => {
    it.live("C61: an endless body is cut off at the limit and its connection closed; memory stays flat", () =>
      Effect.gen(function* () {
        const sent = Promise.withResolvers<number>()
        const { connections, url } = yield* serve(async (connection) => {
          await connection.head()
          await connection.write("HTTP/1.1 200 OK\r\n\r\n")
          sent.resolve(await connection.pour(Buffer.alloc(64 * 1024, "x")))
        })
        const before = process.memoryUsage.rss()
        const error = yield* failure(whole(url))
        assert.deepStrictEqual([error.tag, error.status], ["DecodeError", 200])
        assert.deepStrictEqual(error.cause, new ResponseTooLarge({ maximumBytes: 32 * mebibyte }))
        yield* closed(connections, 0)
        assert.isBelow(yield* wait(() => sent.promise), 48 * mebibyte)
        assert.isBelow(process.memoryUsage.rss() - before, 96 * mebibyte)
      }).pipe(withClient())
    )

    it.live("the limit is exact, applies to memory only, and counts decoded and sent bytes", () =>
      Effect.gen(function* () {
        const bodies = new Map<string, readonly [body: string | Uint8Array, ...fields: ReadonlyArray<string>]>([
          ["fits", ["x".repeat(1000)]],
          ["over", ["x".repeat(1001)]],
          ["bomb", [gzipSync(Buffer.alloc(64 * mebibyte)), "content-encoding: gzip"]],
          // A thousand compressed bodies of nothing, one after the other.
          ["hollow", [Buffer.concat(Array.from({ length: 1000 }, () => gzipSync(""))), "content-encoding: gzip"]]
        ])
        const { url } = yield* serve(
          always((connection, head) => connection.answer(...(bodies.get(/GET \/(\S*)/.exec(head)?.[1] ?? "") ?? [""])))
        )
        const read = (path: string) => whole(`${url}/${path}`)
        assert.lengthOf(yield* read("fits"), 1000)
        const before = process.memoryUsage.rss()
        for (const path of ["over", "bomb", "hollow"]) {
          assert.deepStrictEqual((yield* failure(read(path))).cause, new ResponseTooLarge({ maximumBytes: 1000 }))
        }
        assert.isBelow(process.memoryUsage.rss() - before, 48 * mebibyte)
        const streamed = yield* get(`${url}/over`)
        assert.lengthOf(yield* Stream.mkUint8Array(streamed.stream), 1001)
      }).pipe(withClient({ maximumResponseBytes: 1000 }))
    )

    it.live("200 MB as a stream go through flat memory, no faster than they are read", () =>
      Effect.gen(function* () {
        const total = 200 * mebibyte
        const { sent, url } = yield* serveLarge(total)
        const response = yield* get(`${url}/large`)
        const before = process.memoryUsage.rss()
        let [read, ahead, peak] = [0, 0, 0]
        yield* Stream.runForEachArray(response.stream, (chunks) => {
          const first = read === 0
          for (const chunk of chunks) read += chunk.length
          ahead = Math.max(ahead, sent() - read)
          peak = Math.max(peak, process.memoryUsage.rss())
          return first ? settled(url, sent) : Effect.void
        })
        assert.strictEqual(read, total)
        assert.isBelow(ahead, 24 * mebibyte)
        assert.isBelow(peak - before, 64 * mebibyte)
      }).pipe(withClient())
    )

    it.live("an unread body is not fetched, and stays readable", () =>
      Effect.gen(function* () {
        const total = 64 * mebibyte
        const { sent, url } = yield* serveLarge(total)
        const response = yield* get(`${url}/large`)
        yield* settled(url, sent)
        assert.isBelow(sent(), 24 * mebibyte)
        assert.lengthOf(yield* bytesOf(response), total)
      }).pipe(withClient({ maximumResponseBytes: 64 * mebibyte }))
    )

    it.live("an unread body is not decoded either", () =>
      Effect.gen(function* () {
        const total = 64 * mebibyte
        // In many parts, so that making it takes no memory either.
        const bomb = Buffer.concat(Array<Buffer>(64).fill(gzipSync(Buffer.alloc(mebibyte))))
        const { url } = yield* serve(
          always((connection, head) =>
            head.includes("/bomb") ? connection.answer(bomb, "content-encoding: gzip") : connection.answer("")
          )
        )
        const response = yield* get(`${url}/bomb`)
        for (let call = 0; call < 50; call++) yield* whole(url)
        let [read, most] = [0, 0]
        yield* Stream.runForEachArray(response.stream, (chunks) => {
          const size = chunks.reduce((size, chunk) => size + chunk.length, 0)
          read += size
          most = Math.max(most, size)
          return Effect.void
        })
        assert.strictEqual(read, total)
        assert.isBelow(most, 256 * 1024)
      }).pipe(withClient())
    )

    it.live("an upload goes no faster than it is taken", () =>
      Effect.gen(function* () {
        let made = 0
        const chunk = new Uint8Array(64 * 1024)
        const go = Promise.withResolvers<void>()
        const { url } = yield* serve(
          always(async (connection, head) => {
            if (!head.startsWith("POST")) return connection.answer("")
            connection.socket.pause()
            await go.promise
            connection.socket.resume()
            const body = await connection.chunked()
            return connection.answer(String(body.length))
          })
        )
        const count = 512
        const body = Stream.range(1, count).pipe(
          Stream.rechunk(1),
          Stream.map(() => {
            made += chunk.length
            return chunk
          })
        )
        const fiber = yield* Effect.forkChild(
          Effect.flatMap(HttpClient.post(url, { body: HttpBody.stream(body) }), ({ text }) => text)
        )
        yield* settled(url, () => made)
        assert.isBelow(made, 24 * mebibyte)
        go.resolve()
        assert.strictEqual(yield* Fiber.join(fiber), String(count * chunk.length))
      }).pipe(withClient())
    )
  })

  describe("failures", () => {
    it.live("C01, C02: a server that is not there, or has no address", () =>
      Effect.gen(function* () {
        const gone = yield* Effect.scoped(serve(() => Promise.resolve()))
        const refused = yield* failure(get(gone.url))
        assert.deepStrictEqual([refused.tag, refused.codes], ["TransportError", ["ECONNREFUSED"]])
        assert.propertyVal(refused.cause, "syscall", "connect")
        const both = yield* failure(get(gone.url.replace("127.0.0.1", "localhost")))
        assert.include(both.codes, "ECONNREFUSED")
        const nowhere = yield* failure(get("http://roster.invalid/"))
        assert.strictEqual(nowhere.tag, "TransportError")
        assert.include(["ENOTFOUND", "EAI_AGAIN"], nowhere.codes[0])
      }).pipe(withClient())
    )

    it.live("C03, C04: a connection that breaks or hangs while it is made was never used", () =>
      Effect.gen(function* () {
        const breaking = yield* serve((connection) =>
          connection.body(1).then(() => connection.socket.resetAndDestroy())
        )
        const reset = yield* failure(get(breaking.url.replace("http:", "https:")))
        assert.strictEqual(reset.tag, "TransportError")
        assert.instanceOf(reset.cause, NotSent)
        assert.propertyVal(reset.cause, "syscall", "connect")
        assert.deepStrictEqual(reset.codes, ["ECONNRESET", "ECONNRESET"])
        const silent = yield* serve((connection) => connection.closed)
        const timeout = yield* failure(get(silent.url.replace("http:", "https:")))
        assert.deepStrictEqual([timeout.tag, timeout.codes], ["TransportError", ["UND_ERR_CONNECT_TIMEOUT"]])
        yield* closed(silent.connections, 0)
        assert.lengthOf(silent.connections, 1)
      }).pipe(withClient({ connectTimeout: "200 millis" }))
    )

    it.live("C05: a reset after the request is distinguished from one before it, and nothing is sent again", () =>
      Effect.gen(function* () {
        const { connections, heads, url } = yield* serve(async (connection) => {
          const head = await connection.head()
          if (head.startsWith("POST")) await connection.body(3)
          connection.socket.resetAndDestroy()
        })
        for (const send of [get(url), HttpClient.post(url, { body: HttpBody.text("abc") }), HttpClient.del(url)]) {
          const error = yield* failure(send)
          assert.deepStrictEqual([error.tag, error.codes], ["TransportError", ["ECONNRESET"]])
          assert.propertyVal(error.cause, "syscall", "read")
        }
        assert.deepStrictEqual([heads.length, connections.length], [3, 3])
      }).pipe(withClient())
    )

    it.live("C06: a kept connection that closes under a request fails it, and nothing is sent again", () =>
      Effect.gen(function* () {
        const { connections, heads, url } = yield* serve(async (connection) => {
          await connection.head()
          await connection.answer("first")
          await connection.head()
          connection.socket.end()
        })
        for (const second of [get(url), HttpClient.del(url), HttpClient.post(url, { body: HttpBody.text("abc") })]) {
          yield* whole(url)
          const error = yield* failure(second)
          assert.deepStrictEqual([error.tag, error.codes], ["TransportError", ["UND_ERR_SOCKET"]])
        }
        assert.deepStrictEqual([heads.length, connections.length], [6, 3])
      }).pipe(withClient({ connections: 1 }))
    )

    it.live(
      "C06: a kept connection that closed before is not used; an idle one is closed before the server would",
      () =>
        Effect.gen(function* () {
          const { connections, heads, url } = yield* serve(async (connection, index) => {
            await connection.head()
            // Less than a second is left of 3, when undici has subtracted its 2; nothing is left of 2.
            await connection.answer("first", ...(index === 1 ? ["keep-alive: timeout=3"] : ["keep-alive: timeout=2"]))
            if (index === 0) return
            await connection.closed
          })
          yield* whole(url)
          yield* closed(connections, 0)
          yield* whole(url)
          yield* closed(connections, 1)
          yield* whole(url)
          assert.deepStrictEqual([heads.length, connections.length], [3, 3])
          // Only what the server says closes them.
        }).pipe(withClient({ connections: 1, keepAliveTimeout: "1 hour" }))
    )

    for (const [name, answer] of [
      ["C09: reset in the middle", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc"],
      ["C10: shorter than its length", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc"],
      ["C11: chunks without an end", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"]
    ] as const) {
      it.live(`${name}: a body that is cut fails, with the status and the error of the socket`, () =>
        Effect.gen(function* () {
          const cut = new Array<() => void>()
          const { heads, url } = yield* serve(async (connection) => {
            await connection.head()
            await connection.write(answer)
            cut.push(() => (name.startsWith("C09") ? connection.socket.resetAndDestroy() : connection.socket.end()))
          })
          const read = (
            body: (
              response: HttpClientResponse.HttpClientResponse
            ) => Effect.Effect<unknown, HttpClientError.HttpClientError>
          ) => failure(Effect.flatMap(get(url), (response) => Effect.tap(body(response), () => Effect.void)))
          const readers = [
            (response: HttpClientResponse.HttpClientResponse) => bytesOf(response),
            (response: HttpClientResponse.HttpClientResponse) => Stream.runDrain(response.stream)
          ]
          for (const body of readers) {
            const error = yield* read((response) => {
              cut.pop()?.()
              return body(response)
            })
            assert.deepStrictEqual([error.tag, error.status], ["DecodeError", 200])
            assert.lengthOf(error.codes, 1)
            assert.include(["ECONNRESET", "UND_ERR_SOCKET", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"], error.codes[0])
            if (name.startsWith("C09")) assert.propertyVal(error.cause, "syscall", "read")
          }
          assert.lengthOf(heads, 2)
        }).pipe(withClient())
      )
    }

    it.live("C18, C20, C22: not HTTP, too large a head, no TLS", () =>
      Effect.gen(function* () {
        const answers = new Map([
          ["ssh", "SSH-2.0-OpenSSH_9.9\r\n"],
          ["old", "<html>hello</html>"],
          ["large", `HTTP/1.1 200 OK\r\nx-large: ${"x".repeat(100 * 1024)}\r\n\r\n`],
          ["odd", "HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\nok"],
          ["short", "HTTP/1.1 20 OK\r\n\r\n"]
        ])
        const { connections, heads, url } = yield* serve(async (connection) => {
          const path = /GET \/(\S*)/.exec(await connection.head())?.[1] ?? ""
          await connection.write(answers.get(path) ?? "")
        })
        for (const [path, code] of [
          ["ssh", /^HPE_/],
          ["old", /^HPE_/],
          ["short", /^HPE_/],
          ["large", /^UND_ERR_HEADERS_OVERFLOW$/]
        ] as const) {
          const error = yield* failure(get(`${url}/${path}`))
          assert.strictEqual(error.tag, "TransportError")
          assert.match(String(error.codes[0]), code)
        }
        const odd = yield* get(`${url}/odd`)
        assert.deepStrictEqual([odd.status, yield* odd.text], [999, "ok"])
        assert.deepStrictEqual([heads.length, connections.length], [5, 5])
        const plain = yield* serve((connection) =>
          connection.body(1).then(() => connection.write("HTTP/1.1 400 No\r\n\r\n"))
        )
        const error = yield* failure(get(plain.url.replace("http:", "https:")))
        assert.match(String(error.codes[0]), /^(?:ERR_SSL|EPROTO)/)
      }).pipe(withClient())
    )

    it.live("C07: the stream of an upload that fails ends the request, with its own error as the cause", () =>
      Effect.gen(function* () {
        const { connections, heads, url } = yield* serve(async (connection) => {
          await connection.head()
          await connection.closed
        })
        const error = { _tag: "FileGone" }
        const late = Stream.concat(Stream.make(new Uint8Array(100_000)), Stream.fail(error))
        for (const body of [late, Stream.fail(error)]) {
          const sent = yield* failure(HttpClient.post(url, { body: HttpBody.stream(body) }))
          assert.deepStrictEqual([sent.tag, sent.cause], ["TransportError", error])
        }
        for (const { closed } of connections) yield* wait(() => closed)
        assert.isAtMost(heads.length, 1)
      }).pipe(withClient())
    )

    it.live("C07: an upload that the server cuts off is interrupted; one that it answers early is not waited for", () =>
      Effect.gen(function* () {
        const { url } = yield* serve(async (connection) => {
          if ((await connection.head()).includes("/early")) return connection.answer("no more")
          await connection.body(100_000)
          return connection.socket.resetAndDestroy()
        })
        const run = (path: string) =>
          Effect.gen(function* () {
            const ended = yield* Deferred.make<boolean>()
            const endless = Stream.forever(Stream.make(new Uint8Array(1000))).pipe(
              Stream.onExit((exit) => Deferred.succeed(ended, Exit.hasInterrupts(exit)))
            )
            const exit = yield* Effect.exit(
              Effect.flatMap(HttpClient.post(`${url}${path}`, { body: HttpBody.stream(endless) }), ({ text }) => text)
            )
            return { exit, interrupted: yield* Deferred.await(ended) }
          })
        const cut = yield* run("/cut")
        assert.isTrue(Exit.isFailure(cut.exit) && cut.interrupted)
        const early = yield* run("/early")
        assert.deepStrictEqual(early, { exit: Exit.succeed("no more"), interrupted: true })
      }).pipe(withClient())
    )
  })

  describe("interrupting closes the connection and sends nothing more", () => {
    const half = async (connection: Connection) => {
      await connection.head()
      await connection.write("HTTP/1.1 200 OK\r\ncontent-length: 500000\r\n\r\n")
      await connection.write(Buffer.alloc(300_000))
      return connection.closed
    }
    const endless = HttpBody.stream(Stream.forever(Stream.make(new Uint8Array(10_000))))

    interface Phase {
      readonly name: string
      readonly requests: number
      readonly script: (connection: Connection, reached: () => void) => Promise<unknown>
      readonly send: (url: string, reached: () => void) => Effect.Effect<unknown, unknown, HttpClient.HttpClient>
    }
    const body = (
      name: string,
      read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<unknown, unknown>
    ) => ({
      name,
      requests: 1,
      script: half,
      send: (url: string, reached: () => void) =>
        Effect.flatMap(
          Effect.tap(get(url), () => Effect.sync(reached)),
          read
        )
    })
    const phases: ReadonlyArray<Phase> = [
      {
        name: "connecting",
        requests: 0,
        script: (connection, reached) => connection.pass(1).then(reached),
        send: (url) => get(url.replace("http:", "https:"))
      },
      {
        name: "uploading",
        requests: 1,
        script: (connection, reached) =>
          connection
            .head()
            .then(() => connection.pass(mebibyte))
            .then(reached),
        send: (url) => HttpClient.post(url, { body: endless })
      },
      {
        name: "waiting for the head",
        requests: 1,
        script: (connection, reached) => connection.head().then(reached),
        send: (url) => get(url)
      },
      body("reading the body", bytesOf),
      body("reading the body as a stream", ({ stream }) => Stream.runDrain(stream)),
      body("not having begun to read the body", () => Effect.never),
      {
        ...body("reading a compressed body", bytesOf),
        script: (connection) =>
          connection
            .head()
            .then(() => connection.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1000\r\n\r\n"))
      }
    ]
    for (const { name, requests, script, send } of phases) {
      it.live(`C76: ${name}`, () =>
        Effect.gen(function* () {
          const reached = Promise.withResolvers<void>()
          const { connections, heads, url } = yield* serve((connection) => script(connection, reached.resolve))
          const fiber = yield* Effect.forkChild(send(url, reached.resolve))
          yield* wait(() => reached.promise)
          yield* Fiber.interrupt(fiber)
          yield* closed(connections, 0)
          // What is sent next is all that is sent.
          const next = yield* Effect.forkChild(get(`${url}/next`))
          while (connections.length < 2) yield* Effect.yieldNow
          yield* Fiber.interrupt(next)
          yield* closed(connections, 1)
          assert.isAtMost(heads.filter((head) => !head.includes("/next")).length, requests)
          assert.lengthOf(connections, 2)
        }).pipe(withClient({ connectTimeout: "1 hour" }))
      )
    }

    it.live("a request that waits for a free connection, and is given up, was not sent", () =>
      Effect.gen(function* () {
        const { heads, url } = yield* serve(
          always(async (connection, head) => {
            if (head.includes("/first")) await go.promise
            await connection.answer(head)
          })
        )
        const go = Promise.withResolvers<void>()
        const phase: RequestPhase = { sent: undefined, receivedBytes: undefined }
        const first = yield* Effect.forkChild(whole(`${url}/first`), { startImmediately: true })
        const queued = yield* Effect.forkChild(
          Effect.provideService(whole(`${url}/queued`), CurrentRequestPhase, phase),
          { startImmediately: true }
        )
        yield* Fiber.interrupt(queued)
        go.resolve()
        yield* Fiber.join(first)
        yield* whole(`${url}/last`)
        assert.deepStrictEqual(
          heads.map((head) => head.split(" ")[1]),
          ["/first", "/last"]
        )
        assert.isFalse(phase.sent)
      }).pipe(withClient({ connections: 1 }))
    )

    it.live("the phase is that of the request, not of one that its body is read from", () =>
      Effect.gen(function* () {
        const uploaded = Promise.withResolvers<void>()
        const { heads, url } = yield* serve(async (connection) => {
          const head = await connection.head()
          if (head.startsWith("GET")) await connection.answer("part")
          else await connection.pass("4\r\npart\r\n0\r\n\r\n".length).then(uploaded.resolve)
          return connection.closed
        })
        const client = yield* HttpClient.HttpClient
        const body = HttpBody.stream(Stream.unwrap(Effect.map(client.get(`${url}/part`), ({ stream }) => stream)))
        const phase: RequestPhase = { sent: undefined, receivedBytes: undefined }
        const fiber = yield* Effect.forkChild(
          Effect.provideService(client.post(`${url}/upload`, { body }), CurrentRequestPhase, phase)
        )
        yield* wait(() => uploaded.promise)
        assert.lengthOf(heads, 2)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(phase, { sent: true, receivedBytes: undefined })
      }).pipe(withClient())
    )

    it.live("C76: waiting for a free connection: nothing is sent, and the connection stays in use", () =>
      Effect.gen(function* () {
        const { connections, heads, url } = yield* serve(
          always(async (connection, head) => {
            if (head.includes("/first")) await go.promise
            await connection.answer(head)
          })
        )
        const go = Promise.withResolvers<void>()
        const first = yield* Effect.forkChild(whole(`${url}/first`), { startImmediately: true })
        let started = false
        const body = HttpBody.stream(Stream.sync(() => ((started = true), new Uint8Array(1))))
        const queued = yield* Effect.forkChild(HttpClient.post(`${url}/queued`, { body }), { startImmediately: true })
        const last = yield* Effect.forkChild(whole(`${url}/last`), { startImmediately: true })
        yield* Fiber.interrupt(queued)
        go.resolve()
        yield* Fiber.join(first)
        yield* Fiber.join(last)
        assert.deepStrictEqual(
          heads.map((head) => head.split(" ")[1]),
          ["/first", "/last"]
        )
        assert.lengthOf(connections, 1)
        assert.isFalse(started)
      }).pipe(withClient({ connections: 1 }))
    )

    it.live("a stream that is left early closes its connection", () =>
      Effect.gen(function* () {
        const { connections, url } = yield* serve(half)
        const response = yield* get(`${url}/body`)
        yield* response.stream.pipe(Stream.take(1), Stream.runDrain)
        yield* closed(connections, 0)
      }).pipe(withClient())
    )

    it.live("closing the layer closes connecting, active and idle connections", () =>
      Effect.gen(function* () {
        const { connections, url } = yield* serve(async (connection, index) => {
          if (index === 0) return connection.closed
          const head = await connection.head()
          return head.includes("/idle") ? connection.answer("") : connection.closed
        })
        const forked = yield* Effect.gen(function* () {
          const client = yield* HttpClient.HttpClient
          const connecting = yield* Effect.forkDetach(client.get(url.replace("http:", "https:")), {
            startImmediately: true
          })
          while (connections.length < 1) yield* Effect.yieldNow
          yield* Effect.flatMap(client.get(`${url}/idle`), bytesOf)
          const idle = yield* Effect.flatMap(client.get(`${url}/idle`), bytesOf)
          assert.lengthOf(idle, 0)
          const running = yield* Effect.forkDetach(client.get(`${url}/running`), { startImmediately: true })
          while (connections.length < 2) yield* Effect.yieldNow
          return [connecting, running]
        }).pipe(withClient({ connectTimeout: "1 hour", keepAliveTimeout: "1 hour" }))
        for (const { closed } of connections) yield* wait(() => closed)
        for (const fiber of forked) assert.strictEqual((yield* failure(Fiber.join(fiber))).tag, "TransportError")
      })
    )
  })

  it.live("C77: a thousand calls at once go over sixteen connections, and all are answered", () =>
    Effect.gen(function* () {
      const { connections, heads, url } = yield* serve(
        always((connection, head) => connection.answer(/GET \/(\d+)/.exec(head)?.[1] ?? ""))
      )
      const answers = yield* Effect.forEach(
        Array.from({ length: 1000 }, (_, index) => String(index)),
        (index) =>
          Effect.map(
            Effect.flatMap(get(`${url}/${index}`), ({ text }) => text),
            (text) => text === index
          ),
        { concurrency: "unbounded" }
      )
      assert.isTrue(answers.every((same) => same))
      assert.deepStrictEqual([heads.length, connections.length], [1000, 16])
    }).pipe(withClient())
  )
})

/** A server of a body of this length, and the number of bytes that it has sent so far. */
const serveLarge = Effect.fnUntraced(function* (total: number) {
  let sent = 0
  const { url } = yield* serve(
    always(async (connection, head) => {
      if (!head.includes("/large")) return connection.answer("")
      await connection.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`)
      return connection.pour(Buffer.alloc(64 * 1024, "x"), total, (now) => (sent = now))
    })
  )
  return { sent: () => sent, url }
})

/** Waits until a number has stood still for the time of twenty small calls, which take the same way through the loop. */
const settled = (url: string, count: () => number) =>
  Effect.gen(function* () {
    for (let [last, still] = [-1, 0]; still < 20;) {
      yield* whole(url)
      still = count() === last && last > 0 ? still + 1 : 0
      last = count()
    }
  })
