import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { failure, json, jsonOf, makeLocalRoster, makeRoster } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6"

describe("roster contacts export and roster exports", () => {
  it.live("write a file for its owner alone, and replace none unless told", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRoster
      yield* run(["contacts", "import", "-"], { input: "Email,City\nann@example.com,Köln\nbob@example.com,Bonn\n" })
      const target = join(folder, "out.csv")

      const exported = yield* run(["contacts", "export", "--out", "out.csv"])
      assert.strictEqual(exported.code, 0, exported.stderr)
      assert.deepStrictEqual(json(exported), { file: "out.csv", bytes: statSync(target).size })
      assert.strictEqual(statSync(target).mode & 0o777, 0o600)
      assert.match(readFileSync(target, "utf8"), /^Email,.*City\r\nann@example\.com,.*Köln\r\nbob@example\.com,/)

      const again = yield* run(["contacts", "export", "--out", "out.csv"])
      assert.deepStrictEqual([again.code, failure(again).code], [2, "UsageError"])
      const forced = yield* run(["contacts", "export", "--email", "bob@example.com", "--out", "out.csv", "--force"])
      assert.strictEqual(forced.code, 0, forced.stderr)
      assert.notInclude(readFileSync(target, "utf8"), "ann@")
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.endsWith(".tmp")),
        []
      )
    })
  )

  it.live("print the file where none is named", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRoster
      yield* run(["contacts", "import", "-"], { input: "Email\nann@example.com\nbob@example.com\n" })
      const everybody = yield* run(["contacts", "export", "--format", "json", "--out", "-"])
      assert.strictEqual(jsonOf<ReadonlyArray<unknown>>(everybody).length, 2)
      const byRule = yield* run(["contacts", "export", "--rule", "email starts-with 'ann'", "--format", "xml"])
      assert.match(byRule.stdout, /^<\?xml[^]*<Contacts>[^]*ann@example\.com/)
      assert.notInclude(byRule.stdout, "bob@")
      assert.match((yield* run(["contacts", "export", "--zip"])).stdout, /^PK/)
      const both = yield* run(["contacts", "export", "--rule", "All", "--email", "ann@example.com"])
      assert.deepStrictEqual([both.code, failure(both).code], [2, "ConflictingFilter"])
    })
  )

  it.live("can be fetched later, by another process", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRoster
      const { env } = yield* serveWithKey(folder)
      yield* run(["contacts", "add", "ann@example.com"], { env })
      const begun = yield* run(["contacts", "export", "--no-wait"], { env })
      assert.strictEqual(begun.code, 0, begun.stderr)
      const { Link, PublicExportID } = jsonOf<{ Link: string; PublicExportID: string }>(begun)
      // The first wait of another export ends after this one is ready: jobs run in their order.
      yield* run(["contacts", "export"], { env })
      const status = yield* run(["exports", "status", PublicExportID], { env })
      assert.deepStrictEqual([status.code, status.stdout], [0, '"Ready"\n'])
      const fetched = yield* run(["exports", "download", Link, "--out", "later.csv"], { env })
      assert.strictEqual(fetched.code, 0, fetched.stderr)
      assert.include(readFileSync(join(folder, "later.csv"), "utf8"), "ann@example.com")
      assert.include((yield* run(["exports", "download", Link], { env })).stdout, "ann@example.com")
      assert.strictEqual((yield* run(["exports", "status", id], { env })).code, 5)
      assert.strictEqual(
        (yield* run(["exports", "download", Link.replace(/exports\/[^/]+/, "exports/unknown"), "--out", "no.csv"], {
          env
        })).code,
        5
      )
      assert.notInclude(readdirSync(folder), "no.csv")
    })
  )

  it.live.each(["Error", "Expired"])("end with 10 where the job is in state %s, and leave no file", (state) =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRoster
      const { env, requests } = yield* fakeService((request, response) => {
        const isStatus = request.url?.endsWith("/status") === true
        const body = isStatus ? state : { Link: "http://127.0.0.1:9/v4/x", PublicExportID: id }
        response.writeHead(isStatus ? 200 : 202, { "Content-Type": "application/json" }).end(JSON.stringify(body))
      })
      const exported = yield* run(["contacts", "export", "--out", "out.csv"], { env })
      assert.deepStrictEqual([exported.code, exported.stdout], [10, ""])
      const status = yield* run(["exports", "status", id], { env })
      assert.deepStrictEqual([status.code, status.stdout], [10, `${JSON.stringify(state)}\n`])
      assert.deepStrictEqual(readdirSync(folder), [])

      // A file that cannot be written is found out before anything is asked of the service.
      requests.length = 0
      writeFileSync(join(folder, "mine.csv"), "mine")
      assert.strictEqual((yield* run(["contacts", "export", "--out", "mine.csv"], { env })).code, 2)
      assert.strictEqual((yield* run(["contacts", "export", "--out", "absent/out.csv"], { env })).code, 2)
      assert.deepStrictEqual(requests, [])
    })
  )
})
