/**
 * Large requests and answers, the same on each engine: they are answered as all others, hold nothing for a client that does
 * not read, and let others go on.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { RosterServer } from "@roster/server"
import { Context, Effect, Exit, Layer, Metric, Redacted, type Scope } from "effect"
import { Agent, type IncomingMessage, request } from "node:http"
import { connect } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { readExposition, sampleOf } from "../observability/Exposition.ts"

type ServeOptions = Parameters<typeof RosterServer.layer>[0]
type Store = ServeOptions["store"]

const KiB = 1024
const MiB = 1024 * KiB

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: IncomingMessage["headers"]
}

const read = (response: IncomingMessage) =>
  Effect.promise(async (): Promise<Answer> => {
    const parts: Array<Buffer> = []
    for await (const part of response) parts.push(part)
    return { status: response.statusCode ?? 0, text: Buffer.concat(parts).toString(), headers: response.headers }
  })

/** Serves a store, with some bounds of its own. */
export const served = Effect.fnUntraced(function* (
  store: Store,
  bounds: Pick<ServeOptions, "connectionLimits" | "metrics"> = {}
) {
  let key = ""
  const services = yield* Layer.build(
    RosterServer.layer({
      ...bounds,
      port: 0,
      store,
      onAdministratorKey: (given) => Effect.sync(() => void (key = Redacted.value(given)))
    })
  )
  const { address, metricsAddress = "" } = Context.get(services, RosterServer.RosterServer)
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  /** Sends a request, and gives its response without its body. */
  const open = (method: string, path: string, body = "", headers: Readonly<Record<string, string>> = {}) =>
    Effect.callback<IncomingMessage>((resume) => {
      const length = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }
      const all = { "X-Service-ApiKey": key, ...(body === "" ? {} : length), ...headers }
      request(`${address}${path}`, { agent, method, headers: all }, (response) => resume(Effect.succeed(response)))
        .on("error", (error) => resume(Effect.die(error)))
        .end(body)
    })
  const ask = (...given: Parameters<typeof open>) => Effect.flatMap(open(...given), read)
  const metric = (name: string) =>
    Effect.promise(async () => sampleOf(readExposition(await (await fetch(metricsAddress)).text()), name) ?? NaN)
  return { ask, open, metric, origin: new URL(address).origin }
})

/** Serves a store, and adds what every case finds in it. */
const filled = Effect.fnUntraced(function* (store: Store) {
  const { ask, open } = yield* served(store)
  // As many contacts of 30 KiB as two adds hold.
  const added = yield* Effect.forEach([0, 1], (part) =>
    ask("POST", "/contacts", JSON.stringify(large(count / 2, (part * count) / 2)))
  )
  return { ask, open, added }
})

class Served extends Context.Service<Served, Effect.Success<ReturnType<typeof filled>>>()(
  "@roster/testing/test/wire/LargeRequests"
) {}

/** What every store begins with: contacts of 15 MiB. */
const count = 500
const all = `/contacts?limit=${count}`

const large = (count: number, from = 0, sign = "x") =>
  Array.from({ length: count }, (_, index) => ({
    Email: `large${from + index}@example.com`,
    CustomFields: { note: `${from + index}`.padEnd(30 * KiB, sign) }
  }))

const parsed = (text: string): ReadonlyArray<{ readonly Email: string; readonly FirstName?: string }> =>
  JSON.parse(text)

/** The cases on one engine. */
/** What is left afterwards is held by somebody. */
setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

