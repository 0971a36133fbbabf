import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { inspect } from "node:util"
import type { PostgresOptions } from "../../src/store/postgres/PostgresOptions.ts"
import * as RosterServer from "../../src/RosterServer.ts"

const url = "postgres://roster:hidden@127.0.0.1:9/roster"

describe("the secrets of a PostgreSQL", () => {
  it.live.each<readonly [string, object]>([
    ["an address as plain text", { url }],
    ["an address of another copy of effect", { url: Object.create(Redacted.make(url)) }],
    ["an address of a variable that is not set", { url: Redacted.make(undefined) }],
    ["a password as plain text", { url: Redacted.make(url), password: "hidden" }],
    [
      "a password of another copy of effect",
      { url: Redacted.make(url), password: Object.create(Redacted.make("hidden")) }
    ]
  ])("are named where they cannot be used, and not told: %s", ([what, postgres]) =>
    Effect.gen(function* () {
      // As plain JavaScript gives them.
      const store = { postgres: postgres as PostgresOptions }
      const server = RosterServer.layer({ port: 0, store, onAdministratorKey: () => Effect.void })
      const error = yield* Effect.flip(Layer.build(server))
      assert.strictEqual(error._tag, "StoreUnavailable")
      assert.match(
        error.message,
        what.includes("password") ? /Its password cannot be used/ : /Its address cannot be used/
      )
      assert.notInclude(inspect(error) + error.message, "hidden")
    }).pipe(Effect.scoped)
  )
})
