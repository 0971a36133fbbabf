import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { RunTaken } from "@roster/domain"
import { RunLog, RunLogFailure } from "@roster/workflows"
import * as PageClient from "@roster/workflows/PageClient"
import { servePage } from "@roster/workflows/PageServer"
import * as RunFiles from "@roster/workflows/RunFiles"
import { Context, Effect, Exit, Layer, Schedule, Scope } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpServer } from "effect/http"
import { mkdtempSync, readdirSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { logCases, runOf } from "../runs/logCases.ts"

const target = "https://example.com"
const path = "/studio/calls"

const rules = { rules: Effect.succeed({}), saveRule: () => Effect.void, removeRule: () => Effect.void }

/** The log in a folder, over a socket, and the address of its storage. */
const served = Effect.fnUntraced(function* (folder: string) {
  const storage = yield* RunFiles.storage({ folder })
  const server = createServer()
  const close = server.close.bind(server)
  server.close = (callback) => {
    const closed = close(callback)
    server.closeAllConnections()
    return closed
  }
  const { address, serve } = yield* NodeHttpServer.make(() => server, { port: 0, host: "127.0.0.1" })
  yield* serve(yield* servePage(storage, rules))
  return `${HttpServer.formatAddress(address)}${path}`
}, Effect.provide(NodeHttpServer.layerHttpServices))

const newFolder = () => mkdtempSync(join(tmpdir(), "roster-remote-runs-"))

const remote = (address: string) =>
  PageClient.layerRunLog({ target }).pipe(
    Layer.provide(PageClient.layerCalls(address)),
    Layer.provide(FetchHttpClient.layer)
  )

const storageAt = Effect.fnUntraced(function* (address: string, client: Layer.Layer<HttpClient.HttpClient>) {
  const calls = yield* Layer.build(Layer.provide(PageClient.layerCalls(address), client))
  return yield* Effect.provide(PageClient.runStorage, calls)
})

const folder = newFolder()

describe("the log of runs of another process", () => {
  logCases(Layer.unwrap(Effect.map(Effect.orDie(served(folder)), remote)))
})

/** A client whose last words do not arrive, as those of a tab that is closed. */
const lostAtTheEnd = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transform((sent, request) =>
      request.body._tag === "Uint8Array" && request.body.text?.includes("giveBack") === true
        ? Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) }))
        : sent
    )
  )
).pipe(Layer.provide(FetchHttpClient.layer))

const work = { command: "import", input: "file" }

describe("a storage that is offered over HTTP", () => {
  it.live("gives a run back when its tab is closed, and not before", () =>
    Effect.gen(function* () {
      const address = yield* served(newFolder())
      const tab = yield* Scope.make()
      const storage = yield* storageAt(address, lostAtTheEnd)
      const name = JSON.stringify([target, "import", "file", null])
      assert.isTrue(yield* Scope.provide(storage.take(name), tab))
      const log = Context.get(yield* Layer.build(remote(address)), RunLog)
      assert.deepStrictEqual(yield* Effect.flip(Effect.scoped(log.open(work))), new RunTaken({ run: "import" }))
      yield* Scope.close(tab, Exit.void)
      yield* Effect.retry(Effect.scoped(log.open(work)), { schedule: Schedule.spaced("20 millis"), times: 500 })
    })
  )

  it.live("has what was appended, whoever reads it, and reads no more than there was", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const address = yield* served(folder)
      const { id } = yield* Effect.provide(
        runOf(work, [{ _tag: "Unknown", what: "<img onerror=1>" }], true),
        remote(address)
      )
      const here = yield* Effect.provide(RunLog, Layer.provide(RunFiles.layer({ folder, target }), NodeServices.layer))
      assert.deepStrictEqual(
        (yield* here.list).map(({ header, isEnded }) => [header.id, isEnded]),
        [[id, true]]
      )
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.endsWith(".lock")),
        []
      )
    })
  )

  it.live("names no file but those of runs, and says so where the process is gone", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const scope = yield* Scope.make()
      const address = yield* Scope.provide(served(folder), scope)
      const storage = yield* storageAt(address, FetchHttpClient.layer)
      for (const id of ["../outside", "..%2foutside", "20261126T000000000Z-0000/../x", ""]) {
        const header = { id, command: "import", target, began: "2026-11-26T00:00:00.000Z" }
        const begun = yield* Effect.flip(
          Effect.scoped(
            Effect.andThen(
              storage.take(id),
              Effect.flatMap(storage.write(header, true), ({ write }) => write({ _tag: "Unknown", what: "x" }, true))
            )
          )
        )
        assert.instanceOf(begun, RunLogFailure)
        if (id !== "") assert.strictEqual((yield* Effect.flip(storage.find(id)))._tag, "RunNotFound")
      }
      assert.deepStrictEqual(readdirSync(folder), [])
      yield* Scope.close(scope, Exit.void)
      assert.instanceOf(yield* Effect.flip(storage.all), RunLogFailure)
    })
  )
})