export const largeRequestCases = (name: string, store: Effect.Effect<Store, unknown, Scope.Scope>): void => {
  const layerServed = Layer.effect(Served, Effect.flatMap(store, filled)).pipe(
    Layer.provide(NodeServices.layer),
    Layer.orDie
  )
  layer(layerServed, { timeout: "60 seconds", excludeTestServices: true })(name, (it) => {
    it.effect("an answer of 15 MiB is that of small pages, of a rule and of the adds", () =>
      Effect.gen(function* () {
        const { added, ask } = yield* Served
        const whole = yield* ask("GET", all)
        const pages = yield* Effect.forEach(
          Array.from({ length: count / 20 }, (_, page) => page * 20),
          (offset) => ask("GET", `/contacts?limit=20&offset=${offset}`)
        )
        const joined = (answers: ReadonlyArray<Answer>) => `[${answers.map(({ text }) => text.slice(1, -1)).join()}]`
        assert.isTrue(whole.text === joined(pages))
        assert.isTrue(whole.text === joined(added))
        assert.strictEqual(whole.headers["content-type"], pages[0]?.headers["content-type"])
        const byRule = yield* ask("GET", `${all}&rule=${encodeURIComponent("email starts-with 'large'")}`)
        assert.isTrue(byRule.text === whole.text)
      })
    )

    it.effect("30 clients that do not read hold neither the memory of their answers nor a connection", () =>
      Effect.gen(function* () {
        const { ask, open } = yield* Served
        const memory = () => {
          collectGarbage()
          const { arrayBuffers, heapUsed } = process.memoryUsage()
          return arrayBuffers + heapUsed
        }
        const before = memory()
        const body = JSON.stringify(large(count).map(({ Email }) => ({ Email })))
        const slow = yield* Effect.forEach(
          Array.from({ length: 30 }, (_, index) => index),
          (index) => (index < 26 ? open("GET", all) : open("POST", "/contacts", body)),
          { concurrency: 30 }
        )
        assert.strictEqual((yield* ask("GET", "/contacts/large1@example.com")).status, 200)
        assert.strictEqual((yield* ask("POST", "/contacts", '[{"Email":"one@example.com"}]')).status, 200)
        assert.isBelow(memory() - before, 200 * MiB)
        const last = slow.pop() ?? assert.fail()
        assert.strictEqual(parsed((yield* read(last)).text).length, count)
        for (const response of slow) response.destroy()
      })
    )

    it.effect("a request of 15 KB whose answer has 15 MiB is answered in the order of its contacts", () =>
      Effect.gen(function* () {
        const { ask } = yield* Served
        const places = Array.from({ length: count }, (_, index) => (index * 7) % (count - 50))
        const body = places.map((place) => ({ Email: `large${place}@example.com`, FirstName: `${place}` }))
        const answer = yield* ask("POST", "/contacts", JSON.stringify(body))
        assert.deepStrictEqual(
          parsed(answer.text).map(({ Email, FirstName }) => ({ Email, FirstName })),
          body
        )
      })
    )

    it.effect(
      "a contact that is deleted while a page is sent is left out, and one that is changed is as it is now",
      () =>
        Effect.gen(function* () {
          const { ask, open } = yield* Served
          const page = yield* open("GET", all)
          const gone = [count - 100, count - 1]
          for (const place of gone) {
            assert.strictEqual((yield* ask("DELETE", `/contacts/large${place}@example.com`)).status, 200)
          }
          const changed = count - 50
          const path = `/contacts/large${changed}@example.com`
          assert.strictEqual((yield* ask("PUT", path, '{"FirstName":"now"}')).status, 200)
          const found = parsed((yield* read(page)).text)
          assert.deepStrictEqual(
            found.map(({ Email }) => Email),
            large(count).flatMap(({ Email }, place) => (gone.includes(place) ? [] : [Email]))
          )
          assert.strictEqual(found[changed - 1]?.FirstName, "now")
        })
    )

    it.effect("others are answered while 8 MiB are checked, written and answered", () =>
      Effect.gen(function* () {
        const { ask } = yield* Served
        const fields = Object.fromEntries(Array.from({ length: 240 }, (_, index) => [`field${index}`, "a short text"]))
        const body = JSON.stringify(
          Array.from({ length: 1000 }, (_, index) => ({ Email: `wide${index}@example.com`, CustomFields: fields }))
        )
        let answered = 0
        const get = Effect.tap(
          ask("GET", "/contacts/large1@example.com"),
          Effect.sync(() => void answered++)
        )
        const added = yield* Effect.raceFirst(ask("POST", "/contacts", body), Effect.forever(get))
        assert.strictEqual(added.status, 200, added.text.slice(0, 300))
        // So many may be answered before the call has arrived.
        assert.isAbove(answered, 2)
      })
    )

    it.effect("are refused as a whole, with the place of what is wrong", () =>
      Effect.gen(function* () {
        const { ask } = yield* Served
        const body = large(200, count)
        const invalid = yield* ask("POST", "/contacts", JSON.stringify([...body.slice(1), { Email: "nobody" }]))
        assert.strictEqual(invalid.status, 400)
        assert.match(JSON.parse(invalid.text).Error, /^Invalid \[199\]\.Email: /)
        const text = JSON.stringify(body)
        const twice = yield* ask("POST", "/contacts", `${text.slice(0, -1)},{"Email":"a@a.example","Email":""}]`)
        assert.strictEqual(twice.status, 400)
        assert.match(JSON.parse(twice.text).Error, /gives a name twice/)
        for (const broken of [`${text.slice(0, -1)},]`, `${text}]`, text.slice(0, -1), text.replace("},{", "},,{")]) {
          const { status, text: answer } = yield* ask("POST", "/contacts", broken)
          assert.deepStrictEqual([status, JSON.parse(answer).Error], [400, "Invalid body: expected a valid JSON body"])
        }
        assert.strictEqual((yield* ask("GET", `/contacts/large${count}@example.com`)).status, 404)
      })
    )

    it.effect("are done once for their Idempotency-Key, whose answer is kept as it was", () =>
      Effect.gen(function* () {
        const { ask } = yield* Served
        const key = { "Idempotency-Key": "once" }
        const body = JSON.stringify(large(100))
        const first = yield* ask("POST", "/contacts", body, key)
        assert.strictEqual(first.status, 200)
        assert.strictEqual((yield* ask("POST", "/contacts", JSON.stringify(large(100, 0, "y")))).status, 200)
        const again = yield* ask("POST", "/contacts", body, key)
        assert.strictEqual(again.status, 200)
        assert.isTrue(again.text === first.text)
        assert.strictEqual((yield* ask("POST", "/contacts", JSON.stringify(large(100, 0, "z")), key)).status, 409)
      })
    )

    it.effect("beyond the bounds of what is unread, the connections of its account that wait longest end", () =>
      Effect.gen(function* () {
        const bounds = { unreadOfAccount: 600 * KiB, unreadOfAll: 2 * MiB }
        const { ask, metric, open, origin } = yield* Effect.flatMap(store, (store) =>
          served(store, { connectionLimits: bounds, metrics: { port: 0 } })
        )
        const asked = yield* ask(
          "POST",
          "/security/apikeys",
          JSON.stringify({
            Name: "other",
            Subaccount: "b@example.com",
            AccessLevel: ["ModifyContacts", "ViewContacts"]
          })
        )
        const other = { "X-Service-ApiKey": JSON.parse(asked.text).Token }
        const body = JSON.stringify(large(250))
        for (const headers of [{}, other])
          assert.strictEqual((yield* ask("POST", "/contacts", body, headers)).status, 200)
        const page = "/contacts?limit=250"
        const unread = yield* open("GET", page, "", other)
        const many = yield* Effect.all(
          Array.from({ length: 12 }, () => open("GET", page)),
          { concurrency: 12 }
        )
        // A client that does not read leaves between 64 and 320 KiB here. Those of earlier calls end too, as they are idle.
        yield* eventually(metric("roster_connections"), (connections) => connections <= 9 + 1)
        assert.isAtMost(yield* metric("roster_unread_bytes"), bounds.unreadOfAccount + 320 * KiB)
        assert.strictEqual(parsed((yield* read(unread)).text).length, 250)
        const ends = yield* Effect.forEach(many, (response) => Effect.exit(read(response)), { concurrency: 12 })
        const whole = ends.filter(Exit.isSuccess)
        assert.isAtLeast(whole.length, 1)
        assert.isAtMost(whole.length, 9)
        for (const { value } of whole) assert.strictEqual(parsed(value.text).length, 250)
        // One connection can ask for many answers too.
        const { hostname, port } = new URL(origin)
        const socket = connect(Number(port), hostname).on("error", () => {})
        const head = `GET /v4${page} HTTP/1.1\r\nHost: ${hostname}\r\nX-Service-ApiKey: ${other["X-Service-ApiKey"]}\r\n\r\n`
        socket.pause().write(head.repeat(100))
        // It reads nothing, and so learns of its end by what it writes.
        const isEnded = Effect.sync(() => (socket.write("\r\n"), socket.destroyed))
        yield* eventually(isEnded, (ended) => ended)
        assert.strictEqual(parsed((yield* ask("GET", page, "", other)).text).length, 250)
        for (const held of ["roster_held_turns", "roster_held_connections", "roster_held_body_bytes"]) {
          yield* eventually(metric(held), (held) => held === 0)
        }
      }).pipe(
        Effect.scoped,
        Effect.provide(NodeServices.layer),
        Effect.provideService(Metric.MetricRegistry, new Map())
      )
    )
  })
}
