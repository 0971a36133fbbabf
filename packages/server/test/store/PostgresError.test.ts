import { assert, it } from "@effect/vitest"
import { notLoaded } from "../../src/store/postgres/PostgresError.ts"

const missing = "its client is missing: install the package @effect/sql-pg"
const fails = (why: string) => `its client, the package @effect/sql-pg, cannot be loaded: ${why}`
const otherVersion = "The requested module 'effect/sql' does not provide an export named 'SqlClient'"
const otherPackage = "Cannot find package 'effect' imported from /srv/node_modules/@effect/sql-pg/dist/PgPool.js"

it.each([
  ["Node", "Cannot find package '@effect/sql-pg' imported from /srv/app.mjs", missing],
  ["CommonJS", "Cannot find module '@effect/sql-pg/PgClient'\nRequire stack:\n- /srv/app.cjs", missing],
  ["Bun", "Cannot find package '@effect/sql-pg' from '/srv/app.mjs'", missing],
  ["Deno", 'Import "@effect/sql-pg/PgClient" not a dependency and not in import map', missing],
  ["one for another Effect", otherVersion, fails(otherVersion)],
  ["one without its peer", otherPackage, fails(otherPackage)]
])("the client is called missing only if it is, as said by %s", (_, message, said) =>
  assert.strictEqual(notLoaded(new Error(message)).message, said)
)
