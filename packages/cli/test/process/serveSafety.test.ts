import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { existsSync, readdirSync } from "node:fs"
import { type AddressInfo, connect, createServer } from "node:net"
import { networkInterfaces } from "node:os"
import { join } from "node:path"
import { makeRosterHere } from "../inProcess.ts"
import { failure, jsonOf, temporaryFolder } from "../roster.ts"
import { serve, stop } from "../service.ts"

/** Addresses of this machine at which others may reach it. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ family, internal }) => family === "IPv4" && !internal)
  .map(({ address }) => address)

const isOpen = (host: string, port: number) =>
  Effect.promise(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, host)
        socket.once("connect", () => {
          socket.destroy()
          resolve(true)
        })
        socket.once("error", () => resolve(false))
      })
  )

const emailsOf = (listed: { readonly stdout: string }) =>
  jsonOf<ReadonlyArray<{ readonly Email: string }>>(listed).map(({ Email }) => Email)

describe("roster serve", () => {
  it.live("K19 listens on the loopback address by default, and warns about any other", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const own = yield* serve(folder, ["--db", "own.db", "--key-file", join(folder, "own.key")])
      const { hostname, port } = new URL(own.address)
      assert.strictEqual(hostname, "127.0.0.1")
      assert.isTrue(yield* isOpen("127.0.0.1", Number(port)))
      for (const host of ["::1", ...outside]) assert.isFalse(yield* isOpen(host, Number(port)), host)
      assert.match(
        own.stderr(),
        /^roster \S+ serves own\.db \(\d+ bytes\), without TLS\. Its contacts are shown at http:\/\/127\.0\.0\.1:\d+ to anyone who has a key, and its interface at http:\/\/127\.0\.0\.1:\d+\/docs\. .*\n$/
      )
      const open = yield* serve(folder, [
        "--host",
        "0.0.0.0",
        "--db",
        "open.db",
        "--key-file",
        join(folder, "open.key")
      ])
      assert.match(open.stderr(), /^warning: 0\.0\.0\.0 can be reached from other machines/)
    })
  )

  it.live("K19 says that a port is taken, and makes neither key nor file for nothing", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const other = createServer().listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(other, "listening"))
      // A server that listens on TCP has an address of this kind.
      const { port } = other.address() as AddressInfo
      const taken = yield* run(["serve", "--port", String(port), "--db", "a.db", "--key-file", "-"])
      assert.deepStrictEqual([taken.code, taken.stdout, failure(taken).code], [8, "", "ServeError"])
      assert.include(failure(taken).message, String(port))
      assert.match(failure(taken).hint, /--port/)
      assert.isFalse(existsSync(join(folder, "a.db")))
      other.close()
      // The key that nobody was shown is still to be had.
      const { lines } = yield* serve(folder, ["--db", "a.db", "--key-file", "-"])
      assert.strictEqual(lines.length, 2)
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => !name.startsWith("a.db") && !name.startsWith(".")),
        []
      )
    })
  )

  it.live("K19 prints the key of a store once, however many start on it at once", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const args = ["--db", join(folder, "shared.db"), "--key-file", "-"]
      const both = yield* Effect.all([serve(folder, args), serve(folder, args)], { concurrency: 2 })
      const printed = both.flatMap(({ lines }) => lines.slice(0, -1))
      assert.strictEqual(printed.length, 1, JSON.stringify(both.map(({ lines }) => lines)))
      const [key = ""] = printed
      for (const { stderr } of both) assert.notInclude(stderr(), key)
      // Both work on the one store, and see what the other wrote.
      for (const [at, { address }] of both.entries()) {
        const env = { ROSTER_BASE_URL: address, ROSTER_API_KEY: key }
        assert.strictEqual((yield* run(["contacts", "add", `c${at}@example.com`], { env })).code, 0)
      }
      for (const { address, child } of both) {
        const env = { ROSTER_BASE_URL: address, ROSTER_API_KEY: key }
        assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list"], { env })), [
          "c0@example.com",
          "c1@example.com"
        ])
        assert.strictEqual(yield* stop(child, "SIGTERM"), 0)
      }
      const later = yield* serve(folder, args)
      assert.deepStrictEqual(later.lines, [`listening on ${later.address}`])
    })
  )
})
