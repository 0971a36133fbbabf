import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { expireKey, makeKey } from "../security/Access.ts"
import { ask, askJson, refusedWith, succeeded, textField, Wire } from "./Wire.ts"

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("access on the wire", (it) => {
  describe("a key", () => {
    it.effect("may stand in either header, whatever the case of its name, behind a scheme word", () =>
      Effect.gen(function* () {
        const { administratorKey } = yield* Wire
        for (const name of ["X-Service-ApiKey", "x-service-apikey", "X-ElasticEmail-ApiKey", "X-ELASTICEMAIL-APIKEY"]) {
          for (const value of [administratorKey, `Bearer ${administratorKey}`]) {
            succeeded(yield* ask("GET", "/contacts", { key: null, headers: { [name]: value } }))
          }
        }
        const names = ["X-Service-ApiKey", "X-ELASTICEMAIL-APIKEY"]
        const wrong = names.flatMap((name) => [
          [name, administratorKey.slice(0, -1)] as const,
          [name, administratorKey.toUpperCase()] as const,
          ["Authorization", `Bearer ${administratorKey}`] as const
        ])
        const answers = yield* Effect.forEach(
          wrong,
          ([name, key]) => ask("GET", `/contacts?apikey=${administratorKey}`, { key: null, headers: { [name]: key } }),
          { concurrency: "unbounded" }
        )
        for (const answer of answers) assert.include(refusedWith(answer, 401), "X-Service-ApiKey")
      })
    )

    it.effect("that has expired is 401", () =>
      Effect.gen(function* () {
        const payload = { Name: "expired", AccessLevel: ["ViewContacts"] }
        const key = yield* makeKey(payload)
        succeeded(yield* ask("GET", "/contacts", { key }))
        yield* expireKey(payload, key)
        refusedWith(yield* ask("GET", "/contacts", { key }), 401)
        succeeded(
          yield* askJson("PUT", "/security/apikeys/expired", {
            Name: "expired",
            AccessLevel: ["ViewContacts"],
            Expires: null
          })
        )
        succeeded(yield* ask("GET", "/contacts", { key }))
      })
    )

    it.effect("S07 is 403 from outside its ranges", () =>
      Effect.gen(function* () {
        const key = yield* makeKey({
          Name: "ranged",
          AccessLevel: ["ViewContacts"],
          RestrictAccessToIPRange: ["10.0.0.0/8", "2001:db8::/32", "::1"]
        })
        refusedWith(yield* ask("GET", "/contacts", { key }), 403)
        // Whoever asks may write what they like into these.
        for (const name of ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
          refusedWith(yield* ask("GET", "/contacts", { key, headers: { [name]: "10.0.0.1" } }), 403)
        succeeded(
          yield* askJson("PUT", "/security/apikeys/ranged", {
            Name: "ranged",
            AccessLevel: ["ViewContacts"],
            RestrictAccessToIPRange: ["10.0.0.0/8", "127.0.0.0/8"]
          })
        )
        succeeded(yield* ask("GET", "/contacts", { key }))
      })
    )

    it.effect("says when it was last used", () =>
      Effect.gen(function* () {
        const key = yield* makeKey({ Name: "used", AccessLevel: ["ViewContacts"] })
        assert.include([null, undefined], Object(succeeded(yield* ask("GET", "/security/apikeys/used"))).LastUse)
        succeeded(yield* ask("GET", "/contacts", { key }))
        assert.match(
          textField(succeeded(yield* ask("GET", "/security/apikeys/used")), "LastUse"),
          /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
        )
      })
    )

    it.effect("of SMTP opens nothing here", () =>
      Effect.gen(function* () {
        const token = textField(
          succeeded(yield* askJson("POST", "/security/smtp", { Name: "smtp@example.com" }), 201),
          "Token"
        )
        refusedWith(yield* ask("GET", "/contacts", { key: token }), 401)
      })
    )
  })
})
