import { assert, describe, it } from "@effect/vitest"
import { Duration, Redacted } from "effect"
import { fromThread, toThread } from "../../../src/jobs/worker/WorkerThread.ts"
import {
  connectionsOfJobs,
  defaultConnections,
  type PostgresOptions
} from "../../../src/store/postgres/PostgresOptions.ts"

/** Every option, so that one that is added has to be named here. */
const all: Required<PostgresOptions> = {
  url: Redacted.make("postgres://roster@localhost/roster"),
  password: Redacted.make("secret"),
  maxConnections: 3,
  acquireTimeout: "90 seconds",
  statementMillis: 1500
}

/** What a thread is told is copied, so a function or a redacted text would not arrive. */
const told = (postgres: PostgresOptions) => {
  const store = structuredClone(toThread({ postgres }))
  assert.isFalse("filename" in store)
  return "filename" in store ? undefined : fromThread(store)
}

describe("the thread of jobs", () => {
  it("has a PostgreSQL by all options of its service, and by the same defaults", () => {
    const { acquireTimeout, password, url, ...others } = told(all) ?? all
    assert.deepStrictEqual(others, { maxConnections: 3, statementMillis: 1500 })
    assert.strictEqual(Duration.toMillis(acquireTimeout ?? 0), 90_000)
    assert.deepStrictEqual(
      [url, password].map((text) => text && Redacted.value(text)),
      ["postgres://roster@localhost/roster", "secret"]
    )
    const { url: _, ...unset } = told({ url: all.url }) ?? all
    assert.deepStrictEqual(Object.values(unset), [undefined, undefined, undefined, undefined])
  })

  it("takes its connections of those of its service, of which it leaves half at least", () => {
    assert.deepStrictEqual([defaultConnections, 8, 6, 4].map(connectionsOfJobs), [4, 4, 3, 2])
  })
})
