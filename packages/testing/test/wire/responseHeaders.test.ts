/**
 * The headers of responses that keep what they hold out of caches, and from being taken for something else.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { everyRequest } from "../security/Access.ts"
import { type Answered, ask, askJson, jsonOf, succeeded, textField, Wire } from "./Wire.ts"

const isKept = ({ headers, status }: Pick<Answered, "headers" | "status">, what: string): void => {
  assert.match(String(headers["cache-control"]), /(?:^|[ ,])no-store(?:$|,)/, `${what}: ${status}`)
  assert.strictEqual(headers["x-content-type-options"], "nosniff", `${what}: ${status}`)
}

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("headers of responses", (it) => {
  it.effect("no refusal of any operation is stored or sniffed", () =>
    Effect.gen(function* () {
      for (const { id, method, path } of everyRequest) {
        isKept(yield* ask(method, path), id)
        isKept(yield* ask(method, path, { headers: { "Content-Type": "text/plain" }, body: "x" }), `${id} with a text`)
      }
      isKept(yield* ask("GET", "/contacts", { key: null }), "a request without a key")
      isKept(yield* ask("GET", "/nothing"), "an unknown path")
      isKept(yield* ask("PATCH", "/contacts"), "a method that the path does not have")
    })
  )

  it.effect("no success is stored or sniffed, be it the file of an export or the description of the interface", () =>
    Effect.gen(function* () {
      isKept(yield* askJson("POST", "/contacts", [{ Email: "kept@example.com" }]), "an add")
      isKept(yield* ask("GET", "/contacts/kept@example.com"), "a contact")
      isKept(yield* ask("HEAD", "/contacts/kept@example.com"), "a contact without its body")
      isKept(yield* ask("GET", "/contacts"), "a page")
      isKept(yield* askJson("POST", "/security/apikeys", { Name: "kept", AccessLevel: [] }), "a new key")
      isKept(yield* ask("DELETE", "/security/apikeys/kept"), "an empty answer")
      isKept(yield* ask("GET", "/openapi.json", { key: null }), "the description")
      const { served } = yield* Wire
      const page = yield* Effect.promise(() => fetch(new URL("/docs", served.baseUrl)))
      assert.strictEqual(page.status, 200)
      assert.include(yield* Effect.promise(() => page.text()), "SwaggerUIBundle")
      isKept({ status: page.status, headers: Object.fromEntries(page.headers) }, "the page about it")
      const link = succeeded(yield* ask("POST", "/contacts/export?emails=kept@example.com"), 202)
      const status = `/contacts/export/${textField(link, "PublicExportID")}/status`
      yield* eventually(ask("GET", status), (answer) => jsonOf(answer) === "Ready")
      const path = new URL(textField(link, "Link")).pathname.replace(/^\/v4/, "")
      const file = yield* ask("GET", path, { key: null })
      assert.include(file.text, "kept@example.com")
      isKept(file, "a file")
      isKept(yield* ask("GET", path, { key: null, headers: { Range: "bytes=3-" } }), "the rest of a file")
      isKept(yield* ask("GET", path, { key: null, headers: { Range: "bytes=999999-" } }), "a range behind the file")
    })
  )
})
