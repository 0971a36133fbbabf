import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf } from "../roster.ts"
import { fakeService } from "../service.ts"

const send = (from: string) => ["emails", "send", "--from", from, "--to", "ann@example.com", "--subject", "Hello"]

describe("roster emails on a local store", () => {
  it.live("are accepted from allowed senders, and can be listed and read", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const news = [...send("News <news@example.com>"), "--text", "Hello Ann"]
      const refused = yield* run(news)
      assert.deepStrictEqual([refused.code, failure(refused).code], [7, "NotAllowedSender"])
      assert.include(failure(refused).hint, "roster senders allow")

      assert.strictEqual((yield* run(["senders", "allow", "News@example.com"])).code, 0)
      const sent = yield* run(news)
      assert.strictEqual(sent.code, 0, sent.stderr)
      const { MessageID } = jsonOf<{ MessageID: string }>(sent)
      assert.strictEqual((yield* run([...send("boss@example.com"), "--text", "x"])).code, 7)
      yield* run(["senders", "allow", "*@example.com"])
      assert.strictEqual((yield* run([...send("boss@example.com"), "--html", "<p>x"])).code, 0)

      const listed = jsonOf<ReadonlyArray<Record<string, unknown>>>(yield* run(["emails", "list"]))
      assert.strictEqual(listed.length, 2)
      assert.deepInclude(
        listed.find((row) => row["MessageID"] === MessageID),
        { From: "News <news@example.com>", To: ["ann@example.com"], Subject: "Hello" }
      )
      assert.strictEqual(jsonOf<ReadonlyArray<unknown>>(yield* run(["emails", "list", "--limit", "1"])).length, 1)
      const one = yield* run(["emails", "get", MessageID])
      assert.deepInclude(Object(json(one)).Message.Content, {
        Body: [{ ContentType: "PlainText", Content: "Hello Ann", Charset: "utf-8" }]
      })
      const table = yield* run(["emails", "list", "-o", "table"])
      assert.match(table.stdout, /^MessageID +Accepted +From +To +Subject\n/)
      const none = yield* run(["emails", "get", "00000000-0000-4000-8000-000000000000"])
      assert.deepStrictEqual([none.code, failure(none).code], [5, "EmailNotFound"])

      assert.deepStrictEqual(json(yield* run(["senders", "list"])), [
        { Name: "news@example.com" },
        { Name: "*@example.com" }
      ])
      assert.strictEqual((yield* run(["senders", "remove", "*@example.com"])).code, 0)
      assert.strictEqual((yield* run([...send("boss@example.com"), "--text", "x"])).code, 7)
      assert.strictEqual((yield* run(["senders", "remove", "*@example.com"])).code, 2)
      // The profiles and the senders do not know of each other.
      yield* run(["auth", "login", "--base-url", "https://example.com/v4", "--no-check"], { input: "test-key" })
      yield* run(["profile", "remove", "default"])
      const config = readFileSync(join(folder, ".config", "roster", "config.json"), "utf8")
      assert.deepInclude(JSON.parse(config), { profiles: {}, allowedSenders: ["news@example.com"] })
    })
  )

  it.live("has a bound for the senders", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      yield* run(["senders", "allow", "first@example.com"])
      const file = join(folder, ".config", "roster", "config.json")
      const allowedSenders = Array.from({ length: 999 }, (_, i) => `s${i}@example.com`)
      writeFileSync(file, JSON.stringify({ version: 1, profiles: {}, allowedSenders }))
      assert.strictEqual((yield* run(["senders", "allow", "last@example.com"])).code, 0)
      const beyond = yield* run(["senders", "allow", "more@example.com"])
      assert.deepStrictEqual([beyond.code, failure(beyond).code], [2, "UsageError"])
      assert.include(failure(beyond).message, "1000")
      assert.strictEqual((yield* run(["senders", "allow", "last@example.com"])).code, 0)
    })
  )

  it.live("of a service cannot be read, which is said", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const { env, requests } = yield* fakeService((_, response) => response.writeHead(500).end())
      const refused = yield* run(["emails", "list"], { env })
      assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UsageError"])
      assert.deepStrictEqual(requests, [])
    })
  )
})
