/**
 * Large requests on a thread of their own, with its own connection to the store, so that others wait neither for their
 * JSON nor for their sync. The requests take turns by account. (docs/decisions/performance.md)
 */
import { idempotencyKeyHeader, resubscribeHeader } from "@roster/api"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Deferred, Effect, Layer, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { existsSync } from "node:fs"
import * as FairQueue from "../threads/FairQueue.ts"
import { RuleScans } from "../contacts/RuleScans.ts"
import { Caller, type CallerIdentity } from "../credentials/Caller.ts"
import * as Thread from "../threads/Thread.ts"
import type { LockContention } from "../store/sqlite/LockContention.ts"
import { StorePolicy } from "../store/StoreOptions.ts"

/** A body or a page of at least this many bytes makes a request large: to answer it takes some 10 ms. */
export const largeRequest = 32 * 1024

/** Large requests of an account that wait for their turn. */
const maximumWaitingRequests = 128

/** Bytes of large responses that an account has not read yet; the last one may exceed them. */
const maximumUnread = 32 * 1024 * 1024

/** The milliseconds after which the next request that is not large begins, while one waits for the lock of the store. */
const longestTurn = 100

/** The time after which the thread ends if it has nothing to do, in milliseconds. */
const idleTime = 60_000

/** Twice what the largest request takes, so that V8 does not leave more as garbage. */
const maxOldGenerationSizeMb = 320

/** What the thread is told. */
export const ThreadData = Schema.Struct({
  ...Thread.LogSettings.fields,
  filename: Schema.String,
  allowedSenders: Schema.Array(Schema.String),
  allowFileUrl: Schema.Array(Schema.String),
  contention: Schema.instanceOf(SharedArrayBuffer)
})

/** What the thread gets to know of a request. */
export interface LargeRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer> | undefined
  /** What a scan found for a page by a rule. */
  readonly ids: Float64Array<ArrayBuffer> | undefined
  readonly caller: Omit<CallerIdentity, "serviceUrl">
}

/** The response of the thread. */
export interface LargeResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
}

/** Why a request is not carried out, for its response. */
export interface RequestRefusal {
  readonly status: number
  readonly text: string
}

const waitsFull: RequestRefusal = {
  status: 503,
  text: `${maximumWaitingRequests} large requests of this account wait for their turn. Send this one again later.`
}

const unreadFull: RequestRefusal = {
  status: 503,
  text: `This account has ${maximumUnread / 1024 / 1024} MiB of responses to read. Read them, and send this request again.`
}

