import { assert, describe, it } from "@effect/vitest"
import { RosterServer } from "@roster/server"
import { Effect, Layer, Context } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"

/** A port that was free a moment ago, which the service can be called on before it tells its address. */
const freePort = Effect.promise(async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address !== null ? address.port : 0
})

const ask = (port: number, method: string) =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v4/contacts`, {
      method,
      ...(method === "POST" ? { body: "[]", headers: { "content-type": "application/json" } } : {}),
      signal: AbortSignal.timeout(30_000)
    })
    const { headers, status } = response
    return {
      status,
      retryAfter: headers.get("retry-after"),
      connection: headers.get("connection"),
      body: await response.json()
    }
  })

describe("a service that starts", () => {
  it.live("answers 503 until its keys are committed, and then every request", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const starting = {
        status: 503,
        retryAfter: "1",
        connection: "close",
        body: { Error: "The service is starting. Send the request again later." }
      }
      let asked = 0
      const whileStarting = Effect.gen(function* () {
        for (const method of ["GET", "POST"]) {
          assert.deepStrictEqual(yield* ask(port, method), starting)
          asked++
        }
      })
      const services = yield* Layer.build(
        RosterServer.layer({
          port,
          store: { filename: ":memory:" },
          onAdministratorKey: () => whileStarting,
          onKeysCommitted: () => whileStarting
        })
      )
      assert.strictEqual(asked, 4)
      assert.strictEqual(Context.get(services, RosterServer.RosterServer).address, `http://127.0.0.1:${port}/v4`)
      for (const method of ["GET", "POST"]) {
        const { connection, status } = yield* ask(port, method)
        assert.deepStrictEqual([status, connection], [401, "keep-alive"])
      }
    }).pipe(Effect.scoped)
  )
})
