import { assert, describe, it } from "@effect/vitest"
import { InterimResponses } from "../../../src/transport/undici/UndiciAgent.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

/** What undici reads, when the connection brings `text` in pieces of `size` bytes. */
const rewritten = (text: string, size: number, interim = new InterimResponses()): string => {
  const all = bytes(text)
  interim.expectHead()
  for (let start = 0; start < all.length; start += size) interim.rewrite(all.subarray(start, start + size))
  return new TextDecoder().decode(all)
}

const final = "HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\nHTTP/1.1 100 no\n"

describe("InterimResponses", () => {
  for (const size of [1, 2, 3, 7, 1000]) {
    it(`changes each 100 before the final head, in pieces of ${size}`, () => {
      const hundred = "HTTP/1.1 100 Continue\r\n\r\n"
      const hints = "HTTP/1.1 103 Early Hints\r\nlink: </HTTP/1.1 100 >\r\n\r\n"
      const expected = hundred.replace("100", "102") + hints + hundred.replace("100", "102") + final
      assert.strictEqual(rewritten(hundred + hints + hundred + final, size), expected)
    })
    it(`leaves everything else as it is, in pieces of ${size}`, () => {
      for (const text of [
        final,
        "SSH-2.0-O100\r\n\r\nHTTP/1.1 100 ",
        "HTTP/2.1x100",
        "HTTP/1.1 110 \r\n\r\n" + final,
        "HTTP/1.1 101 \r\n\r\n" + final,
        "HTTP/1.1 199 \r\n\r\n" + final
      ]) {
        assert.strictEqual(rewritten(text, size), text)
      }
    })
  }

  it("looks at nothing before a request is written, and again after each", () => {
    const interim = new InterimResponses()
    const early = bytes("HTTP/1.1 100 Continue\r\n\r\n")
    interim.rewrite(early)
    assert.strictEqual(new TextDecoder().decode(early), "HTTP/1.1 100 Continue\r\n\r\n")
    assert.strictEqual(rewritten(final, 5, interim), final)
    assert.include(rewritten("HTTP/1.0 100 Continue\r\n\r\n" + final, 5, interim), "HTTP/1.0 102 Continue")
  })
})
