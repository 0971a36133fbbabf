/** The PostgreSQL of the tests starts wherever the checkout lies, and says why where it does not. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { installedPrograms, startServer, testSettings } from "./PostgresServer.ts"
import { describePostgres, runOn } from "./TestPostgres.ts"

const settings = testSettings(false)

describePostgres("a PostgreSQL for tests", () => {
  // As root's home: nobody else may enter it.
  const home = mkdtempSync(join(tmpdir(), "roster-home-"))
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  it("starts from programs below a folder that only their owner may enter, and leaves nothing", async () => {
    const programs = join(home, "native")
    cpSync(installedPrograms(), programs, { recursive: true, verbatimSymlinks: true })
    assert.strictEqual(statSync(home).mode & 0o777, 0o700)
    const before = readdirSync(tmpdir())
    const server = await startServer({ programs, settings })
    try {
      assert.deepStrictEqual(await Effect.runPromise(runOn(server.url, "SELECT 1 AS one")), [{ one: 1 }])
    } finally {
      await server.stop()
    }
    assert.deepStrictEqual(
      readdirSync(tmpdir()).filter((name) => name.startsWith("roster-postgres-") && !before.includes(name)),
      []
    )
  })

  it("says what its programs say where they fail", async () => {
    const programs = join(home, "broken")
    mkdirSync(join(programs, "bin"), { recursive: true })
    const initdb = join(programs, "bin", "initdb")
    const failure = () => startServer({ programs, settings }).then(() => "", String)
    assert.match(await failure(), /^Error: PostgreSQL did not start: spawn \S+initdb ENOENT$/)
    writeFileSync(initdb, "#!/bin/sh\necho no space left >&2\nexit 3\n")
    chmodSync(initdb, 0o755)
    assert.strictEqual(await failure(), "Error: PostgreSQL did not start: initdb ended with 3; no space left")
  })
})
