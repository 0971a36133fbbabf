/**
 * The fault server itself, against a client that is nothing but a socket.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { connect } from "node:net"
import { allClosed, bodyText } from "./FaultLedger.ts"
import {
  drip,
  finish,
  flood,
  next,
  readBody,
  readHead,
  reset,
  respond,
  type Script,
  stall,
  waitFor,
  write
} from "./FaultScript.ts"
import { faultServer } from "./FaultServer.ts"

interface Talk {
  readonly text: string
  readonly end: string
}

/** Sends pieces, one after the other, and reads until the other side ends or so many bytes are there. */
const talk = (port: number, pieces: ReadonlyArray<string>, most = Infinity) =>
  Effect.callback<Talk>((resume) => {
    let text = ""
    const socket = connect(port, "127.0.0.1")
    const done = (end: string) => {
      resume(Effect.succeed({ text, end }))
      socket.destroy()
    }
    socket.on("error", (error) => done("code" in error ? String(error.code) : "error"))
    socket.on("end", () => done("FIN"))
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1")
      if (text.length >= most) done("enough")
    })
    for (const piece of pieces) socket.write(piece)
    return Effect.sync(() => socket.destroy())
  })

const post = (body: string) =>
  `POST /a?b=c HTTP/1.1\r\nHost: x\r\nX-Twice: 1\r\nx-twice: 2\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const requests = (...scripts: ReadonlyArray<Script>) => faultServer({ requests: scripts })

describe("the fault server", () => {
  it.live("answers, keeps the connection, and writes down what came", () =>
    Effect.gen(function* () {
      const { ledger, port } = yield* requests(
        [respond({ status: 200, body: "one" }), next],
        [respond({ status: 404 }), finish]
      )
      const { end, text } = yield* talk(port, [post("first"), post("second")])
      assert.match(text, /^HTTP\/1.1 200 .*Content-Length: 3\r\n\r\noneHTTP\/1.1 404 .*Content-Length: 0\r\n\r\n$/s)
      assert.strictEqual(end, "FIN")
      yield* ledger.until(allClosed)
      assert.deepStrictEqual(
        ledger
          .requests()
          .map((request) => [
            request.connection,
            request.method,
            request.target,
            request.path,
            bodyText(request),
            request.complete
          ]),
        [
          [0, "POST", "/a?b=c", "/a", "first", true],
          [0, "POST", "/a?b=c", "/a", "second", true]
        ]
      )
      assert.strictEqual(ledger.requests()[0]?.headers["x-twice"], "1, 2")
      assert.deepStrictEqual(
        ledger.connections().map((connection) => connection.closedBy),
        ["server"]
      )
    })
  )

  it.live("reads chunks, however they are cut", () =>
    Effect.gen(function* () {
      const { ledger, port } = yield* requests([respond({ status: 200 }), finish])
      yield* talk(port, [
        "PUT /x HTTP/1.1\r\nTransfer-Enc",
        "oding: chunked\r\n\r\n3\r",
        "\nabc\r\n",
        "4;x=y\r\ndefg\r\n0\r\n\r\n"
      ])
      assert.deepStrictEqual(
        ledger.requests().map((request) => [bodyText(request), request.bodyBytes, request.complete]),
        [["abcdefg", 7, true]]
      )
    })
  )

  it.live("reads only the given bytes, then resets", () =>
    Effect.gen(function* () {
      const { ledger, port } = yield* requests([readHead, readBody(4), reset])
      const { end } = yield* talk(port, [post("0123456789")])
      assert.strictEqual(end, "ECONNRESET")
      yield* ledger.until(allClosed)
      assert.deepStrictEqual(
        ledger.requests().map((request) => [bodyText(request), request.complete]),
        [["0123", false]]
      )
      assert.strictEqual(ledger.connections()[0]?.closedBy, "server")
    })
  )

  it.live("plays the script of a connection before anything is read", () =>
    Effect.gen(function* () {
      const { ledger, port } = yield* faultServer({
        connections: [[write("SSH-2.0\r\n"), finish], [reset]],
        requests: [[respond({ status: 200 }), finish]]
      })
      assert.deepStrictEqual(yield* talk(port, []), { text: "SSH-2.0\r\n", end: "FIN" })
      assert.strictEqual((yield* talk(port, [])).end, "ECONNRESET")
      assert.match((yield* talk(port, [post("")])).text, /^HTTP\/1.1 200/)
      assert.strictEqual(ledger.connections().length, 3)
    })
  )

  it.live("drips, floods and waits", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { port } = yield* requests([waitFor(Deferred.await(gate)), drip("abc", "1 millis"), flood("xy", 3), finish])
      const talking = yield* Effect.forkChild(talk(port, [post("")]))
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Fiber.join(talking), { text: "abcxyxyxy", end: "FIN" })
    })
  )

  it.live("stops flooding when the other side goes, and says who it was", () =>
    Effect.gen(function* () {
      const { ledger, port } = yield* requests([flood("x".repeat(10_000))])
      assert.strictEqual((yield* talk(port, [post("")], 1_000_000)).end, "enough")
      yield* ledger.until(allClosed)
      assert.strictEqual(ledger.connections()[0]?.closedBy, "client")
    })
  )

  it.live("chooses a script by the request", () =>
    Effect.gen(function* () {
      const { port } = yield* faultServer({
        requests: ({ headers, method }) => [
          respond({ status: method === "POST" && headers["host"] === "x" ? 201 : 500 }),
          finish
        ]
      })
      assert.match((yield* talk(port, [post("")])).text, /^HTTP\/1.1 201/)
    })
  )

  it.live("is gone with its scope, with all that was stalled", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { ledger, port } = yield* requests([stall]).pipe(Scope.provide(scope))
      const talking = yield* Effect.forkChild(talk(port, [post("x")]))
      yield* ledger.until(({ requests }) => requests().some((request) => request.number === 0))
      yield* Scope.close(scope, Exit.void)
      assert.include(["FIN", "ECONNRESET"], (yield* Fiber.join(talking)).end)
      assert.strictEqual(ledger.connections()[0]?.closedBy, "server")
      assert.strictEqual((yield* talk(port, [])).end, "ECONNREFUSED")
    })
  )

  it.live("dies if the awaited condition does not occur, and says what did", () =>
    Effect.gen(function* () {
      const { ledger } = yield* requests([stall])
      const exit = yield* Effect.exit(ledger.until((entries) => entries.requests().length > 0, "20 millis"))
      assert.isTrue(Exit.hasDies(exit))
    })
  )
})
