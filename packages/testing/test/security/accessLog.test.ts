/**
 * The access log: one line for each response, in which nobody can be found.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { type Asked, ask, textField, Wire } from "../wire/Wire.ts"
import { everyRequest, unknownKey } from "./Access.ts"

const Line = Schema.fromJsonString(
  Schema.Struct({
    time: Schema.String,
    id: Schema.String,
    method: Schema.String,
    route: Schema.NullOr(Schema.String),
    status: Schema.NullOr(Schema.Int),
    duration: Schema.Finite,
    bytes: Schema.Int,
    peer: Schema.String,
    key: Schema.NullOr(Schema.String)
  })
)

/** The lines of the log, once there are so many. */
const linesOf = Effect.fnUntraced(function* (count: number) {
  const { served } = yield* Wire
  const lines = yield* eventually(
    Effect.sync(() =>
      served
        .output()
        .split("\n")
        .filter((line) => line.startsWith("{"))
    ),
    ({ length }) => length >= count
  )
  assert.strictEqual(lines.length, count)
  return yield* Effect.forEach(lines, (line) => Schema.decodeEffect(Line, { onExcessProperty: "error" })(line))
})

// Each is in a request, and in no line.
const canary = "canary"
const person = `${canary}.person@example.com`
const inPath = encodeURIComponent(person)
const json = (body: unknown): Asked => ({
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body)
})

layer(Wire.layerWith(["--access-log"]), { excludeTestServices: true, timeout: "60 seconds" })("access log", (it) => {
  it.effect("S36 holds the route, the status and the key's ends, and no e-mail, name, query or key", () =>
    Effect.gen(function* () {
      const { administratorKey, served } = yield* Wire
      const requests: Array<readonly [method: string, route: string | null, status: number]> = []
      const asked = Effect.fnUntraced(function* (method: string, path: string, route: string | null, options?: Asked) {
        const answered = yield* ask(method, path, options)
        requests.push([method, route === null ? null : `/v4${route}`, answered.status])
        return answered
      })
      yield* asked("POST", `/contacts?listnames=${canary}`, "/contacts", json([{ Email: person, FirstName: canary }]))
      yield* asked("GET", `/contacts/${inPath}`, "/contacts/{email}")
      yield* asked("GET", `/contacts/${inPath}?${canary}=1`, "/contacts/{email}")
      yield* asked("HEAD", `/contacts/${inPath}`, "/contacts/{email}")
      yield* asked("PUT", `/contacts/${inPath}`, "/contacts/{email}", json({ LastName: canary }))
      yield* asked("GET", `/contacts?rule=${encodeURIComponent(`firstname = '${canary}'`)}`, "/contacts")
      yield* asked("POST", "/contacts/delete", "/contacts/delete", json({ Emails: [person] }))
      yield* asked("POST", `/contacts/import?listName=${canary}`, "/contacts/import")
      const exported = yield* asked("POST", `/contacts/export?fileName=${canary}.csv`, "/contacts/export")
      const link = new URL(textField(JSON.parse(exported.text), "Link")).pathname.replace(/^\/v4/, "")
      yield* asked("GET", `${link.slice(0, -1)}x`, "/exports/{key}/{name}", { key: null })
      const key = { Name: canary, AccessLevel: ["ViewContacts"], Subaccount: person }
      const made = yield* asked("POST", "/security/apikeys", "/security/apikeys", json(key))
      const secret = textField(JSON.parse(made.text), "Token")
      yield* asked("GET", "/contacts", "/contacts", { key: secret })
      yield* asked("GET", "/security/apikeys", "/security/apikeys", { key: secret })
      yield* asked("GET", `/security/apikeys/${canary}?subaccount=${inPath}`, "/security/apikeys/{name}")
      yield* asked("DELETE", `/security/smtp/${inPath}`, "/security/smtp/{name}")
      yield* asked("GET", "/contacts", "/contacts", { key: unknownKey(7) })
      yield* asked("GET", "/contacts", "/contacts", { key: canary })
      yield* asked("GET", `/${canary}/${inPath}?${canary}`, null)
      yield* asked("PATCH", `/contacts/${inPath}`, null)
      yield* asked("GET", `/contacts/%00${canary}`, null)
      for (const { method, path } of everyRequest) {
        const route = path.replace(/\?.*/, "").replace("nobody@example.com", "{email}")
        const named = route.replace("none%40example.com", "{name}").replace(/[\da-f-]{36}/, "{id}")
        yield* asked(method, `${path}&${canary}=${inPath}`, named)
      }
      const lines = yield* linesOf(requests.length)
      assert.deepStrictEqual(
        lines.map(({ method, route, status }) => [method, route, status]),
        requests.map((one) => [...one])
      )
      assert.notInclude(served.output(), canary)
      for (const hidden of [administratorKey, secret, unknownKey(7), link.split("/")[2] ?? "", "nobody@example"])
        assert.notInclude(served.output(), hidden)
      const hint = (token: string) => `roster_…${token.slice(-4)}`
      assert.strictEqual(lines[0]?.key, hint(administratorKey))
      const keys = new Set(lines.map(({ key }) => key))
      assert.deepStrictEqual(keys, new Set([hint(administratorKey), hint(secret), null]))
      assert.deepStrictEqual([...new Set(lines.map(({ peer }) => peer))], ["127.0.0.1"])
      assert.strictEqual(new Set(lines.map(({ id }) => id)).size, lines.length)
      for (const { bytes, duration, time } of lines) {
        assert.isAbove(bytes, 0)
        assert.isAtLeast(duration, 0)
        assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      }
    })
  )
})
