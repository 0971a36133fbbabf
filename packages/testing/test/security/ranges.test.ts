/**
 * Keys with many ranges: bounded, and compared in no more time than it takes to read them.
 */
import { assert, layer } from "@effect/vitest"
import { maximumIpRanges } from "@roster/domain"
import { Effect } from "effect"
import { askJson, refusedWith, succeeded, Wire } from "../wire/Wire.ts"
import { deleteKey, makeKey } from "./Access.ts"

const loopback = "127.0.0.0/8"
const ranges = (count: number) => [
  ...Array.from({ length: count - 1 }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`),
  loopback
]

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("keys with many ranges", (it) => {
  it.effect("as many as there may be are used and given on", () =>
    Effect.gen(function* () {
      const RestrictAccessToIPRange = ranges(maximumIpRanges)
      const payload = { Name: "many", AccessLevel: ["ModifyAccessTokens"], RestrictAccessToIPRange }
      const key = yield* makeKey(payload)
      const given = yield* askJson("POST", "/security/apikeys", { ...payload, Name: "given" }, { key })
      assert.deepStrictEqual(Object(succeeded(given, 201)).RestrictAccessToIPRange, RestrictAccessToIPRange)
      const wider = { ...payload, Name: "wider", RestrictAccessToIPRange: ["10.0.0.0/31"] }
      assert.include(refusedWith(yield* askJson("POST", "/security/apikeys", wider, { key }), 403), loopback)
      yield* deleteKey("given")
      yield* deleteKey("many")
    })
  )

  it.effect("one more is refused by its field, and so are very many", () =>
    Effect.gen(function* () {
      yield* makeKey({ Name: "some", AccessLevel: [] })
      for (const count of [maximumIpRanges + 1, 15_001]) {
        for (const path of ["/security/apikeys", "/security/apikeys/some", "/security/smtp"]) {
          const payload = { Name: "some", AccessLevel: [], RestrictAccessToIPRange: ranges(count) }
          const named = path.endsWith("smtp")
            ? { ...payload, Name: "some@example.com", AccessLevel: undefined }
            : payload
          const text = refusedWith(yield* askJson(path.endsWith("/some") ? "PUT" : "POST", path, named), 400)
          assert.match(text, count > 10_000 ? /more than 10000 names/ : /RestrictAccessToIPRange.*at most 256/)
        }
      }
      yield* deleteKey("some")
    })
  )
})
