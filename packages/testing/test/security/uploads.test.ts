/**
 * What the files of imports may take up while they are received: at each bound one more is refused before any of it is
 * read, and others go on.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { answerTo, dial, head, ofSubaccount, rawServed, type RawServed, refusedAs, statusOf } from "./RawServed.ts"

const path = "/v4/contacts/import"

const boundary = "b0undary"

const gibibyte = 1024 ** 3

const importing = (served: RawServed, headers: Readonly<Record<string, string | undefined>>) =>
  head(served, `POST ${path}`, { "Content-Type": `multipart/form-data; boundary=${boundary}`, ...headers })

/** An import of a file that announces its size and does not arrive. */
const underWay = Effect.fnUntraced(function* (served: RawServed, bytes: number) {
  const headers = { Expect: "100-continue", "Content-Length": String(bytes) }
  const connection = yield* dial(served, importing(served, headers))
  yield* connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/)
  return connection
})

/** The answer to an import that announces its size and sends nothing. */
const answerToHead = (served: RawServed, bytes: number) =>
  Effect.scoped(
    Effect.flatMap(dial(served, importing(served, { "Content-Length": String(bytes) })), ({ closed }) => closed)
  )

const small = [
  `--${boundary}`,
  'Content-Disposition: form-data; name="file"; filename="a.csv"',
  "",
  "Email",
  "a@example.com",
  `--${boundary}--`,
  ""
].join("\r\n")

const sent = (served: RawServed) =>
  Effect.scoped(
    Effect.gen(function* () {
      const headers = { "Content-Length": String(small.length), Connection: "close" }
      const { closed } = yield* dial(served, importing(served, headers) + small)
      return yield* closed
    })
  )

describe("uploads", () => {
  it.live("S53 an account sends 32 files at one time, and the next is 429 until one has ended", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      const other = yield* ofSubaccount(served, "other")
      const uploads = yield* Effect.forEach(Array.from({ length: 32 }), () => underWay(served, 1000))
      const refused = yield* answerToHead(served, 100_000)
      assert.match(
        refusedAs(refused, 429),
        /32 files for imports at one time, or 4 GiB together\. Send this file when another one has arrived/
      )
      assert.match(refused, /\r\nretry-after: 10\r\n/i)
      assert.match(refused, /\r\nconnection: close\r\n/i)
      assert.strictEqual(statusOf(yield* sent(other)), 202)
      assert.strictEqual(statusOf(yield* answerTo(served, "GET /v4/contacts")), 200)
      uploads[0]?.socket.destroy()
      assert.strictEqual(statusOf(yield* eventually(sent(served), (answer) => statusOf(answer) !== 429)), 202)
    })
  )

  it.live("S53 an account sends files of 4 GiB at one time", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      yield* underWay(served, 2 * gibibyte)
      yield* underWay(served, 2 * gibibyte - small.length)
      const last = yield* underWay(served, small.length)
      refusedAs(yield* sent(served), 429)
      last.socket.destroy()
      assert.strictEqual(statusOf(yield* eventually(sent(served), (answer) => statusOf(answer) !== 429)), 202)
    })
  )

  it.live(
    "S53 all accounts send files of 16 GiB at one time, and the next is 503, which lasts until one has ended",
    () =>
      Effect.gen(function* () {
        const served = yield* rawServed({ connectionLimits: { refusalsLast: Duration.millis(1) } })
        const accounts = yield* Effect.forEach("abcdefgh", (name) => ofSubaccount(served, name))
        yield* Effect.forEach(accounts, (one) => underWay(one, 2 * gibibyte))
        const last = yield* ofSubaccount(served, "last")
        const refused = answerToHead(last, 2 * gibibyte)
        assert.match(refusedAs(yield* refused, 503), /128 files for imports at one time, or 16 GiB together/)
        const readiness = answerTo(served, "GET /health/ready")
        // Until it is refused for the second time, the bound may have been full for a moment.
        const unready = yield* eventually(Effect.andThen(refused, readiness), (answer) => statusOf(answer) === 503)
        assert.match(refusedAs(unready, 503), /has refused all bytes of files of imports for more than a minute/)
        // It takes less than one that waits for its client.
        assert.strictEqual(statusOf(yield* sent(last)), 202)
        assert.strictEqual(statusOf(yield* readiness), 200)
      })
  )

  it.live(
    "S53 all accounts send 128 files at one time, and one that sends fewer takes the place of the longest wait",
    () =>
      Effect.gen(function* () {
        const served = yield* rawServed()
        const others = yield* Effect.forEach(["a", "b", "c", "d"], (name) => ofSubaccount(served, name))
        const uploads = yield* Effect.forEach(others, (one) =>
          Effect.forEach(Array.from({ length: 32 }), () => underWay(one, 1000))
        )
        const last = yield* ofSubaccount(served, "last")
        assert.strictEqual(statusOf(yield* sent(last)), 202)
        const ended = yield* eventually(
          Effect.sync(() => uploads.flat().filter(({ socket }) => socket.closed)),
          ({ length }) => length > 0
        )
        assert.strictEqual(ended.length, 1)
        assert.include(
          refusedAs(ended[0]?.received().replace(/^[^]*?\r\n\r\n/, "") ?? "", 503),
          "Others needed the place"
        )
        assert.strictEqual(statusOf(yield* sent(last)), 202)
      })
  )
})
