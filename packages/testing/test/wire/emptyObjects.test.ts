/** What languages whose empty map is an empty list send for an empty object: `[]`. It means what `{}` means. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { askJson, Wire } from "./Wire.ts"

const Email = "empty@objects.example"
const Content = { From: "john@example.com", Body: [{ ContentType: "PlainText", Content: "Hi" }] }
const Recipients = [{ Email: "someone@elsewhere.test" }]

/** Bodies with a place for an object. */
const bodies: ReadonlyArray<readonly [method: string, path: string, body: (object: unknown) => unknown]> = [
  ["POST", "/contacts", (object) => [object]],
  ["POST", "/contacts", (object) => [{ Email, CustomFields: object }]],
  ["POST", "/contacts", (object) => [{ Email, Consent: object }, object]],
  // One that is cut into parts.
  ["POST", "/contacts", (object) => [...Array(3000).keys()].map(() => ({ Email, CustomFields: object }))],
  ["PUT", `/contacts/${Email}`, (object) => object],
  ["PUT", `/contacts/${Email}`, (object) => ({ FirstName: "Ada", CustomFields: object })],
  ["POST", "/contacts/changes", (object) => [{ Email, Seen: object, Write: object }]],
  ["POST", "/contacts/changes", (object) => [{ Email, Seen: null, Write: { CustomFields: object, Consent: object } }]],
  ["POST", "/contacts/delete", (object) => object],
  ["POST", "/contacts/export", (object) => object],
  ["POST", "/contacts/lookup", (object) => object],
  ["POST", "/lists", (object) => object],
  ["POST", "/security/apikeys", (object) => object],
  ["POST", "/security/smtp", (object) => object],
  ["POST", "/emails", (object) => object],
  ["POST", "/emails", (object) => ({ Recipients: [{ ...Recipients[0], Fields: object }], Content, Options: object })],
  [
    "POST",
    "/emails",
    (object) => ({ Recipients, Content: { ...Content, Merge: object, Headers: object, Utm: object } })
  ],
  ["POST", "/emails", (object) => ({ Recipients, Content: object })],
  ["POST", "/emails", (object) => ({ Recipients: [object], Content })]
]

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("an empty list for an object", (it) => {
  it.effect.each(bodies.map((body, index) => [index, ...body] as const))(
    "is the empty one: body %i, %s %s",
    ([, method, path, body]) =>
      Effect.gen(function* () {
        yield* askJson("POST", "/contacts", [{ Email }])
        const asObject = yield* askJson(method, path, body({}))
        const asList = yield* askJson(method, path, body([]))
        assert.strictEqual(asList.status, asObject.status)
        if (asObject.status >= 400) assert.deepStrictEqual(asList.text, asObject.text)
      })
  )

  it.effect("does not stand for an object that has something", () =>
    Effect.gen(function* () {
      const answer = yield* askJson("POST", "/contacts", [{ Email, CustomFields: ["x"] }])
      assert.strictEqual(answer.status, 400)
    })
  )
})
