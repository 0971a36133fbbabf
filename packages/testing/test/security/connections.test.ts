/**
 * What connections may cost: clients that are slow or many are cut off or refused, and keep nobody else out.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type { RosterServer } from "@roster/server"
import { Duration, Effect, FileSystem, Metric, Redacted, Scope } from "effect"
import type { Socket } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { serveProcess } from "../../src/index.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import {
  answerTo,
  bodyOf,
  dial,
  head,
  metricOf,
  ofSubaccount,
  rawServed,
  type RawServed,
  refusedAs,
  statusOf
} from "./RawServed.ts"

/** Short, and yet longer than a busy machine keeps a request waiting that has arrived. */
const quick = { headTimeout: Duration.seconds(1), waitTimeout: Duration.seconds(2) }

/** Writes a piece again and again. */
const drip = (socket: Socket, piece: string) =>
  Effect.acquireRelease(
    Effect.sync(() => setInterval(() => socket.write(piece), 20)),
    (timer) => Effect.sync(() => clearInterval(timer))
  )

const contacts = "/v4/contacts"

const json = { "Content-Type": "application/json" }

const body = JSON.stringify([{ Email: "slow@example.com" }])

/** The head of a request for contacts, without the body that it announces. */
const adding = (served: RawServed, headers: Readonly<Record<string, string | undefined>> = {}) =>
  head(served, `POST ${contacts}`, { ...json, "Content-Length": String(body.length), ...headers })

/** A connection whose request the service has begun to read. */
const busy = Effect.fnUntraced(function* (served: RawServed, from?: string) {
  const connection = yield* dial(served, adding(served, { Expect: "100-continue", Connection: "close" }), from)
  yield* connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/)
  return connection
})

const answers = (served: RawServed, from?: string) =>
  Effect.map(answerTo(served, `GET ${contacts}`, {}, from), statusOf)

/** Waits for as long as a request may wait for its body. */
const waited = Effect.fnUntraced(function* (served: RawServed) {
  const { closed } = yield* dial(served, adding(served))
  refusedAs(yield* closed, 408)
})

const boundary = "b0undary"

const importing = (served: RawServed, sized: Readonly<Record<string, string>> = { "Transfer-Encoding": "chunked" }) =>
  head(served, `POST ${contacts}/import`, { "Content-Type": `multipart/form-data; boundary=${boundary}`, ...sized })

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

