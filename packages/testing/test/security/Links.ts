/** The links of exports: they end with the key that asked for them, and so with the grace of a rotation. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema, type Scope } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { served } from "../wire/LargeRequests.ts"

const Made = Schema.fromJsonString(Schema.Struct({ Token: Schema.String }))
const Link = Schema.fromJsonString(Schema.Struct({ Link: Schema.String, PublicExportID: Schema.String }))

const levels = ["Export", "ViewContacts"]

/** What can happen to a key, and whether the links that it made still work. */
const changes: ReadonlyArray<
  readonly [what: string, works: boolean, calls: ReadonlyArray<readonly [method: string, path: string, body: unknown]>]
> = [
  ["is as it was", true, []],
  ["is renamed", true, [["PUT", "/held", { Name: "other", AccessLevel: levels }]]],
  ["is deleted", false, [["DELETE", "/held", undefined]]],
  ["may no longer export", false, [["PUT", "/held", { Name: "held", AccessLevel: ["ViewContacts"] }]]],
  [
    "is bound to other addresses",
    false,
    [["PUT", "/held", { Name: "held", AccessLevel: levels, RestrictAccessToIPRange: ["192.0.2.1"] }]]
  ],
  [
    "is deleted, and another one has its name",
    false,
    [
      ["DELETE", "/held", undefined],
      ["POST", "", { Name: "held", AccessLevel: levels }]
    ]
  ],
  [
    "is replaced by a rotation, for as long as it works",
    true,
    [
      ["POST", "", { Name: "held~next", AccessLevel: levels }],
      ["PUT", "/held", { Name: "held~old-2099-01-02", Expires: "2099-01-02T00:00:00Z", AccessLevel: levels }],
      ["PUT", "/held~next", { Name: "held", AccessLevel: levels }]
    ]
  ],
  [
    "is replaced by a rotation without a grace",
    false,
    [
      ["POST", "", { Name: "held~next", AccessLevel: levels }],
      ["DELETE", "/held", undefined],
      ["PUT", "/held~next", { Name: "held", AccessLevel: levels }]
    ]
  ]
]

/** The status of a link, and whether the file holds the contact. */
const downloaded = (origin: string, link: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${origin}${new URL(link).pathname}`)
    return [response.status, (await response.text()).includes("ann@example.com")] as const
  })

export const linkCases = <E>(store: Effect.Effect<Parameters<typeof served>[0], E, Scope.Scope>) => {
  it.live.each(changes)("the link of an export whose key %s: works is %s", ([, works, calls]) =>
    Effect.gen(function* () {
      const { ask, origin } = yield* served(yield* store)
      yield* ask("POST", "/contacts", JSON.stringify([{ Email: "ann@example.com" }]))
      const made = yield* ask("POST", "/security/apikeys", JSON.stringify({ Name: "held", AccessLevel: levels }))
      const { Token } = yield* Schema.decodeEffect(Made)(made.text)
      const key = { "X-Service-ApiKey": Token }
      const asked = yield* ask("POST", "/contacts/export", "", key)
      const { Link: link, PublicExportID } = yield* Schema.decodeEffect(Link)(asked.text)
      yield* eventually(
        ask("GET", `/contacts/export/${PublicExportID}/status`, "", key),
        ({ text }) => text === '"Ready"'
      )
      const download = downloaded(origin, link)
      assert.deepStrictEqual(yield* download, [200, true])
      for (const [method, path, body] of calls) {
        const { status, text } = yield* ask(
          method,
          `/security/apikeys${path}`,
          body === undefined ? "" : JSON.stringify(body)
        )
        assert.include([200, 201], status, text)
      }
      assert.deepStrictEqual(yield* download, works ? [200, true] : [404, false])
    }).pipe(Effect.scoped)
  )

  it.live("the link of an export that is asked for again is a new one, which ends the one before", () =>
    Effect.gen(function* () {
      const { ask, origin } = yield* served(yield* store)
      yield* ask("POST", "/contacts", JSON.stringify([{ Email: "ann@example.com" }]))
      const asking = (query = "") =>
        Effect.map(ask("POST", `/contacts/export${query}`, "", { "Idempotency-Key": "one" }), ({ status, text }) => {
          assert.strictEqual(status, 202, text)
          return Schema.decodeSync(Link)(text)
        })
      const first = yield* asking()
      const second = yield* asking()
      assert.strictEqual(second.PublicExportID, first.PublicExportID)
      yield* eventually(ask("GET", `/contacts/export/${first.PublicExportID}/status`), ({ text }) => text === '"Ready"')
      assert.deepStrictEqual(yield* downloaded(origin, first.Link), [404, false])
      assert.deepStrictEqual(yield* downloaded(origin, second.Link), [200, true])
      const byId = second.Link.replace(/exports\/[^/]+/, `exports/${first.PublicExportID}`)
      assert.deepStrictEqual(yield* downloaded(origin, byId), [404, false])
      const another = yield* ask("POST", "/contacts/export?fileFormat=Json", "", { "Idempotency-Key": "one" })
      assert.strictEqual(another.status, 409, another.text)
    }).pipe(Effect.scoped)
  )
}
