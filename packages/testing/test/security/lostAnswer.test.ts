/**
 * A key is made, and the process is gone before it could say so.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { CredentialName, CredentialsService } from "@roster/domain"
import { createWithRetry } from "@roster/workflows"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { createServer, connect, type Socket } from "node:net"
import { killableServe, servePlace } from "../durability/KillableServe.ts"

/**
 * Stands in front of a service. The first answer to a POST of a key is withheld: what was to happen then happens, and the
 * connection breaks. Connections wait for whichever service comes next.
 */
const withholdingProxy = Effect.fnUntraced(function* (onAnswer: (answer: string) => void) {
  let upstream = Promise.withResolvers<number>()
  let withheld = false
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on("error", () => client.destroy())
    void upstream.promise.then((port) => {
      const service = connect(port, "127.0.0.1")
      let isCreation = false
      service.on("error", () => client.destroy())
      service.on("close", () => client.destroy())
      client.on("data", (chunk) => {
        isCreation = chunk.toString("latin1").startsWith("POST /v4/security/apikeys ")
        service.write(chunk)
      })
      service.on("data", (chunk) => {
        if (!isCreation || withheld) return client.write(chunk)
        withheld = true
        upstream = Promise.withResolvers()
        onAnswer(chunk.toString())
        return client.destroy()
      })
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resume(Effect.void))
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}/v4`,
    leadTo: (baseUrl: string) => {
      upstream.resolve(Number(new URL(baseUrl).port))
    }
  }
})

const credentialsAt = Effect.fnUntraced(function* (baseUrl: string, apiKey: string) {
  const services = yield* Layer.build(
    RosterClient.layer({ baseUrl, apiKey: Redacted.make(apiKey) }).pipe(Layer.provide(UndiciHttpClient.layer()))
  )
  return Context.get(services, CredentialsService)
})

describe("a lost key", () => {
  it.live(
    "S13 whose service was killed between commit and answer is made again, and there is one, with its secret",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const first = yield* killableServe(place)
        const killed = yield* Deferred.make<string>()
        const proxy = yield* withholdingProxy((answer) => {
          first.killNow()
          Deferred.doneUnsafe(killed, Effect.succeed(answer))
        })
        proxy.leadTo(first.baseUrl)
        const { apiKeys } = yield* credentialsAt(proxy.baseUrl, first.apiKey)
        const payload = { name: CredentialName.make("lost"), accessLevels: ["Security"] } as const
        const creating = yield* Effect.forkScoped(createWithRetry(apiKeys, payload))
        const answer = yield* Deferred.await(killed)
        yield* first.ended
        const lostToken = /"Token":"([^"]+)"/.exec(answer)?.[1] ?? assert.fail(`no token in ${answer.slice(0, 20)}`)

        const second = yield* killableServe(place)
        // It was committed, so whoever else asks for the same is told that it is there.
        const direct = yield* credentialsAt(second.baseUrl, first.apiKey)
        assert.deepStrictEqual(
          (yield* direct.apiKeys.list()).map(({ name }) => name),
          ["administrator", "lost"]
        )
        const again = yield* Effect.promise(() =>
          fetch(`${second.baseUrl}/security/apikeys`, {
            method: "POST",
            headers: {
              "X-Service-ApiKey": first.apiKey,
              "Content-Type": "application/json",
              "Idempotency-Key": "the-call-of-before"
            },
            body: JSON.stringify({ Name: "lost", AccessLevel: ["Security"] })
          })
        )
        assert.strictEqual(again.status, 409)

        proxy.leadTo(second.baseUrl)
        const { token } = yield* Fiber.join(creating)
        assert.deepStrictEqual(
          (yield* direct.apiKeys.list()).map(({ name }) => name),
          ["administrator", "lost"]
        )
        const use = (key: string) =>
          Effect.promise(() =>
            fetch(`${second.baseUrl}/security/apikeys`, { headers: { "X-Service-ApiKey": key } }).then(
              ({ status }) => status
            )
          )
        assert.deepStrictEqual([yield* use(Redacted.value(token)), yield* use(lostToken)], [200, 401])
        yield* second.stop
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
