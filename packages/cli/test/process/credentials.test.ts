import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf } from "../roster.ts"
import { fakeService, noContacts } from "../service.ts"

describe("roster apikeys and roster smtp", () => {
  it.live("create a key, show it without its secret, change only the given fields, and delete it", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const created = yield* run([
        "apikeys",
        "create",
        "ci",
        "--access",
        "ViewContacts,export",
        "--access",
        "Security",
        "--expires",
        "2090-12-31",
        "--ip-range",
        "192.0.2.0/24",
        "--ip-range",
        "2001:db8::/32"
      ])
      assert.strictEqual(created.code, 0, created.stderr)
      const { Token, ...key } = jsonOf<{ Token: string }>(created)
      assert.match(Token, /^\S{20,}$/)
      assert.deepNestedInclude(key, {
        Name: "ci",
        AccessLevel: ["ViewContacts", "Export", "Security"],
        Expires: "2090-12-31T00:00:00Z",
        RestrictAccessToIPRange: ["192.0.2.0/24", "2001:db8::/32"]
      })
      assert.deepStrictEqual(json(yield* run(["apikeys", "get", "ci"])), key)
      assert.deepStrictEqual(json(yield* run(["apikeys", "list"])), [key])

      const narrowed = yield* run(["apikeys", "update", "ci", "--access", "Export", "--rename", "ci-2"])
      assert.deepStrictEqual(json(narrowed), { ...key, Name: "ci-2", AccessLevel: ["Export"] })
      const freed = yield* run(["apikeys", "update", "ci-2", "--no-expiry", "--no-ip-range"])
      assert.deepStrictEqual(json(freed), {
        ...key,
        Name: "ci-2",
        AccessLevel: ["Export"],
        Expires: null,
        RestrictAccessToIPRange: []
      })

      const taken = yield* run(["apikeys", "create", "ci-2", "--access", "Export"])
      assert.deepStrictEqual([taken.code, failure(taken).code], [6, "NameTaken"])
      assert.strictEqual((yield* run(["apikeys", "delete", "ci-2"])).code, 3)
      assert.strictEqual((yield* run(["apikeys", "delete", "ci-2", "--yes"])).stdout, '{"ok":true}\n')
      const gone = yield* run(["apikeys", "get", "ci-2"])
      assert.deepStrictEqual([gone.code, failure(gone).code], [5, "CredentialNotFound"])
    })
  )

  it.live("make SMTP credentials under an address, and the same with them", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const created = yield* run(["smtp", "create", "shop@example.com", "--expires", "30d"])
      assert.strictEqual(created.code, 0, created.stderr)
      const { Token, ...smtp } = jsonOf<{ Token: string }>(created)
      assert.match(Token, /^\S{20,}$/)
      assert.include(smtp, { Name: "shop@example.com", AccessLevel: "SendSmtp" })
      assert.deepStrictEqual(json(yield* run(["smtp", "list"])), [smtp])
      const renamed = yield* run(["smtp", "update", "shop@example.com", "--rename", "sales@example.com", "--no-expiry"])
      assert.deepStrictEqual(json(renamed), { ...smtp, Name: "sales@example.com", Expires: null })
      assert.deepStrictEqual(json(yield* run(["smtp", "get", "sales@example.com"])), json(renamed))
      assert.strictEqual((yield* run(["smtp", "delete", "sales@example.com", "--yes"])).stdout, '{"ok":true}\n')
      assert.strictEqual((yield* run(["smtp", "list"])).stdout, "[]\n")
    })
  )

  it.live("keep those of a subaccount apart", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const team = ["--subaccount", "team@example.com"]
      assert.strictEqual((yield* run(["apikeys", "create", "ci", "--access", "Export", ...team])).code, 0)
      assert.strictEqual((yield* run(["apikeys", "get", "ci"])).code, 5)
      assert.include(json(yield* run(["apikeys", "get", "ci", ...team])), { Name: "ci" })
      assert.include(json(yield* run(["apikeys", "update", "ci", "--access", "Security", ...team])), { Name: "ci" })
      assert.strictEqual((yield* run(["apikeys", "list"])).stdout, "[]\n")
      assert.strictEqual((yield* run(["apikeys", "delete", "ci", "--yes", ...team])).code, 0)
    })
  )

  it.live("tell people that the secret is shown once", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const created = yield* run(["apikeys", "create", "ci", "--access", "Export", "-o", "table"])
      assert.match(created.stdout, /^Token +\S{20,}$/m)
      assert.match(created.stderr, /once/)
      assert.match((yield* run(["apikeys", "list", "-o", "table"])).stdout, /^Name +AccessLevel +Expires/)
    })
  )
})

describe("a write whose answer cannot be read", () => {
  const page = { "Content-Type": "text/html" }
  const json = { "Content-Type": "application/json" }
  const answers = [
    [201, page, "<html>Welcome</html>"],
    [201, json, "{}"],
    [204, {}, ""],
    [206, json, "{}"]
  ] as const

  it.live.each(answers)(
    "of %i %o %s may have been carried out, and the hint names how to look",
    ([status, headers, body]) =>
      Effect.gen(function* () {
        const { run } = yield* makeRosterHere
        // What is read before a write can be read.
        let answersReads = true
        const { env } = yield* fakeService((request, response) => {
          request.resume()
          if (answersReads && request.method === "GET") return noContacts(request, response)
          response.writeHead(status, headers)
          response.end(body)
        })
        const cases = [
          [["apikeys", "create", "ci", "--for", "contacts:read"], "roster apikeys get ci"],
          [
            ["smtp", "create", "shop@example.com", "--subaccount", "sub@example.com"],
            "roster smtp get shop@example.com --subaccount sub@example.com"
          ],
          [["contacts", "add", "ann@example.com"], "check before you repeat it"]
        ] as const
        for (const [args, look] of cases) {
          const ended = yield* run(args, { env })
          assert.strictEqual(ended.code, 8, ended.stderr)
          assert.include(failure(ended).hint, look)
          assert.match(failure(ended).hint, /^The service may have carried it out/)
        }
        answersReads = false
        const read = yield* run(["contacts", "get", "ann@example.com"], { env })
        assert.strictEqual(read.code, 8, read.stderr)
        assert.notMatch(failure(read).hint, /carried it out/)
      })
  )

  it.live("of a 404 may have been carried out where a page says it, and was not where the service says it", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      for (const [answer, type, isUnread] of [
        ["<html>Not here</html>", page, true],
        ['{"Error":"Not here."}', { "Content-Type": "application/json" }, false]
      ] as const) {
        const { env } = yield* fakeService((request, response) => {
          request.resume()
          response.writeHead(404, type)
          response.end(answer)
        })
        const ended = yield* run(["apikeys", "create", "ci", "--for", "contacts:read"], { env })
        assert.strictEqual(/carried it out/.test(failure(ended).hint), isUnread, ended.stderr)
      }
    })
  )
})
