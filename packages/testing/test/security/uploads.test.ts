/**
 * What the files of imports may take up while they are received: at each bound one more is refused before any of it is
 * read, and others go on.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../src/index.ts"
import { answerTo, bodyOf, dial, head, rawServed, type RawServed, refusedAs, statusOf } from "./RawServed.ts"

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

/** The service with the key of a subaccount. */
const ofSubaccount = Effect.fnUntraced(function* (served: RawServed, name: string) {
  const payload = JSON.stringify({ Name: name, AccessLevel: ["ModifyContacts"], Subaccount: `${name}@example.com` })
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": String(payload.length),
    Connection: "close"
  }
  const { closed } = yield* dial(served, head(served, "POST /v4/security/apikeys", headers) + payload)
  const { Token }: { Token: string } = JSON.parse(bodyOf(yield* closed))
  return { ...served, key: Token }
})

describe("uploads", () => {
  it.live("S53 an account sends 32 files at one time, and the next is 429 until one has ended", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      const other = yield* ofSubaccount(served, "other")
      const uploads = yield* Effect.forEach(Array.from({ length: 32 }), () => underWay(served, 1000))
      const refused = yield* answerToHead(served, 100_000)
      assert.match(
        refusedAs(refused, 429),
        /32 at one time, or 4 GiB together\. Send this one when another has arrived/
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

  it.live("S53 all accounts send files of 16 GiB at one time, and the next is 503", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      const others = yield* Effect.forEach(["a", "b", "c"], (name) => ofSubaccount(served, name))
      for (const one of [served, ...others]) {
        yield* underWay(one, 2 * gibibyte)
        yield* underWay(one, 2 * gibibyte)
      }
      const last = yield* ofSubaccount(served, "last")
      assert.match(refusedAs(yield* answerToHead(last, 100_000), 503), /128 at one time, or 16 GiB together/)
    })
  )

  it.live("S53 all accounts send 128 files at one time", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      const others = yield* Effect.forEach(["a", "b", "c"], (name) => ofSubaccount(served, name))
      for (const one of [served, ...others]) {
        yield* Effect.forEach(Array.from({ length: 32 }), () => underWay(one, 1000), { concurrency: "unbounded" })
      }
      const last = yield* ofSubaccount(served, "last")
      refusedAs(yield* answerToHead(last, 100_000), 503)
    })
  )
})
