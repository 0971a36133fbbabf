/**
 * S02 The time of a lookup tells nothing about the keys of a store: it is by digest, in which no part of a guess can be
 * right. With `ROSTER_LONG_RUN=1` it is measured too.
 */
import { assert, describe, it } from "@effect/vitest"
import { SecretFormat } from "@roster/domain/internal"
import { Store } from "@roster/server"
import { DateTime, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { insertCredential, unset } from "../../../server/src/credentials/CredentialRow.ts"
import { keyLookup } from "../../../server/src/credentials/KeyLookup.ts"
import { digestOf } from "../../../server/src/credentials/Secret.ts"
import { longRun } from "../../src/simulation/LongRun.ts"

const bits = 0x0123456789abcdef0123456789abcdef0123456789abcdefn
const keyOf = (value: bigint) => SecretFormat.secretOf(SecretFormat.prefixes.ApiKey, value)
const [wrongAtFirst, wrongAtLast] = [keyOf(bits ^ (1n << 191n)), keyOf(bits ^ 1n)]

/** A store with one key. */
const withKey = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const known = { account: "", kind: "ApiKey", name: "known", identity: "known" } as const
  const key = { ...unset, ...known, accessLevels: ["ViewContacts"], dateCreated: DateTime.makeUnsafe(1000) } as const
  yield* insertCredential(sql, key, Redacted.make(keyOf(bits)))
  return sql
})

/** Looks a key up. */
const findKey = (sql: SqlClient.SqlClient) => {
  const find = keyLookup(sql)
  return (key: string) => Effect.clockWith((clock) => find(digestOf(key), clock))
}

const rounds = 10_000

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

/** Welch's t of two samples: above 4.5 they differ with near certainty. */
const welch = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const share = (values: ReadonlyArray<number>) => {
    const middle = mean(values)
    return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1) / values.length
  }
  return Math.abs(mean(a) - mean(b)) / Math.sqrt(share(a) + share(b))
}

/** Without the slowest tenth, which are pauses of the machine. */
const steady = (times: ReadonlyArray<number>) => times.toSorted((a, b) => a - b).slice(0, times.length * 0.9)

describe("the lookup of keys", () => {
  it.effect("S02 is one search in the index of digests, and no column holds a part of a key to compare", () =>
    Effect.gen(function* () {
      const sql = yield* withKey
      const plan = yield* sql<{ readonly detail: string }>`
        EXPLAIN QUERY PLAN SELECT id FROM credentials WHERE credentials.secret_digest = ${new Uint8Array(32)} AND kind = 'ApiKey'`
      assert.deepStrictEqual(
        plan.map(({ detail }) => detail),
        ["SEARCH credentials USING INDEX sqlite_autoindex_credentials_1 (secret_digest=?)"]
      )
      const [row = {}] = yield* sql<Readonly<Record<string, unknown>>>`SELECT * FROM credentials`
      const random = keyOf(bits).slice(SecretFormat.prefixes.ApiKey.length, -6)
      for (const [name, value] of Object.entries(row)) {
        if (typeof value !== "string") continue
        for (let at = 0; at + 6 <= random.length; at++) assert.notInclude(value, random.slice(at, at + 6), name)
      }
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )

  it.effect("S02 of keys that are wrong in the first or in the last bit finds nothing", () =>
    Effect.gen(function* () {
      const find = findKey(yield* withKey)
      assert.isDefined(yield* find(keyOf(bits)))
      for (const key of [wrongAtFirst, wrongAtLast]) {
        assert.isTrue(SecretFormat.isApiKey(key))
        assert.isUndefined(yield* find(key))
      }
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )

  it.live.skipIf(!longRun)(
    "of keys that are wrong in the first or in the last bit takes the same time (nightly)",
    () =>
      Effect.gen(function* () {
        const find = findKey(yield* withKey)
        const times = { first: Array<number>(), last: Array<number>() }
        const timed = Effect.fnUntraced(function* (key: string, into: Array<number>) {
          const start = performance.now()
          yield* find(key)
          into.push(performance.now() - start)
        })
        for (let round = 0; round < rounds; round++) {
          // In turns, so that neither always comes second.
          const [one, other] = round % 2 === 0 ? (["first", "last"] as const) : (["last", "first"] as const)
          for (const which of [one, other]) yield* timed(which === "first" ? wrongAtFirst : wrongAtLast, times[which])
        }
        const t = welch(steady(times.first), steady(times.last))
        process.stdout.write(`S02: ${rounds} lookups of each kind, t = ${t.toFixed(2)}\n`)
        assert.isBelow(t, 4.5)
      }).pipe(Effect.provide(Store.layer({ filename: ":memory:" }))),
    60_000
  )
})
