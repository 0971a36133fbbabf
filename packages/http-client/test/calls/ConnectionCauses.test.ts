import { assert, describe, it } from "@effect/vitest"
import { HttpClientError, HttpClientRequest } from "effect/http"
import { transportFailure } from "../../src/calls/ErrorClassification.ts"

const messageOf = (url: string, cause: object): string => {
  const request = HttpClientRequest.get(`${url}/v4/contacts`)
  const reason = new HttpClientError.TransportError({ request, cause: Object.assign(new Error("no"), cause) })
  return transportFailure("contactsGet", new HttpClientError.HttpClientError({ reason })).error.message
}

describe("a connection that failed", () => {
  it.for([
    ["http://127.0.0.1:23099", { code: "ECONNREFUSED", syscall: "connect" }, "nothing listens at 127.0.0.1:23099"],
    [
      "https://nosuch.example",
      { code: "ENOTFOUND", syscall: "getaddrinfo" },
      "nosuch.example is a name that nobody knows"
    ],
    ["https://far.example", { code: "UND_ERR_CONNECT_TIMEOUT" }, "far.example does not answer"],
    ["https://far.example", { code: "ETIMEDOUT", syscall: "connect" }, "far.example does not answer"],
    ["https://far.example", { code: "EHOSTUNREACH", syscall: "connect" }, "cannot be reached from this network"],
    ["http://a.example:443", { code: "UND_ERR_SOCKET" }, "if it speaks TLS, its address begins with https://"],
    [
      "https://a.example:80",
      { code: "ERR_SSL_WRONG_VERSION_NUMBER" },
      "speaks no TLS, so its address begins with http://"
    ],
    ["https://a.example", { code: "CERT_HAS_EXPIRED" }, "has a certificate that is no longer valid"],
    ["https://a.example", { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "of an authority that is not known here"],
    ["https://a.example", { code: "ERR_TLS_CERT_ALTNAME_INVALID" }, "has a certificate for other names"]
  ] as const)("at %s by %o is told in words", ([url, cause, words]) => {
    assert.include(messageOf(url, cause), words)
  })

  it("that was closed over TLS is not told to use TLS, and no code stands for words", () => {
    const message = messageOf("https://a.example", { code: "UND_ERR_SOCKET" })
    assert.include(message, "a.example closed the connection without an answer")
    assert.notMatch(message, /https:|UND_ERR/)
  })
})