const formBegin = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nEmail\r\n`

const formEnd = `\r\n--${boundary}--\r\n`

/** The path of an export of 20 MB, more than the buffers of both sides hold. */
const exported = Effect.fnUntraced(function* (served: RawServed) {
  const CustomFields = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`field${i}`, "x".repeat(200)]))
  // In small requests, which arrive within the limits of any test.
  for (let page = 0; page < 20; page++) {
    const added = JSON.stringify(
      Array.from({ length: 100 }, (_, i) => ({ Email: `${page}-${i}@example.com`, CustomFields }))
    )
    const headers = { ...json, "Content-Length": String(added.length), Connection: "close" }
    const { closed } = yield* dial(served, head(served, `POST ${contacts}`, headers) + added)
    assert.strictEqual(statusOf(yield* closed), 200)
  }
  const asked = yield* answerTo(served, `POST ${contacts}/export`, { "Content-Length": "0" })
  const { Link, PublicExportID }: { Link: string; PublicExportID: string } = JSON.parse(bodyOf(asked))
  yield* eventually(answerTo(served, `GET ${contacts}/export/${PublicExportID}/status`), (answer) =>
    answer.endsWith('"Ready"')
  )
  return new URL(Link).pathname
})

/** What follows `100 Continue`. */
const afterContinue = (answer: string): string => answer.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")

/** A service whose store another process has locked, until `release`, so that its adds are at work. */
const lockedServed = Effect.fnUntraced(function* (
  connectionLimits: RosterServer.ServeOptions<never, never>["connectionLimits"],
  trustedProxies: ReadonlyArray<string> = [],
  ...names: ReadonlyArray<string>
) {
  const { makeTempDirectoryScoped } = yield* FileSystem.FileSystem
  const filename = join(yield* makeTempDirectoryScoped(), "roster.db")
  const raw = yield* rawServed({ connectionLimits, trustedProxies, store: { filename }, metrics: { port: 0 } })
  const served = { ...raw, subaccounts: yield* Effect.forEach(names, (name) => ofSubaccount(raw, name)) }
  const store = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(filename)),
    (store) => Effect.sync(() => store.close())
  )
  store.exec("BEGIN IMMEDIATE")
  /** Adds from these addresses, by these accounts, once all of them wait for the store. */
  const atWork = Effect.fnUntraced(function* (
    from: ReadonlyArray<string>,
    who: ReadonlyArray<RawServed | undefined> = []
  ) {
    const large = body.padEnd(2000)
    const headers = { "Content-Length": String(large.length), Connection: "close" }
    const working = yield* Effect.forEach(from, (address, index) =>
      dial(served, adding(who[index] ?? served, headers) + large, address)
    )
    yield* eventually(metricOf(served, "roster_held_turns"), (held) => held === from.length)
    return working
  })
  return { atWork, release: () => store.exec("ROLLBACK"), served }
}, Effect.provide(NodeServices.layer))

describe("slow clients", () => {
  it.live.each([
    ["nothing", "", ""],
    ["a part of a head", `GET ${contacts} HTTP/1.1\r\nHo`, ""],
    ["a head that never ends", `GET ${contacts} HTTP/1.1\r\n`, "X-A: b\r\n"]
  ] as const)("S27 a client that sends %s is cut off", ([, text, piece]) =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: quick })
      const { closed, socket } = yield* dial(served, text)
      if (piece !== "") yield* drip(socket, piece)
      assert.match(yield* closed, /^HTTP\/1\.1 408 /)
      assert.strictEqual(yield* answers(served), 200)
    })
  )

  it.live.each([
    ["pauses", ""],
    ["drips", " "]
  ] as const)("S27 a body that %s is 408, and nothing is written", ([, piece]) =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: quick })
      const sent = adding(served, { "Content-Length": "100000" }) + body
      const { closed, socket } = yield* dial(served, sent)
      if (piece !== "") yield* drip(socket, piece)
      assert.include(refusedAs(yield* closed, 408), "in time")
      assert.strictEqual(bodyOf(yield* answerTo(served, `GET ${contacts}`)), "[]")
    })
  )

  it.live("S27 a body that follows a refusal does not keep the connection open", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: quick })
      const { closed, socket } = yield* dial(served, adding(served, { "X-Service-ApiKey": "wrong" }))
      yield* drip(socket, " ")
      assert.strictEqual(statusOf(yield* closed), 401)
    })
  )

  it.live("S27 a body may take longer than a head", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: { ...quick, waitTimeout: Duration.seconds(30) } })
      const slow = yield* dial(served, adding(served, { Connection: "close" }))
      const silent = yield* dial(served)
      yield* silent.closed
      slow.socket.write(body)
      assert.strictEqual(statusOf(yield* slow.closed), 200)
    })
  )

  it.live("S27 an import may take as long as it keeps coming", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: quick })
      const { socket, until } = yield* dial(served, importing(served) + chunk(formBegin))
      yield* Effect.scoped(Effect.andThen(drip(socket, chunk("a@example.com\r\n")), waited(served)))
      socket.write(`${chunk(formEnd)}0\r\n\r\n`)
      yield* until(/^HTTP\/1\.1 202 /)
    })
  )

  it.live.each(["sized", "chunked"])("S27 an import that takes too long in all, %s, is 408", (kind) =>
    Effect.gen(function* () {
      const short = { uploadTimeout: Duration.millis(1), chunkedUploadTimeout: Duration.millis(1) }
      const served = yield* rawServed({ connectionLimits: { ...quick, ...short } })
      const begun =
        kind === "chunked"
          ? importing(served) + chunk(formBegin)
          : importing(served, { "Content-Length": "100000" }) + formBegin
      const { closed, socket } = yield* dial(served, begun)
      yield* drip(socket, kind === "chunked" ? chunk("a@example.com\r\n") : "a@example.com\r\n")
      refusedAs(yield* closed, 408)
    })
  )

  it.live("S27 an import that pauses is 408", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: quick })
      const { closed } = yield* dial(served, importing(served) + chunk(formBegin))
      refusedAs(yield* closed, 408)
    })
  )

  it.live("S27 requests wait on their connection for the answers before them, up to 16", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      const get = head(served, `GET ${contacts}/slow%40example.com`)
      const wrong = head(served, `GET ${contacts}`, { "X-Service-ApiKey": "wrong" })
      const last = head(served, `GET ${contacts}/slow%40example.com`, { Connection: "close" })
      // The third waits for the delay of a wrong key.
      const sent = [adding(served) + body, get, wrong, ...Array.from({ length: 13 }, () => get), last]
      const { closed } = yield* dial(served, sent.join(""))
      const statuses = Array.from((yield* closed).matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status))
      assert.deepStrictEqual(
        statuses,
        sent.map((one) => (one === wrong ? 401 : 200))
      )
      const { closed: refused, received } = yield* dial(served, get.repeat(100))
      yield* refused
      assert.isBelow(received().split("HTTP/1.1").length, 100)
      assert.strictEqual(yield* answers(served), 200)
    })
  )

  it.live("S27 a client that does not read its answers is cut off", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: quick })
      const line = "GET /docs"
      const size = (yield* answerTo(served, line)).length
      // As many as wait on a connection, whose answers are more than the buffers of both sides hold.
      const requests = 17
      assert.isAbove(requests * size, 32 * 1024 * 1024)
      const { closed, received, socket } = yield* dial(served)
      socket.pause()
      socket.write(head(served, line).repeat(requests))
      yield* waited(served)
      yield* waited(served)
      socket.resume()
      yield* closed
      assert.isBelow(received().length, (requests * size) / 2)
      assert.strictEqual(yield* answers(served), 200)
    })
  )
})

it.live("S27 a half-open connection does not keep the service from ending", () =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const open = yield* Effect.scoped(
      Effect.gen(function* () {
        const served = yield* rawServed()
        const open = [yield* Scope.provide(dial(served), scope), yield* Scope.provide(dial(served, "GET /"), scope)]
        assert.strictEqual(yield* answers(served), 200)
        return open
      })
    )
    for (const { closed } of open) assert.strictEqual(yield* closed, "")
  })
)

describe("slow downloads", () => {
  const lengthOf = (answer: string): number => Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1])

  it.live("S27 a download may take as long as its reader goes on, and is cut off where it pauses", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: quick })
      const line = `GET ${yield* exported(served)}`
      const download = Effect.fnUntraced(function* () {
        const connection = yield* dial(served, head(served, line, { Connection: "close" }))
        connection.socket.pause()
        return connection
      })
      const [slow, paused] = [yield* download(), yield* download()]
      const rest = () => slow.socket.pause()
      slow.socket.on("data", rest)
      const step = setInterval(() => slow.socket.resume(), 10)
      yield* waited(served)
      yield* waited(served)
      clearInterval(step)
      slow.socket.off("data", rest)
      slow.socket.resume()
      paused.socket.resume()
      const cut = yield* paused.closed
      assert.isBelow(bodyOf(cut).length, lengthOf(cut))
      const whole = yield* slow.closed
      assert.strictEqual(bodyOf(whole).length, lengthOf(whole))
    })
  )
})

describe("many connections", () => {
  const limits = { byAddress: 3, total: 5 }
  const other = "127.0.0.2"

  it.live("S27 one too many takes the place of the one that has waited longest for a request", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: { ...limits, byAccount: 5 } })
      const first = yield* dial(served, "GET ")
      const second = yield* dial(served)
      const inUse = yield* dial(served)
      const elsewhere = yield* dial(served, "", other)
      const use = Effect.fnUntraced(function* (times: number) {
        inUse.socket.write(head(served, `GET ${contacts}`))
        yield* inUse.until(new RegExp(`^(?:HTTP/1\\.1 200 [^[]*\\[\\]){${times}}$`))
      })
      yield* use(1)
      assert.strictEqual(yield* answers(served), 200)
      assert.strictEqual(yield* first.closed, "")
      yield* use(2)
      yield* dial(served)
      yield* dial(served)
      assert.strictEqual(yield* second.closed, "")
      yield* use(3)
      assert.isFalse(elsewhere.socket.closed)
    })
  )

  it.live("S27 where none waits for a request, one that waits for its client gives its place", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: { ...limits, byAccount: 5 } })
      const [first, ...others] = [yield* busy(served), yield* busy(served), yield* busy(served)]
      assert.strictEqual(yield* answers(served), 200)
      const displaced = yield* first.closed
      assert.match(displaced, /\r\nRetry-After: 1\r\n/i)
      assert.include(refusedAs(afterContinue(displaced), 503), "Others needed the place")
      yield* dial(served, "", other)
      yield* dial(served, "", other)
      assert.strictEqual(yield* answers(served, "127.0.0.3"), 200)
      for (const { closed, socket } of others) {
        socket.write(body)
        assert.strictEqual(statusOf(afterContinue(yield* closed)), 200)
      }
    })
  )

  it.live("S27 bodies that never come keep nobody out, whose account has a quarter of the connections at most", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ connectionLimits: { byAddress: 16, total: 64 } })
      const friend = yield* ofSubaccount(served, "friend")
      let closed = 0
      for (let i = 0; i < 64; i++) {
        const { socket } = yield* dial(served, adding(served), `127.0.0.${2 + (i % 4)}`)
        socket.on("close", () => (closed += 1))
      }
      yield* eventually(
        Effect.sync(() => closed),
        (closed) => closed >= 48
      )
      assert.strictEqual(closed, 48)
      for (const who of [friend, served]) assert.strictEqual(yield* answers(who, "127.0.0.2"), 200)
    })
  )

  it.live("S27 one more than an address may have at work is 503, and others are served", () =>
    Effect.gen(function* () {
      const { atWork, release, served } = yield* lockedServed({ ...limits, byAccount: 5 })
      const working = yield* atWork(["127.0.0.1", "127.0.0.1", "127.0.0.1"])
      const refused = yield* answerTo(served, `GET ${contacts}`)
      assert.include(refusedAs(refused, 503), "connections")
      assert.match(refused, /\r\nRetry-After: 1\r\n/)
      assert.strictEqual(yield* answers(served, other), 200)
      release()
      for (const { closed } of working) assert.strictEqual(statusOf(yield* closed), 200)
      assert.strictEqual(yield* answers(served), 200)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.live("S27 one more than the service may have at work is 503, but for trusted proxies", () =>
    Effect.gen(function* () {
      const proxy = "127.0.0.9"
      const { atWork, served } = yield* lockedServed({ ...limits, byAccount: 6 }, [proxy])
      yield* atWork(["127.0.0.1", "127.0.0.1", "127.0.0.1", other, other])
      refusedAs(yield* answerTo(served, `GET ${contacts}`, {}, "127.0.0.3"), 503)
      assert.strictEqual(yield* answers(served, proxy), 200)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.live("S27 one more than an account may have at work is 429, and other accounts are served", () =>
    Effect.gen(function* () {
      const proxy = "127.0.0.9"
      const { atWork, release, served } = yield* lockedServed({ byAddress: 8, total: 8 }, [proxy], "friend")
      const working = yield* atWork(["127.0.0.1", proxy])
      const refused = yield* answerTo(served, `GET ${contacts}`)
      assert.include(refusedAs(refused, 429), "This account has as many requests")
      assert.match(refused, /\r\nretry-after: 1\r\n/i)
      for (const friend of served.subaccounts) assert.strictEqual(yield* answers(friend), 200)
      release()
      for (const { closed } of working) assert.strictEqual(statusOf(yield* closed), 200)
      assert.strictEqual(yield* answers(served), 200)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.live("S27 subaccounts at work leave the main account its quarter", () =>
    Effect.gen(function* () {
      const subaccounts = ["a", "b", "c", "d"]
      const { atWork, served } = yield* lockedServed({ byAddress: 8, total: 8 }, [], ...subaccounts)
      const [a, b, c, d = served] = served.subaccounts
      yield* atWork(["127.0.0.1", "127.0.0.1", "127.0.0.1", other, other, other], [a, a, b, b, c, c])
      assert.include(refusedAs(yield* answerTo(d, `GET ${contacts}`), 503), "requests at work")
      assert.strictEqual(yield* answers(served), 200)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.live.each(["--max-connections", "--max-connections-per-client"])(
    "S27 roster serve takes other numbers by %s",
    (flag) =>
      Effect.gen(function* () {
        const { apiKey, baseUrl } = yield* serveProcess({ args: [flag, "2"] })
        const served = { address: baseUrl, key: Redacted.value(apiKey) }
        const first = yield* dial(served)
        yield* dial(served)
        assert.strictEqual(yield* answers(served), 200)
        assert.strictEqual(yield* first.closed, "")
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("S27 a thousand slow connections keep nobody out, not even at the same address", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      let closed = 0
      for (let i = 0; i < 1000; i++) {
        const { socket } = yield* dial(served, `GET ${contacts} HTTP/1.1\r\nX-A: b`)
        socket.on("close", () => (closed += 1))
        if (i % 100 === 99) assert.strictEqual(yield* answers(served), 200)
      }
      assert.strictEqual(yield* answers(served, other), 200)
      yield* eventually(
        Effect.sync(() => closed),
        (closed) => closed >= 1000 - 256
      )
      // The last ones stay.
      assert.isAtMost(closed, 1000 - 200)
    })
  )
})
