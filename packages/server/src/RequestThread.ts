/** The thread for large requests: the same service as on the thread that sends them, with its own connection. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { loggedCause } from "@roster/domain"
import { Effect, Layer, References, Schema } from "effect"
import { Headers, HttpClientRequest, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { DatabaseSync } from "node:sqlite"
import { isMainThread } from "node:worker_threads"
import * as RuleScans from "./contacts/RuleScans.ts"
import { Caller } from "./credentials/Caller.ts"
import { IsAuthenticated } from "./http/Authentication.ts"
import { httpApp } from "./http/HttpApp.ts"
import { bodyOf } from "./http/Idempotency.ts"
import { OwnsBody } from "./http/RequestBody.ts"
import { JobRunner } from "./jobs/worker/JobRunner.ts"
import * as Thread from "./threads/Thread.ts"
import { type LargeRequest, type LargeResponse, ThreadData } from "./requests/LargeRequests.ts"
import { services } from "./services/SqlServices.ts"
import * as LockContention from "./store/sqlite/LockContention.ts"
import * as SqliteClient from "./store/sqlite/SqliteClient.ts"
import { registerFunctions } from "./store/sqlite/SqliteFunctions.ts"
import { StorePolicy } from "./store/StoreOptions.ts"

/** The request as it came, since a part of it is kept with its Idempotency-Key. */
const requestOf = ({ body, headers, method, url }: LargeRequest): HttpServerRequest.HttpServerRequest => {
  const make =
    method === "PUT" ? HttpClientRequest.put : method === "POST" ? HttpClientRequest.post : HttpClientRequest.get
  const request = make(`http://roster.localhost${url}`)
  const withBody = body === undefined ? request : HttpClientRequest.bodyUint8Array(request, body)
  return HttpServerRequest.fromClientRequest(withBody).modify({ url, headers: Headers.fromInput(headers) })
}

const isWhole = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength

/** The bytes of a response, in memory of their own, which can be moved to another thread. */
const bytesOf = (response: HttpServerResponse.HttpServerResponse): Uint8Array<ArrayBuffer> => {
  const body = bodyOf(response) ?? ""
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
  return isWhole(bytes) ? bytes : Uint8Array.from(bytes)
}

/** A request or a response of at least this many bytes leaves garbage worth collecting at once. */
const muchGarbage = 8 * 1024 * 1024

const answering = Effect.gen(function* () {
  const app = yield* httpApp
  const collect = Thread.makeCollect()
  const { yieldToWriters } = yield* LockContention.WriteFairness
  const answer = Effect.fnUntraced(
    function* (request: LargeRequest) {
      const response = yield* app.pipe(
        Effect.provideService(Caller, request.caller),
        Effect.provideService(IsAuthenticated, true),
        Effect.provideService(OwnsBody, true),
        Effect.provideService(RuleScans.PrefetchedIds, request.ids),
        Effect.provideService(HttpServerRequest.HttpServerRequest, requestOf(request))
      )
      const body = bytesOf(response)
      const { headers, status } = response
      const bytes = body.length + Number(request.headers["content-length"] ?? 0)
      Thread.post({ status, headers: { ...headers }, body } satisfies LargeResponse, [body.buffer])
      if (bytes >= muchGarbage) collect()
      // Those that wait for the lock go before the next request.
      yield* yieldToWriters
    },
    Effect.scoped,
    Effect.provideService(References.TracerEnabled, false)
  )
  const context = yield* Effect.context<Effect.Services<ReturnType<typeof answer>>>()
  return (message: unknown): Effect.Effect<void> =>
    // Only `LargeRequests` posts them.
    answer(message as LargeRequest).pipe(
      Effect.provideContext(context),
      Effect.catchCause((cause) =>
        loggedCause(cause).pipe(
          Effect.flatMap((logged) => Effect.logError("a large request failed", logged)),
          Effect.andThen(Effect.sync(() => Thread.post(failed)))
        )
      )
    )
})

const failed: LargeResponse = {
  status: 500,
  headers: { "content-type": "application/json" },
  body: new TextEncoder().encode(JSON.stringify({ Error: "An internal error. See the log of the service." }))
}

// Each request reads and writes other contacts, and most of what a large one writes is too much for any cache.
const prepare = (database: DatabaseSync) => {
  registerFunctions(database)
  database.exec("PRAGMA cache_size = -8192")
}

/** The deadline of a bulk delete by a rule in a large body: the large requests of others wait for it. */
const ruleDeadline = "1 second"

/** Answers large requests on a worker thread until the service closes it; a bundle of it is a `requestThread`. */
export const work = (workerData: unknown): void => {
  if (isMainThread) throw new TypeError("RequestThread.work runs only on a thread of RosterServer.layer")
  const data = Schema.decodeUnknownSync(ThreadData)(workerData)
  const { allowedSenders, allowFileUrl, filename } = data
  const contention = LockContention.make(data.contention)
  Thread.run(
    data,
    answering,
    services.pipe(
      Layer.provideMerge(Layer.succeed(JobRunner, { wake: Effect.void, settled: Effect.void })),
      Layer.provide(RuleScans.layer(ruleDeadline)),
      Layer.provide(Layer.succeed(StorePolicy, { allowedSenders, allowFileUrl })),
      Layer.provideMerge(SqliteClient.layer({ filename, prepare, contention })),
      Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)),
      Layer.provideMerge(Layer.succeed(LockContention.WriteFairness, LockContention.fairnessOf(contention)))
    )
  )
}
