/** Official clients in front of `roster serve --faults FILE`, through each kind of fault. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { FaultPlan } from "@roster/domain"
import { Effect, Exit, FileSystem, Path, Redacted, Schema } from "effect"
import { serveProcess, ServeProcessFailed } from "../../src/index.ts"
import { axiosClient } from "./AxiosClient.ts"
import type { Answer } from "./OfficialClient.ts"
import { superagentClient } from "./SuperagentClient.ts"

const plan = FaultPlan.make({
  "contacts.add": {
    1: FaultPlan.rateLimited(7),
    2: FaultPlan.unavailable(8),
    3: FaultPlan.unauthorized,
    4: FaultPlan.cutBefore,
    5: FaultPlan.cutAfter,
    6: FaultPlan.cutBody,
    7: FaultPlan.delay("300 millis")
  },
  "contacts.get": { every: FaultPlan.rateLimited(7) },
  "contacts.exportStatus": { 1: FaultPlan.unavailable() },
  "apiKeys.get": { every: FaultPlan.unauthorized }
})

const written = Effect.fnUntraced(function* (text: string) {
  const fs = yield* FileSystem.FileSystem
  const file = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "faults.json")
  yield* fs.writeFileString(file, text)
  return file
})

const json = Schema.encodeEffect(Schema.fromJsonString(FaultPlan.FaultPlan))

describe("roster serve --faults", () => {
  it.live.each([
    ["@elasticemail/elasticemail-client-ts-axios", axiosClient],
    ["@elasticemail/elasticemail-client", superagentClient]
  ] as const)("lets the calls of %s fail that the plan names", ([, make]) =>
    Effect.gen(function* () {
      const served = yield* serveProcess({ args: ["--faults", yield* written(yield* json(plan))] })
      const client = make(served.baseUrl, Redacted.value(served.apiKey))
      let number = 0
      const add = Effect.suspend(() => {
        const Email = `ann${++number}@example.com`
        return Effect.exit(Effect.tryPromise(() => client.contactsPost([{ Email }])))
      })
      const emails = Effect.promise(() => client.contactsGet(100)).pipe(Effect.map(({ data }) => JSON.stringify(data)))
      // The error of axios for half an answer has its status and no data.
      const status = (exit: Exit.Exit<Answer, unknown>) =>
        Exit.isSuccess(exit) && exit.value.data !== undefined ? exit.value.status : "no answer"
      const isThere = Effect.map(emails, (all) => all.includes(`"ann${number}@example.com"`))

      const seen: Array<readonly [status: number | string, isThere: boolean]> = []
      for (let call = 1; call <= 6; call++) seen.push([status(yield* add), yield* isThere])
      assert.deepStrictEqual(seen, [
        [429, false],
        [503, false],
        [401, false],
        ["no answer", false],
        ["no answer", true],
        ["no answer", true]
      ])
      const since = performance.now()
      assert.strictEqual(status(yield* add), 200)
      assert.isAtLeast(performance.now() - since, 290)
      assert.strictEqual(status(yield* add), 200)

      const found = yield* Effect.promise(() =>
        fetch(`${served.baseUrl}/contacts/ann5@example.com`, {
          headers: { "X-Service-ApiKey": Redacted.value(served.apiKey) }
        })
      )
      assert.deepStrictEqual([found.status, found.headers.get("retry-after")], [429, "7"])
      // A route with a parameter is another one than the list below it.
      assert.strictEqual((yield* Effect.promise(() => client.securityApikeysByNameGet("admin"))).status, 401)
      assert.strictEqual((yield* Effect.promise(() => client.securityApikeysGet())).status, 200)
      assert.include(served.output(), "This service is for tests.")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("refuses a file that is no plan", () =>
    Effect.gen(function* () {
      const failed = yield* Effect.flip(serveProcess({ args: ["--faults", yield* written('{"contacts.ad": {}}')] }))
      assert.instanceOf(failed, ServeProcessFailed)
      assert.include(failed.message, "exit code 2")
      assert.include(failed.message, "is not an operation: write one of contacts.get, contacts.list")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
