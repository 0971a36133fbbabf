import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf } from "../roster.ts"
import { fakeService } from "../service.ts"

describe("the target of a command", () => {
  it.live("is the user's own store where nothing is said, which it says", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const store = join(folder, ".local/share/roster/roster.db")
      const added = yield* run(["contacts", "add", "ann@example.com"])
      assert.deepStrictEqual([added.code, added.stderr.split("\n")[0]], [0, `[local] ${store}, a new store`])
      assert.strictEqual(statSync(store).mode & 0o777, 0o600)
      assert.strictEqual(statSync(join(folder, ".local/share/roster")).mode & 0o777, 0o700)
      assert.include(json(yield* run(["contacts", "get", "ann@example.com"])), { Email: "ann@example.com" })
      const elsewhere = yield* run(["contacts", "list"], { env: { XDG_DATA_HOME: join(folder, "data") } })
      assert.deepStrictEqual([elsewhere.code, failure(elsewhere).code], [5, "NoStore"])
      assert.include(failure(elsewhere).message, join(folder, "data/roster/roster.db"))
      assert.notInclude(readdirSync(folder), "data")
    })
  )

  it.live("is the file that is named, by a flag on either side of the command or by the environment", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      yield* run(["--db", "a.db", "contacts", "add", "ann@example.com"])
      for (const args of [
        ["contacts", "--db", "a.db", "list"],
        ["contacts", "list", "--db", "a.db"]
      ]) {
        const listed = yield* run(args, { env: { ROSTER_DB: "b.db" } })
        assert.strictEqual(listed.stderr, "")
        assert.strictEqual(jsonOf<ReadonlyArray<unknown>>(listed).length, 1)
      }
      assert.strictEqual((yield* run(["contacts", "add", "bob@example.com"], { env: { ROSTER_DB: "b.db" } })).code, 0)
      assert.deepStrictEqual(
        readdirSync(folder)
          .filter((name) => name.endsWith(".db"))
          .sort(),
        ["a.db", "b.db"]
      )
    })
  )

  it.live("is made by the commands that add to it, which say so, and by no others", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      writeFileSync(join(folder, "fruit.csv"), "Fruit,Colour\napple,red\n")
      for (const args of [
        ["contacts", "import", "absent.csv"],
        ["contacts", "import", "fruit.csv"],
        ["emails", "send", "--from", "a@example.com", "--to", "b@example.com", "--html-file", "absent.html"],
        ["apikeys", "create", "ci", "--for", "contacts:read", "--out", "absent/ci.key"],
        ["smtp", "create", "shop@example.com", "--out", "absent/shop.password"],
        ["contacts", "export", "--out", "out.csv"],
        ["contacts", "delete", "ann@example.com", "--yes"],
        ["contacts", "import", "absent.csv", "--dry-run"],
        ["contacts", "undo", "last", "--yes"]
      ]) {
        const refused = yield* run([...args, "--db", "new.db"])
        assert.include([2, 5], refused.code, `${args.join(" ")}: ${refused.stderr}`)
        assert.notInclude(refused.stderr, "a new store")
        assert.notInclude(readdirSync(folder), "new.db", args.join(" "))
      }
      const nowhere = yield* run(["contacts", "add", "ann@example.com", "--db", "absent/new.db"])
      assert.deepStrictEqual([nowhere.code, nowhere.stdout, failure(nowhere).code], [8, "", "StoreUnavailable"])
      const on = yield* run(["contacts", "list", "--on", "Nobody", "--db", "new.db"])
      assert.deepStrictEqual([on.code, failure(on).code], [5, "NoStore"])
      const added = yield* run(["contacts", "add", "ann@example.com", "--db", "new.db"])
      assert.include(added.stderr, "[local] new.db, a new store\n")
    })
  )

  it.live("gets the key in the named header, with the given prefix", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const heard: Array<unknown> = []
      const { env } = yield* fakeService((request, response) => {
        heard.push(request.headers["x-elasticemail-apikey"], request.headers["authorization"])
        response.writeHead(200, { "Content-Type": "application/json" }).end("[]")
      })
      yield* run(["contacts", "list", "--api-key-header", "X-ElasticEmail-ApiKey"], { env })
      yield* run(["contacts", "list"], {
        env: { ...env, ROSTER_API_KEY_HEADER: "Authorization", ROSTER_API_KEY_PREFIX: "Bearer " }
      })
      assert.deepStrictEqual(heard, ["test-key", undefined, undefined, "Bearer test-key"])
    })
  )
})