interface LargeRequests {
  /** The queues of requests that are not large but take some milliseconds. Pages do not wait for the lock of writes. */
  readonly turns: { readonly page: FairQueue.FairQueue; readonly write: FairQueue.FairQueue }
  /** Finds the contacts of a page by a rule, on the thread of the rules. */
  readonly find: RuleScans["Service"]["find"]
  /** Answers a request on the thread. Its body, or the ids that were found, are moved there, and can be used no more. */
  readonly answer: <E, R>(
    request: HttpServerRequest.HttpServerRequest,
    given: { readonly body?: Uint8Array<ArrayBuffer>; readonly ids?: Float64Array<ArrayBuffer> | undefined },
    refuse: (refusal: RequestRefusal) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
}

/** The thread for large requests; `undefined` where they are answered as all others. */
export const LargeRequests = Context.Reference<LargeRequests | undefined>("@roster/server/LargeRequests", {
  defaultValue: () => undefined
})

/**
 * Runs what takes some milliseconds, and is not large, when it is its account's turn: many that arrive together would keep
 * the event loop and the connection to the store. Where there is no thread for large requests, it runs at once.
 */
export const makeInTurn = Effect.map(
  LargeRequests,
  (thread) =>
    <A, E, R>(kind: keyof LargeRequests["turns"], work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      thread === undefined ? work : Effect.flatMap(Caller, ({ account }) => thread.turns[kind].run(account, () => work))
)

const ownEntry = new URL(import.meta.url.endsWith(".ts") ? "../requestEntry.ts" : "../requestEntry.js", import.meta.url)
/** Beside the only file that a bundle makes of this code. */
const bundledEntry = new URL("./requestEntry.js", import.meta.url)

/** The file of the thread; `undefined` if this code was bundled without it. */
export const requestEntry = (): URL | undefined => [ownEntry, bundledEntry].find((entry) => existsSync(entry))

/** The headers that an operation reads after the key was checked. */
const readHeaders = [
  "content-type",
  "content-length",
  idempotencyKeyHeader.toLowerCase(),
  resubscribeHeader.toLowerCase()
]

/** Frees the bytes of a response when it has been sent or its connection is closed: V8 would free them when it needs memory. */
export const freeWhenSent = (
  request: HttpServerRequest.HttpServerRequest,
  { body }: HttpServerResponse.HttpServerResponse
): void => {
  // A text has no bytes of its own.
  if (body._tag !== "Uint8Array" || body.text !== undefined) return
  const { buffer } = body.body
  if (buffer instanceof ArrayBuffer) {
    NodeHttpServerRequest.toServerResponse(request).once("close", () => buffer.transfer(0))
  }
}

/** Counts the bytes of responses until they have been sent or their connections are closed. */
const makeUnread = () => {
  const unread = new Map<string, number>()
  const add = (account: string, bytes: number) => {
    const sum = (unread.get(account) ?? 0) + bytes
    if (sum === 0) unread.delete(account)
    else unread.set(account, sum)
  }
  return {
    isFull: (account: string): boolean => (unread.get(account) ?? 0) >= maximumUnread,
    count: (account: string, request: HttpServerRequest.HttpServerRequest, bytes: number) => {
      const response = NodeHttpServerRequest.toServerResponse(request)
      if (response.destroyed) return
      add(account, bytes)
      response.once("close", () => add(account, -bytes))
    }
  }
}

/** Provides `LargeRequests` on a thread that starts with the file `entry` when it is needed. */
export const layer = (options: {
  readonly entry: URL
  readonly filename: string
  readonly contention: LockContention
}): Layer.Layer<never, never, StorePolicy | RuleScans> =>
  Layer.effect(
    LargeRequests,
    Effect.gen(function* () {
      const { contention, entry, filename } = options
      const workerData: typeof ThreadData.Type = {
        ...(yield* StorePolicy),
        ...(yield* Thread.logSettings),
        filename,
        contention: contention.shared
      }
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      let current: Thread.Thread | undefined
      /** The response to the request that the thread is answering. */
      let response = Deferred.makeUnsafe<LargeResponse>()
      let idle: NodeJS.Timeout | undefined

      const start = Effect.gen(function* () {
        const thread = yield* Thread.start({
          entry,
          name: "roster requests",
          workerData,
          limits: { maxOldGenerationSizeMb },
          // Only `RequestThread` posts them.
          onMessage: (message) => Deferred.doneUnsafe(response, Effect.succeed(message as LargeResponse))
        })
        current = thread
        const died = (cause: unknown) => {
          if (current !== thread) return
          current = undefined
          // Whether it was carried out is not known.
          Deferred.doneUnsafe(response, Effect.die(cause))
        }
        runFork(Effect.map(thread.ended, died))
        return thread
      })

      const close = Effect.suspend(() => {
        clearTimeout(idle)
        const closed = current
        current = undefined
        return closed?.close ?? Effect.void
      })
      yield* Effect.addFinalizer(() => close)

      const execute = Effect.fnUntraced(function* (request: LargeRequest) {
        clearTimeout(idle)
        const thread = current ?? (yield* start)
        response = Deferred.makeUnsafe()
        thread.post(
          request,
          [request.body, request.ids].flatMap((moved) => (moved === undefined ? [] : [moved.buffer]))
        )
        const given = yield* Deferred.await(response)
        idle = setTimeout(() => runFork(close), idleTime).unref()
        return given
      })

      const turns = FairQueue.make()
      const unread = makeUnread()
      const answer: LargeRequests["answer"] = (request, { body, ids }, refuse) =>
        Effect.flatMap(Caller, ({ account, key, peer }) => {
          if (turns.waiting(account) >= maximumWaitingRequests) return refuse(waitsFull)
          const { method, url } = request
          const headers: Record<string, string> = {}
          for (const name of readHeaders) {
            const value = request.headers[name]
            if (value !== undefined) headers[name] = value
          }
          const inTurn = Effect.suspend(() => {
            if (unread.isFull(account)) return refuse(unreadFull)
            return Effect.map(
              execute({ method, url, headers, body, ids, caller: { account, key, peer } }),
              ({ body, headers, status }) => {
                const contentType = headers["content-type"] ?? "application/json"
                const response = HttpServerResponse.uint8Array(body, { status, headers, contentType })
                unread.count(account, request, body.length)
                freeWhenSent(request, response)
                return response
              }
            )
          })
          // A client that left while it waited is not asked for anything; what was begun is carried out.
          return turns.run(account, () => Effect.uninterruptible(inTurn))
        })
      return {
        turns: { page: FairQueue.make({ longestTurn }), write: FairQueue.make({ longestTurn }) },
        find: (yield* RuleScans).find,
        answer
      }
    })
  )
