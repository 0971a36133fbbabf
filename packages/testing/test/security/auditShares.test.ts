/**
 * The audit trail under callers without a key: one network, however busy, neither fills it nor hides another in it. A
 * clock that only the test moves makes the waits. (The unit of the shares is in `AuditRefusals.test.ts`.)
 */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { IpRange } from "@roster/domain"
import { RosterServer } from "@roster/server"
import { Effect, Fiber, FileSystem, Path, Schema } from "effect"
import { TestClock } from "effect/testing"
import { rowsOf } from "../durability/StoreLook.ts"

const Row = Schema.Struct({ peer: Schema.NullOr(Schema.String), outcome: Schema.String, details: Schema.String })

/** Lets real sockets do their part without time going by on the clock of the test. */
const turn = Effect.promise(() => new Promise<void>((done) => setImmediate(done)))

const calls = 250

it.effect("S15 calls without a key from one network are a hundred entries and their number, and hide no other", () =>
  Effect.gen(function* () {
    // The database removes entries by its own clock, which is the real one.
    const hour = 60 * 60 * 1000
    yield* TestClock.setTime(Math.floor(Date.now() / hour) * hour)
    const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "roster-shares-" })
    const filename = (yield* Path.Path).join(folder, "roster.db")
    const rows = () => rowsOf({ filename }, Row, "SELECT peer, outcome, details FROM audit_entries")
    const refused = () => rows().filter(({ outcome }) => outcome === "Unauthorized")
    yield* Effect.gen(function* () {
      const { address } = yield* RosterServer.RosterServer
      const call = (peer: string) =>
        Effect.promise((signal) =>
          fetch(`${address}/contacts`, { signal, headers: { "X-Forwarded-For": peer } }).then((response) =>
            response.text().then(() => response.status)
          )
        )
      const many = yield* Effect.forkChild(
        // Some wait for their answer, as wrong keys do.
        Effect.forEach(
          Array.from({ length: calls }, (_, i) => `2001:db8:0:1::${i.toString(16)}`),
          call,
          { concurrency: 200 }
        )
      )
      while (many.pollUnsafe() === undefined) {
        // Time goes by only when nothing else does.
        for (let i = 0; i < 50 && many.pollUnsafe() === undefined; i++) yield* turn
        yield* TestClock.adjust("4 seconds")
      }
      assert.deepStrictEqual(new Set(yield* Fiber.join(many)), new Set([401]))
      assert.strictEqual(yield* call("198.51.100.7"), 401)
      yield* TestClock.adjust("1 second")
      while (!refused().some(({ peer }) => peer === "198.51.100.7")) yield* turn
      assert.strictEqual(refused().length, 101)
    }).pipe(
      Effect.provide(
        RosterServer.layer({
          port: 0,
          store: { filename },
          trustedProxies: [IpRange.make("127.0.0.1")],
          onAdministratorKey: () => Effect.void
        })
      )
    )
    // With the end of the service, too.
    assert.strictEqual(refused().length, 101)
    assert.deepStrictEqual(
      rows().filter(({ outcome }) => outcome === "FurtherRefusals"),
      [{ peer: null, outcome: "FurtherRefusals", details: JSON.stringify({ count: calls - 100 }) }]
    )
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
