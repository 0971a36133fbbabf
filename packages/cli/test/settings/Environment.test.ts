import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runHere } from "../inProcess.ts"
import { failure, temporaryFolder } from "../roster.ts"

const odd = "perhaps-with-a-secret"

/** Commands by what they read of the environment, each with a variable that they cannot do without. */
const reading: ReadonlyArray<readonly [variable: string, commandLine: string]> = [
  ["ROSTER_REQUIRE_REMOTE", "contacts list"],
  ["ROSTER_REQUIRE_REMOTE", "status"],
  ["ROSTER_REQUIRE_REMOTE", "auth login --no-check"],
  ["ROSTER_REQUIRE_REMOTE", "serve"],
  ["ROSTER_REQUIRE_REMOTE", "backup a.db"],
  ["ROSTER_REQUIRE_REMOTE", "doctor"],
  ["ROSTER_NO_INPUT", "contacts delete ann@example.com --db :memory:"],
  ["OTEL_SDK_DISABLED", "serve --port 0 --db :memory:"],
  ["OTEL_RESOURCE_ATTRIBUTES", "serve --port 0 --db :memory:"]
]

describe("a variable of the environment that cannot be read", () => {
  it.live.each(reading)("is named, and is no bug: %s for %s", ([variable, commandLine]) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const value = variable === "OTEL_RESOURCE_ATTRIBUTES" ? `${odd}=%` : odd
      const { code, stderr, stdout } = yield* runHere(commandLine.split(" "), {
        env: { HOME: folder, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", [variable]: value }
      })
      assert.include(stderr + stdout, variable)
      assert.notMatch(stderr + stdout, /bug|SchemaError/)
      // A diagnosis goes on, and fails in the end.
      assert.strictEqual(code, commandLine === "doctor" ? 8 : 2, stderr)
    }).pipe(Effect.scoped)
  )

  it.live.each(["TRUE", "yes\r", " On "])("is understood in other letters and with the blanks of a file: %j", (on) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const env = { HOME: folder, ROSTER_REQUIRE_REMOTE: on }
      const refused = yield* runHere(["contacts", "list", "--db", ":memory:"], { env })
      assert.strictEqual(refused.code, 2)
      assert.include(failure(refused).message, "ROSTER_REQUIRE_REMOTE forbids")
    }).pipe(Effect.scoped)
  )
})
