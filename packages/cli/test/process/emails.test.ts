import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

const send = (from: string) => ["emails", "send", "--from", from, "--to", "ann@example.com", "--subject", "Hello"]

describe("roster emails", () => {
  it.live("are accepted from any sender, and can be listed and read", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const news = [...send("News <news@example.com>"), "--text", "Hello Ann"]
      const sent = yield* run(news)
      assert.strictEqual(sent.code, 0, sent.stderr)
      const { MessageID } = jsonOf<{ MessageID: string }>(sent)
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
      assert.match(table.stdout, /^MessageID +Accepted \(UTC\) +From +To +Subject\n/)
      const none = yield* run(["emails", "get", "00000000-0000-4000-8000-000000000000"])
      assert.deepStrictEqual([none.code, failure(none).code], [5, "EmailNotFound"])
    })
  )

  it.live("are read on a service too, and of one that keeps none it is said", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* serveWithKey(folder)
      assert.strictEqual((yield* run(["emails", "list"], { env })).stdout, "[]\n")
      const foreign = yield* fakeService((_, response) => response.writeHead(404).end())
      const refused = yield* run(["emails", "list"], { env: foreign.env })
      assert.deepStrictEqual([refused.code, failure(refused).code], [7, "Rejected"])
      assert.include(failure(refused).message, "this service does not tell it")
    })
  )
})
