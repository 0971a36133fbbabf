import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as AuditRefusals from "../../src/credentials/AuditRefusals.ts"
import type { AuditEvent } from "../../src/credentials/AuditTrail.ts"
import * as Store from "../../src/store/Store.ts"

interface Row {
  readonly time: number
  readonly actor: string
  readonly peer: string | null
  readonly operation: string
  readonly outcome: string
  readonly details: string
}

const rows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Row>`SELECT time, actor, peer, operation, outcome, details FROM audit_entries ORDER BY number`
)

/** How many entries there are that are not sums, by peer. */
const entriesByPeer = (all: ReadonlyArray<Row>) => {
  const entries = all.filter(({ outcome }) => outcome !== "FurtherRefusals")
  const byPeer = Map.groupBy(entries, ({ actor, peer }) => `${actor} ${peer}`)
  return Object.fromEntries([...byPeer].map(([peer, { length }]) => [peer, length]))
}

const sums = (all: ReadonlyArray<Row>) =>
  all
    .filter(({ outcome }) => outcome === "FurtherRefusals")
    .map(({ actor, details, operation, peer }) => [actor, peer, operation, JSON.parse(details)])

/** The one entry of an hour for so many refusals. */
const further = (count: number) => [["Unknown", null, "anyOperation", { count }]]

const withoutKey = (peer: string): AuditEvent => ({
  actor: { _tag: "Unknown" },
  account: "",
  peer,
  operation: "contactsGet"
})

const withKey = (peer: string, account = ""): AuditEvent => ({
  ...withoutKey(peer),
  actor: { _tag: "Key", name: "shop", hint: "roster_…abcd" },
  account
})

const refuse = Effect.fnUntraced(function* (event: AuditEvent, times = 1) {
  const { record } = yield* AuditRefusals.AuditRefusals
  for (let i = 0; i < times; i++) yield* record(event, "Unauthorized")
})

/** Lets the time go by in which refusals are gathered. */
const gathered = TestClock.adjust("1 second")

/** In seconds. */
const endOfHour = 3600 * 500_000

const begin = TestClock.setTime(1000 * (endOfHour - 10))

/** Lets the hour end. */
const ended = TestClock.adjust("12 seconds")

const inMemory = Effect.provide(AuditRefusals.layer.pipe(Layer.provideMerge(Store.layer({ filename: ":memory:" }))), {
  local: true
})

const address = (number: number) => `10.0.${number >> 8}.${number & 255}`

describe("AuditRefusals", () => {
  it.effect("S15: ten thousand refusals of one network are a hundred entries and their number, and hide no other", () =>
    Effect.gen(function* () {
      yield* begin
      yield* Effect.gen(function* () {
        yield* refuse(withoutKey("203.0.113.7"), 10_000)
        yield* refuse(withoutKey("198.51.100.1"), 100)
        yield* refuse(withKey("203.0.113.7"), 2)
        assert.deepStrictEqual(yield* rows, [])
        yield* gathered
        const expected = { "Unknown 203.0.113.7": 100, "Unknown 198.51.100.1": 100, "Key 203.0.113.7": 2 }
        assert.deepStrictEqual(entriesByPeer(yield* rows), expected)
        yield* TestClock.adjust("8 seconds")
        yield* refuse(withoutKey("203.0.113.7"))
        yield* TestClock.adjust("2 seconds")
        const all = yield* rows
        assert.deepStrictEqual(entriesByPeer(all), expected)
        assert.deepStrictEqual(sums(all), further(9901))
        assert.strictEqual(all.at(-1)?.time, endOfHour - 1)
        // A new hour.
        yield* refuse(withoutKey("203.0.113.7"))
        yield* gathered
        assert.strictEqual((yield* rows).at(-1)?.outcome, "Unauthorized")
      }).pipe(inMemory)
    })
  )

  it.effect("S15: the addresses of a /64 network share, and those of the next one do not", () =>
    Effect.gen(function* () {
      yield* begin
      const all = yield* Effect.gen(function* () {
        for (let i = 1; i <= 101; i++) yield* refuse(withoutKey(`2001:db8:0:1::${i.toString(16)}`))
        yield* refuse(withoutKey("2001:db8:0:2::1"))
        yield* ended
        return yield* rows
      }).pipe(inMemory)
      assert.strictEqual(all.length, 102)
      assert.deepStrictEqual(sums(all), further(1))
      assert.isTrue(all.some(({ peer }) => peer === "2001:db8:0:2::1"))
    })
  )

  it.effect("S15: many networks have one entry each beyond a thousand, and hide no key", () =>
    Effect.gen(function* () {
      yield* begin
      const all = yield* Effect.gen(function* () {
        for (let i = 0; i < 10; i++) yield* refuse(withoutKey(address(i)), 100)
        yield* refuse(withoutKey(address(10)), 100)
        for (let i = 11; i < 1005; i++) yield* refuse(withoutKey(address(i)), 2)
        yield* refuse(withKey(address(1001)))
        yield* ended
        return yield* rows
      }).pipe(inMemory)
      const entries = entriesByPeer(all)
      assert.strictEqual(entries[`Unknown ${address(9)}`], 100)
      // Its first one, and what the ten before it left of a thousand.
      assert.strictEqual(entries[`Unknown ${address(10)}`], 1 + 10)
      assert.strictEqual(entries[`Unknown ${address(11)}`], 1)
      assert.strictEqual(entries[`Unknown ${address(999)}`], 1)
      assert.isUndefined(entries[`Unknown ${address(1000)}`])
      assert.strictEqual(entries[`Key ${address(1001)}`], 1)
      // The second ones of 989 networks, both of the five without a share, and what the eleventh had beyond.
      assert.deepStrictEqual(sums(all), further(989 + 10 + 89))
      assert.strictEqual(all.length, 1000 + 1000 + 1 + 1)
    })
  )

  it.effect("S15: a key that asks for account after account has one share", () =>
    Effect.gen(function* () {
      yield* begin
      const all = yield* Effect.gen(function* () {
        for (let i = 0; i < 150; i++) yield* refuse(withKey("203.0.113.7", `${i}@example.com`))
        yield* ended
        return yield* rows
      }).pipe(inMemory)
      assert.strictEqual(all.length, 101)
      assert.deepStrictEqual(sums(all), further(50))
    })
  )

  it.effect("S15: what cannot be written waits, and is written with the end of the service", () =>
    Effect.gen(function* () {
      yield* begin
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const filename = (yield* Path.Path).join(folder, "roster.db")
      const store = Store.layer({ filename })
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          CREATE TRIGGER full BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'full'); END`
        yield* refuse(withoutKey("203.0.113.7"), 150)
        yield* gathered
        yield* sql`DROP TRIGGER full`
        assert.deepStrictEqual(yield* rows, [])
      }).pipe(Effect.provide(Layer.provideMerge(AuditRefusals.layer, store), { local: true }))
      const all = yield* Effect.provide(rows, store, { local: true })
      assert.strictEqual(all.length, 101)
      assert.deepStrictEqual(sums(all), further(50))
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
