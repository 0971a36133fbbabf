/**
 * S50, S51 Addresses to import from that lead where nobody may look, and servers that harm whoever asks them. What needs a
 * resolver or a clock of the test's own stands in the server's `SafeFetch.test.ts`.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { faultServer } from "../faults/server/FaultServer.ts"
import * as FaultScript from "../faults/server/FaultScript.ts"
import { failedImport, Hostile, refusedImport, sendAddress, sendFile, settledImport } from "./Hostile.ts"
import { zipBytes } from "./ZipBytes.ts"

const { drip, finish, flood, respond, stall, write } = FaultScript

layer(Hostile.layer(), { excludeTestServices: true, timeout: "60 seconds" })("S.4 addresses, none allowed", (it) => {
  it.effect.each(["https://files.example.com/c.csv", "http://127.0.0.1/", "file:///etc/passwd", "data:,Email"])(
    "S50 %s is refused while no host is allowed",
    (address) =>
      Effect.gen(function* () {
        assert.include(yield* refusedImport(sendAddress(address)), "ask the operator to allow")
      })
  )
})

layer(Hostile.layer("--allow-file-url", "any"), { excludeTestServices: true, timeout: "60 seconds" })(
  "S.4 addresses, any public one allowed",
  (it) => {
    it.effect.each([
      "http://127.0.0.1/",
      "http://127.1/",
      "http://0x7f000001/",
      "http://0x7f.1/",
      "http://2130706433/",
      "http://017700000001/",
      "http://①②⑦.⓪.⓪.①/",
      "http://%31%32%37.1/",
      "http://0/",
      "http://[::]/",
      "http://[::1]/",
      "http://[::ffff:7f00:1]/",
      "http://[::ffff:127.0.0.1]/",
      "http://[64:ff9b::7f00:1]/",
      "http://[2002:7f00:1::]/",
      "http://127.0.0.1./",
      "http://169.254.169.254/latest/meta-data/",
      "http://[fd00:ec2::254]/",
      "http://[fe80::1]/",
      "http://100.64.0.1/",
      "http://10.0.0.1/",
      "http://192.168.0.1/"
    ])("S50 %s is refused at once", (address) =>
      Effect.gen(function* () {
        assert.include(yield* refusedImport(sendAddress(address)), "not a host of the public Internet")
      })
    )

    it.effect.each([
      ["http://ann:hunter2@files.example.com/", "user name or a password"],
      ["http://ann@127.0.0.1/", "user name or a password"],
      ["http://files.example.com:22/", "port 22"],
      ["http://files.example.com:6379/", "port 6379"],
      ["https://files.example.com:8443/", "port 8443"],
      ["file:///etc/passwd", "http:"],
      ["data:text/csv,Email", "http:"],
      ["gopher://127.0.0.1:6379/_FLUSHALL", "http:"],
      ["ftp://files.example.com/c.csv", "http:"],
      ["javascript:alert(1)", "http:"],
      ["//files.example.com/c.csv", "not an address"],
      ["http://", "not an address"],
      ["http://files..example.com/", "empty"],
      [`http://files.example.com/${"a".repeat(9000)}`, "at most 8192"]
    ] as const)("S50 %s is refused at once, for what it is", ([address, reason]) =>
      Effect.gen(function* () {
        const text = yield* refusedImport(sendAddress(address))
        assert.include(text, reason)
        assert.notInclude(text, "hunter2")
      })
    )

    it.effect.each(["http://localhost/", "http://localhost./", "http://LOCALHOST/", "http://nowhere.invalid/"])(
      "S50 %s, a name that leads inside or nowhere, ends the job",
      (address) =>
        Effect.gen(function* () {
          assert.include(yield* failedImport(sendAddress(address)), "not a host of the public Internet")
        })
    )
  }
)

const csv = (name: string) => `Email,FirstName\r\n${name}@address.example,Zoë\r\n`
const type = { "Content-Type": "text/csv" }
/** Rows that cost nothing but their length. */
const bomb = zipBytes([{ name: "x.csv", content: `Email,note\n${`nobody,${"y".repeat(1_000_000)}\n`.repeat(30)}` }])
const head = (more = "") => `HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n${more}\r\n`

