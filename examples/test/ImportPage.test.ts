/** The page takes a file, and says how far its import is until it is done. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, FaultPlan } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { RunLog } from "@roster/workflows"
import { Context, Effect, Layer, Schedule } from "effect"
import { HttpRouter } from "effect/http"
import { importPage, maximumFile, maximumImports } from "../src/ImportPage.ts"

/** The page as a function of requests, and the contacts behind it. */
const opened = Effect.fnUntraced(function* (plan: FaultPlan.FaultPlan = FaultPlan.make({})) {
  const services = yield* Layer.build(Layer.merge(layerMemory().pipe(FaultPlan.layer(plan)), RunLog.layerMemory()))
  const { handler } = yield* Effect.acquireRelease(
    Effect.sync(() =>
      HttpRouter.toWebHandler(Layer.provide(importPage, Layer.succeedContext(services)), { disableLogger: true })
    ),
    ({ dispose }) => Effect.promise(dispose)
  )
  const ask = (path: string, init?: RequestInit) =>
    Effect.promise(() => handler(new Request(new URL(path, "http://localhost"), init)))
  const put = (body: string | Uint8Array<ArrayBuffer>) => ask("/imports", { method: "POST", body })
  const state = (path: string): Effect.Effect<{ readonly state: string }> =>
    Effect.flatMap(ask(path), (answer) => Effect.promise(() => answer.json()))
  const ended = (answer: Response) =>
    Effect.repeat(state(answer.headers.get("location") ?? ""), {
      schedule: Schedule.spaced("20 millis"),
      until: (now) => now.state !== "running"
    })
  return { ask, put, ended, contacts: Context.get(services, ContactsService) }
})

describe("the page that imports", () => {
  it.live("shows a form, and imports a file in the background", () =>
    Effect.gen(function* () {
      const { ask, contacts, ended, put } = yield* opened()
      const form = yield* ask("/")
      assert.include(yield* Effect.promise(() => form.text()), "<input")
      const answer = yield* put("Email,FirstName\nann@example.com,Ann\nben at example.com,Ben\n")
      assert.strictEqual(answer.status, 202)
      const { rejected, ...done }: Record<string, unknown> = yield* ended(answer)
      assert.deepStrictEqual(done, { state: "done", done: 1 })
      assert.match(String(rejected), /^line 3: /)
      assert.strictEqual((yield* contacts.get("ann@example.com")).firstName, "Ann")
    })
  )

  it.live("says why a file cannot be imported", () =>
    Effect.gen(function* () {
      const { ended, put } = yield* opened(FaultPlan.make({ "contacts.change": { every: FaultPlan.unauthorized } }))
      const unreadable = yield* ended(yield* put("Name\nAnn\n"))
      assert.deepInclude(unreadable, { state: "failed" })
      const refused = yield* ended(yield* put("Email\nann@example.com\n"))
      assert.include(JSON.stringify(refused), "does not accept the API key")
    })
  )

  it.live("takes files and remembers imports up to its limits", () =>
    Effect.gen(function* () {
      const { ask, ended, put } = yield* opened()
      const size = Number(maximumFile)
      assert.strictEqual((yield* put(new Uint8Array(size + 1))).status, 413)
      const first = yield* put(new TextEncoder().encode("Email\nann@example.com".padEnd(size)))
      yield* ended(first)
      for (let more = 1; more < maximumImports; more++) yield* put("Email\n")
      const path = first.headers.get("location") ?? ""
      assert.strictEqual((yield* ask(path)).status, 200)
      yield* put("Email\n")
      assert.strictEqual((yield* ask(path)).status, 404)
    })
  )
})
