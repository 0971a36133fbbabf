import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { addressOf } from "../../../src/transport/undici/UndiciAddress.ts"

const Origin = Schema.Literals([
  "https://example.com",
  "http://127.0.0.1:8080",
  "HTTP://Example.COM:80",
  "https://[::1]:443",
  "https://bücher.example",
  "https://user:secret@example.com",
  "https://exa mple.com",
  "https://example.com:99999",
  "ftp://example.com",
  "example.com",
  ""
])
const Piece = Schema.Literals([
  "/",
  "/v4",
  "/contacts",
  "a",
  ".",
  "..",
  "%2e",
  "%2E.",
  "%40",
  "%",
  "ada@example.com",
  " ",
  "\t",
  "\\",
  "é",
  "'",
  "^",
  "|",
  "{",
  "`",
  ";a=b",
  "?limit=1",
  "?",
  "#",
  "#a"
])

describe("addressOf", () => {
  it.prop(
    "says of an address what URL says",
    [Origin, Schema.Array(Piece)],
    ([origin, pieces]) => {
      const text = origin + pieces.join("")
      const url = URL.parse(text)
      const expected =
        url === null || !/^https?:$/.test(url.protocol)
          ? undefined
          : { origin: url.origin, path: url.pathname + url.search, href: url.href.split("#", 1)[0] }
      const said = addressOf(HttpClientRequest.get(text))
      assert.deepStrictEqual(Result.isSuccess(said) ? said.success : undefined, expected)
    },
    { arbitrary: { runs: 3000 } }
  )
})