layer(Hostile.layer("--allow-file-url", "127.0.0.1"), { excludeTestServices: true, timeout: "60 seconds" })(
  "S.4 servers of files",
  (it) => {
    it.effect("S51 a good file is taken, and its server learns nothing of the service", () =>
      Effect.gen(function* () {
        const { serve } = yield* Hostile
        const server = yield* faultServer({ requests: [[respond({ status: 200, headers: type, body: csv("good") })]] })
        const { job } = yield* settledImport(sendAddress(`${server.origin}/people.csv?signature=x#part`))
        assert.deepInclude(job, { state: "Ready", accepted: 1, rejected: 0 })
        const [request, ...others] = server.ledger.requests()
        assert.deepStrictEqual(others, [])
        assert.deepStrictEqual([request?.method, request?.target], ["GET", "/people.csv?signature=x"])
        assert.deepStrictEqual(Object.keys(request?.headers ?? {}).sort(), [
          "accept",
          "accept-encoding",
          "connection",
          "host",
          "user-agent"
        ])
        assert.notInclude(JSON.stringify(request), serve.apiKey)
        yield* server.ledger.until(({ connections }) => connections().every(({ closedAt }) => closedAt !== undefined))
      })
    )

    it.effect("S51 a zipped file is taken, and one that comes byte by byte", () =>
      Effect.gen(function* () {
        const archive = zipBytes([{ name: "people.csv", content: csv("zipped") }])
        const bytes = [...archive].flatMap((byte) => [Buffer.from("1\r\n"), Buffer.from([byte]), Buffer.from("\r\n")])
        const server = yield* faultServer({
          requests: [
            [write(head("Transfer-Encoding: chunked\r\n")), write(Buffer.concat([...bytes, Buffer.from("0\r\n\r\n")]))]
          ]
        })
        const { job } = yield* settledImport(sendAddress(server.origin))
        assert.deepInclude(job, { state: "Ready", accepted: 1, rejected: 0 })
      })
    )

    it.effect.each([
      ["404", [respond({ status: 404 })], "answered 404"],
      ["500", [respond({ status: 500, body: csv("never") })], "answered 500"],
      ["401", [respond({ status: 401, headers: { "WWW-Authenticate": "Basic" } })], "answered 401"],
      ["a part of the file", [respond({ status: 206, headers: type, body: csv("never") })], "answered 206"],
      ["an HTML page", [respond({ status: 200, headers: { "Content-Type": "text/html" }, body: "<p>" })], "a web page"],
      [
        "HTML that says it is CSV",
        [respond({ status: 200, headers: type, body: "<!doctype html>\n<p>" })],
        "a web page"
      ],
      ["nothing", [respond({ status: 200, headers: type })], "empty"],
      [
        "a file in gzip",
        [respond({ status: 200, headers: { ...type, "Content-Encoding": "gzip" }, body: gzipSync(csv("never")) })],
        "compressed"
      ],
      [
        "a gzip bomb that says it is CSV",
        [respond({ status: 200, headers: type, body: gzipSync(Buffer.alloc(50_000_000, "a")) })],
        "longer than 8388608"
      ],
      [
        "a zip bomb",
        [
          respond({
            status: 200,
            headers: type,
            body: bomb
          })
        ],
        "200 times"
      ],
      [
        "an archive of two files",
        [
          respond({
            status: 200,
            headers: type,
            body: zipBytes([
              { name: "x.csv", content: csv("never") },
              { name: "y.csv", content: csv("never") }
            ])
          })
        ],
        "more than one file"
      ],
      [
        "10 GB, by its own word",
        [write(head("Content-Length: 10737418240\r\n")), stall],
        "more than the 104857600 bytes"
      ],
      ["a cut file", [write(head("Content-Length: 1000\r\n")), write(csv("never")), finish], "broke off"],
      [
        "chunks without an end",
        [write(head("Transfer-Encoding: chunked\r\n")), write("5\r\nEmail\r\n"), finish],
        "broke off"
      ],
      ["no HTTP", [write("SSH-2.0-OpenSSH_9.9\r\n"), finish], "could not be read from"],
      ["nothing, and goes", [finish], "could not be read from"],
      [
        "a header of 1 MB",
        [write(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(1_000_000)}\r\n\r\n`), finish],
        "could not be read from"
      ],
      [
        "two lengths",
        [write(head("Content-Length: 1\r\nContent-Length: 2\r\n")), write("Email"), finish],
        "could not be read from"
      ]
    ] as const)("S51 a server that sends %s ends the job", ([, script, reason]) =>
      Effect.gen(function* () {
        const server = yield* faultServer({ requests: [script] })
        const problem = yield* failedImport(sendAddress(server.origin))
        assert.include(problem, reason)
        assert.strictEqual(server.ledger.requests().length, 1)
      })
    )

    it.effect.each([301, 302, 303, 307, 308])("S51 a redirect by %i is not followed", (status) =>
      Effect.gen(function* () {
        const target = yield* faultServer({ requests: [[respond({ status: 200, headers: type, body: csv("never") })]] })
        const server = yield* faultServer({
          requests: [[respond({ status, headers: { Location: `${target.origin}/c.csv` } })]]
        })
        assert.include(yield* failedImport(sendAddress(server.origin)), `a redirect (${status})`)
        assert.deepStrictEqual(target.ledger.connections(), [])
      })
    )

    it.effect("S51 a file without an end is cut at 100 MiB, with little memory", () =>
      Effect.gen(function* () {
        const server = yield* faultServer({
          requests: [[write(head()), write("Email\n"), flood(Buffer.alloc(65_536, "x"))]]
        })
        assert.include(yield* failedImport(sendAddress(server.origin)), "more than the 104857600 bytes")
        yield* server.ledger.until(({ connections }) => connections().every(({ closedAt }) => closedAt !== undefined))
      })
    )

    it.effect("S51 a long line in chunks of one byte is rejected as any long line is", () =>
      Effect.gen(function* () {
        const server = yield* faultServer({
          requests: [
            [
              write(head("Transfer-Encoding: chunked\r\n")),
              write(`6\r\nEmail\n\r\n${(3_000_000).toString(16)}\r\n${"x".repeat(3_000_000)}\r\n`),
              flood(Buffer.from("1\r\nx\r\n".repeat(1000)), 20),
              write("0\r\n\r\n")
            ]
          ]
        })
        const { job } = yield* settledImport(sendAddress(server.origin))
        assert.deepInclude(job, { state: "Ready", accepted: 0, rejected: 1 })
      })
    )

    it.effect("S51 a file that comes slowly is read to its end, and so is the next one", () =>
      Effect.gen(function* () {
        const server = yield* faultServer({
          requests: [[write(head()), drip(csv("slow"), "20 millis"), finish]]
        })
        const { job } = yield* settledImport(
          Effect.tap(sendAddress(server.origin), () => server.ledger.until(({ requests }) => requests().length === 1))
        )
        assert.deepInclude(job, { state: "Ready", accepted: 1 })
        assert.strictEqual((yield* settledImport(sendFile(csv("other")))).job.state, "Ready")
      })
    )
  }
)
