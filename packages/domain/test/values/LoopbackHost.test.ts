import { assert, describe, it } from "@effect/vitest"
import { isLoopbackHost } from "@roster/domain/internal"

describe("a host", () => {
  it.each(["localhost", "LOCALHOST", "a.localhost", "a.b.localhost", "127.0.0.1", "127.8.9.10", "::1", "[::1]"])(
    "%s is this machine",
    (host) => assert.isTrue(isLoopbackHost(host))
  )

  it.each([
    "example.com",
    "localhost.example.com",
    "notlocalhost",
    ".localhost",
    "127.0.0.1.example.com",
    "0.0.0.0",
    "::",
    "[::1",
    ""
  ])("%s may be another one", (host) => assert.isFalse(isLoopbackHost(host)))
})
