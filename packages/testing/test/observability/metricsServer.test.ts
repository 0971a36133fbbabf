/** The address of metrics is for a few who watch the service. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { RosterServer } from "@roster/server"
import { Context, Effect, Layer, Metric } from "effect"
import { readExposition, sampleOf } from "./Exposition.ts"
import { dial } from "../security/RawServed.ts"

/** As docs/limits.md says. */
const maximumConnections = 16

describe("the metrics of a service", () => {
  it.live("are read by their own names, on a bounded number of connections, beyond which further ones are closed", () =>
    Effect.gen(function* () {
      const server = yield* Layer.build(
        RosterServer.layer({
          port: 0,
          metrics: { port: 0 },
          store: { filename: ":memory:" },
          onAdministratorKey: () => Effect.void
        })
      )
      const { metricsAddress: address = "" } = Context.get(server, RosterServer.RosterServer)
      const open = Effect.forEach(Array.from({ length: maximumConnections - 2 }), () => dial({ address, key: "" }))
      yield* open
      const ask = (host: string) => dial({ address, key: "" }, `GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      // A name that leads to this machine, as a web page can make one.
      const foreign = yield* (yield* ask("evil.example")).until(/\r\n\r\n.*\n/)
      assert.match(foreign, /^HTTP\/1\.1 421 /)
      assert.notInclude(foreign, "roster_")
      const last = yield* ask("localhost")
      const text = yield* last.until(/roster_jobs_ended_last_hour\{kind="Export",state="Cancelled"\} 0\n/)
      const samples = readExposition(text.slice(text.indexOf("\r\n\r\n") + 4))
      assert.strictEqual(sampleOf(samples, "roster_connections"), 0)
      const beyond = yield* dial({ address, key: "" })
      assert.strictEqual(yield* beyond.closed, "")
    }).pipe(Effect.scoped, Effect.provideService(Metric.MetricRegistry, new Map()), Effect.provide(NodeServices.layer))
  )
})
