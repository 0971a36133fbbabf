/** What `roster serve` tells those who watch it: numbers and spans, and nothing of whom they are about. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http"
import { text as readText } from "node:stream/consumers"
import { askServe, type KillableServe, killableServe, servePlace } from "../durability/KillableServe.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { readExposition, sampleOf } from "./Exposition.ts"

// Each is in a request, and in nothing that is told.
const person = "canary.person@example.com"
const wrongKey = "canary-wrong-key"
const traceId = "0af7651916cd43dd8448eb211c80319c"

/** A collector in this process. */
const collector = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(answer).listen(0, "127.0.0.1")
      await once(server, "listening")
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("no port")
      return { server, url: `http://127.0.0.1:${address.port}` }
    }),
    ({ server }) =>
      Effect.promise(async () => {
        server.closeAllConnections()
        server.close()
        await once(server, "close")
      })
  )

const metricsOf = Effect.fnUntraced(function* ({ output }: KillableServe) {
  const said = yield* eventually(Effect.sync(output), (text) => /metrics are at \S+\n/.test(text))
  return /metrics are at (\S+)\n/.exec(said)?.[1] ?? ""
})

const scrape = (url: string) =>
  Effect.promise(async () => {
    const response = await fetch(url)
    assert.strictEqual(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
    return await response.text()
  })

/** Requests that name a person, wrong keys, and one of a trace that began elsewhere. */
const drive = (served: KillableServe) =>
  Effect.gen(function* () {
    const add = yield* askServe(served, "POST", "/contacts", [{ Email: person, FirstName: "canary" }])
    assert.strictEqual(add.status, 200)
    yield* askServe(served, "GET", `/contacts/${encodeURIComponent(person)}`)
    yield* askServe(served, "GET", `/contacts?rule=${encodeURIComponent("firstname = 'canary'")}`)
    yield* askServe(served, "GET", `/canary/${encodeURIComponent(person)}`)
    const headers = { "X-Service-ApiKey": wrongKey, "User-Agent": person, Referer: person }
    for (let times = 0; times < 6; times++) {
      yield* Effect.promise(() => fetch(`${served.baseUrl}/contacts`, { headers }))
    }
    yield* Effect.promise(() =>
      fetch(`${served.baseUrl}/contacts`, {
        headers: { "X-Service-ApiKey": served.apiKey, traceparent: `00-${traceId}-b7ad6b7169203331-01` }
      })
    )
  })

const hidden = (told: string, served: KillableServe): void => {
  assert.notInclude(told.toLowerCase(), "canary")
  assert.notInclude(told, served.apiKey)
}

describe("roster serve", () => {
  it.live("serves metrics on an address of their own, and sends traces, neither with a name or a key", () =>
    Effect.gen(function* () {
      const received: Array<{ readonly url: string | undefined; headers: IncomingHttpHeaders; text: string }> = []
      const { url } = yield* collector((request, response) => {
        void readText(request).then((text) => {
          received.push({ url: request.url, headers: request.headers, text })
          response.end("{}")
        })
      })
      const place = yield* servePlace
      const served = yield* killableServe(place, {
        args: ["--metrics-listen", "127.0.0.1:0"],
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: url }
      })
      const metrics = yield* metricsOf(served)
      yield* drive(served)

      // A response is counted once it has been sent.
      const wrong = { method: "GET", route: "/v4/contacts", status: "401" }
      const text = yield* eventually(
        scrape(metrics),
        (text) => sampleOf(readExposition(text), "roster_requests_total", wrong) === 6
      )
      const samples = readExposition(text)
      const get = { method: "GET", route: "/v4/contacts/{email}" }
      assert.strictEqual(sampleOf(samples, "roster_requests_total", { ...get, status: "200" }), 1)
      assert.strictEqual(sampleOf(samples, "roster_request_duration_seconds_count", get), 1)
      assert.strictEqual(sampleOf(samples, "roster_request_duration_seconds_bucket", { ...get, le: "+Inf" }), 1)
      assert.strictEqual(sampleOf(samples, "roster_requests_total", { method: "other", route: "other" }), 1)
      assert.strictEqual(sampleOf(samples, "roster_throttled_networks"), 1)
      assert.strictEqual(sampleOf(samples, "roster_store_up"), 1)
      assert.strictEqual(sampleOf(samples, "roster_jobs", { kind: "Import", state: "Loading" }), 0)
      for (const [name, least] of [
        ["roster_store_bytes", 4096],
        ["process_resident_memory_bytes", 1e7],
        ["process_cpu_seconds_total", 0.01],
        ["nodejs_eventloop_lag_p99_seconds", 0],
        ["roster_connections", 1]
      ] as const) {
        assert.isAtLeast(sampleOf(samples, name) ?? NaN, least, name)
      }
      hidden(text, served)

      // Not at the address of clients, and nothing else at this one.
      const metricsForClients = yield* Effect.promise(() => fetch(new URL("/metrics", served.baseUrl)))
      assert.strictEqual(metricsForClients.status, 401)
      const contacts = yield* Effect.promise(() => fetch(new URL("/v4/contacts", metrics)))
      assert.strictEqual(contacts.status, 404)

      // What is left is sent at the end.
      yield* served.stop
      const told = received.map(({ text }) => text).join("\n")
      assert.deepStrictEqual([...new Set(received.map(({ url }) => url))], ["/v1/traces"])
      for (const name of ["ContactsService.get", "ContactsService.list", "sqlite", "http.route", '"roster"', traceId]) {
        assert.include(told, name)
      }
      // The network address of a client.
      assert.notInclude(told, "client.address")
      hidden(told + JSON.stringify(received.map(({ headers }) => headers)), served)
      hidden(served.output(), served)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("answers as ever while its collector takes everything and answers nothing", () =>
    Effect.gen(function* () {
      let taken = 0
      const { url } = yield* collector((request) => {
        request.resume()
        taken += 1
      })
      const served = yield* killableServe(yield* servePlace, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } })
      for (let times = 0; times < 20; times++) {
        assert.strictEqual((yield* askServe(served, "GET", "/contacts")).status, 200)
      }
      // Ends with 0, and does not wait for the collector.
      yield* served.stop
      assert.isAbove(taken, 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
