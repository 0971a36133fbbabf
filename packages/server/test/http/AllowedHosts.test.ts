import { assert, describe, it } from "@effect/vitest"
import { Context } from "effect"
import { Headers, HttpServerRequest } from "effect/http"
import { publicAddress, refusedHost, allowedHosts, AllowedHosts } from "../../src/http/AllowedHosts.ts"

const request = (host: string) =>
  HttpServerRequest.fromWeb(new Request("http://ignored/v4/contacts")).modify({ headers: Headers.fromInput({ host }) })

const served = (host: string, publicUrl?: string) =>
  Context.make(AllowedHosts, allowedHosts(host, publicUrl === undefined ? undefined : new URL(publicUrl), "http"))

describe("the names of a service", () => {
  it.each(["roster", "Roster:4010", "ROSTER", "localhost", "10.0.0.1:80"])(
    "are accepted with the host that it listens on: %s",
    (host) => {
      const context = served("Roster")
      assert.isUndefined(refusedHost(request(host), context))
      assert.strictEqual(publicAddress(request(host), context), `http://${host}/v4`)
    }
  )

  it.each(["", "0.0.0.0", "::", "10.0.0.1"])("are none that are merely made up, where it listens on %s", (host) => {
    for (const other of ["", "other", "roster.example"]) {
      assert.strictEqual(refusedHost(request(other), served(host, "https://roster.test"))?.status, 421)
    }
  })

  it("are not checked within a process", () => {
    assert.isUndefined(refusedHost(request("anything"), Context.empty()))
  })
})
