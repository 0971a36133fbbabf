/** Large requests and answers on a file. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem } from "effect"
import { DatabaseSync } from "node:sqlite"
import { largeRequestCases, served } from "./LargeRequests.ts"

const freshFile = Effect.flatMap(FileSystem.FileSystem, (files) =>
  files.makeTempDirectoryScoped({ prefix: "roster-large-" })
).pipe(Effect.provide(NodeServices.layer))

largeRequestCases(
  "large requests and answers",
  Effect.map(freshFile, (folder) => ({ filename: `${folder}/roster.db` }))
)

/** As many contacts of which nothing but an address is given. */
const minimal = (count: number) => Array.from({ length: count }, (_, index) => ({ Email: `small${index}@example.com` }))

describe("requests that take some milliseconds", () => {
  it.live("few of many adds, deletes or pages that arrive together go before a small request", () =>
    Effect.gen(function* () {
      const { ask } = yield* served({ filename: `${yield* freshFile}/roster.db` })
      const ordinary = { Email: "ordinary@example.com" }
      for (const [what, method, path, body] of [
        ["adds", "POST", "/contacts", JSON.stringify(minimal(950))],
        ["deletes", "POST", "/contacts/delete", JSON.stringify({ Emails: minimal(1200).map(({ Email }) => Email) })],
        ["pages", "GET", "/contacts?limit=1000", ""]
      ] as const) {
        assert.strictEqual((yield* ask("POST", "/contacts", JSON.stringify([...minimal(950), ordinary]))).status, 200)
        let done = 0
        const one = Effect.map(ask(method, path, body), ({ status }) => {
          done++
          return status
        })
        const together = Effect.all(
          Array.from({ length: 48 }, () => one),
          { concurrency: "unbounded" }
        )
        const before = Effect.map(ask("GET", `/contacts/${ordinary.Email}`), ({ status }) => [status, done] as const)
        const [statuses, [status, between]] = yield* Effect.all([together, before], { concurrency: "unbounded" })
        assert.deepStrictEqual(new Set(statuses), new Set([200]), what)
        assert.strictEqual(status, 200, what)
        assert.isBelow(between, 16, what)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("one that waits for the lock of the store does not keep the next", () =>
    Effect.gen(function* () {
      const filename = `${yield* freshFile}/roster.db`
      const { ask } = yield* served({ filename })
      const other = yield* Effect.acquireRelease(
        Effect.sync(() => new DatabaseSync(filename, { timeout: 5000 })),
        (store) => Effect.sync(() => store.close())
      )
      other.exec("BEGIN IMMEDIATE")
      const first = ask("POST", "/contacts", JSON.stringify(minimal(100)))
      const waits = yield* Effect.forkChild(first, { startImmediately: true })
      const wrong = yield* ask("POST", "/contacts", JSON.stringify([...minimal(100), { Email: "nobody" }]))
      assert.strictEqual(wrong.status, 400, wrong.text)
      other.exec("ROLLBACK")
      assert.strictEqual((yield* Fiber.join(waits)).status, 200)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
