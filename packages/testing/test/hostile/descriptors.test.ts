/** A service that may open few files: it keeps some from its clients, and what it cannot do is a 503 whose reason is logged. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { connect, type Socket } from "node:net"
import { resolve } from "node:path"
import { serveProcess } from "../../src/index.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"

const connections = 200

const bundle = resolve(import.meta.dirname, "../../../cli/dist/roster.js")

/** Asks over a connection that is open, and gives the head and body of the answer. */
const ask = (socket: Socket, text: string) =>
  Effect.callback<string>((resume) => {
    let answer = ""
    socket.on("data", (part) => {
      answer += part.toString()
      const [head = "", ...body] = answer.split("\r\n\r\n")
      const length = /^content-length: (\d+)$/im.exec(head)?.[1]
      if (length === undefined ? answer.endsWith("0\r\n\r\n") : body.join("\r\n\r\n").length >= Number(length)) {
        resume(Effect.succeed(answer))
      }
    })
    socket.on("close", () => resume(Effect.succeed(answer)))
    socket.write(text)
  })

/** Calls that need a descriptor: a file of an import, a turn, and the scan of a rule. */
const calls = (apiKey: Redacted.Redacted<string>) => {
  const head = (method: string, path: string, type: string, length: number) =>
    `${method} /v4${path} HTTP/1.1\r\nHost: localhost\r\nX-Service-ApiKey: ${Redacted.value(apiKey)}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`
  const people = JSON.stringify(Array.from({ length: 900 }, (_, index) => ({ Email: `p${index}@example.com` })))
  const form =
    '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n' +
    "Content-Type: text/csv\r\n\r\nEmail\na@example.com\n\r\n--x--\r\n"
  return [
    head("POST", "/contacts/import", "multipart/form-data; boundary=x", form.length) + form,
    head("POST", "/contacts", "application/json", people.length) + people,
    head("GET", `/contacts?rule=${encodeURIComponent("email contains 'p1'")}`, "application/json", 0)
  ]
}

/** A service that may open few files, and idle connections to it, of which it has closed those that it could not keep. */
const crowded = Effect.fnUntraced(function* (descriptors: number, args: ReadonlyArray<string> = []) {
  const program = ["sh", "-c", `ulimit -n ${descriptors}; exec "$0" "$@"`, process.execPath, bundle] as const
  const { apiKey, baseUrl, output } = yield* serveProcess({ program, args })
  const { hostname, port } = new URL(baseUrl)
  const dial = (count: number) =>
    Effect.acquireRelease(
      Effect.sync(() => Array.from({ length: count }, () => connect(Number(port), hostname).on("error", () => {}))),
      (all) => Effect.sync(() => all.forEach((socket) => socket.destroy()))
    )
  const sockets = yield* dial(connections)
  yield* eventually(
    Effect.sync(() => sockets.filter((socket) => socket.closed).length),
    (count) => count > connections - descriptors
  )
  return { calls: calls(apiKey), dial, open: sockets.filter((socket) => !socket.closed), output }
})

describe.skipIf(process.platform !== "linux")("a service with few file descriptors", () => {
  it.live(
    "answers 503 with Retry-After where it needs one that proxies have taken, and logs what to do",
    () =>
      Effect.gen(function* () {
        const { calls, open, output } = yield* crowded(64, ["--trusted-proxy", "127.0.0.1"])
        const answers = yield* Effect.forEach(calls, (call, index) => {
          const socket = open[index]
          return socket === undefined ? Effect.die(new Error("there is a connection for each call")) : ask(socket, call)
        })
        for (const answer of answers) {
          assert.match(answer, /^HTTP\/1\.1 (?:200|503) /)
          if (answer.startsWith("HTTP/1.1 503")) assert.match(answer, /^retry-after: \d+\r$/im)
        }
        assert.match(answers[0] ?? "", /^HTTP\/1\.1 503 [^]*no file descriptors left/)
        assert.match(output(), /contactsImportPost: no file descriptors are left\. Allow the process more \(ulimit -n/)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "takes fewer connections, and so has some for whoever calls",
    () =>
      Effect.gen(function* () {
        const { calls, dial, output } = yield* crowded(128)
        for (const [index, socket] of (yield* dial(calls.length)).entries()) {
          assert.match(yield* ask(socket, calls[index] ?? ""), /^HTTP\/1\.1 20[02] /)
        }
        assert.match(output(), /so few files that it takes 64 connections in place of 1024\. Allow it more \(ulimit -n/)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )
})
