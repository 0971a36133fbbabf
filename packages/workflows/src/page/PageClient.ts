/**
 * What the process of `roster studio` keeps for its page, the log of runs and the saved rules of the user: the calls, which
 * `PageServer` answers, and the log on them. What was taken is given back when its call ends, so that a tab that is closed holds
 * nothing.
 */
import { RunNotFound, SavedRules } from "@roster/domain"
import { JsonParser } from "@roster/domain/internal"
import { Effect, Layer, Schema, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { Rpc, RpcClient, RpcGroup, RpcSerialization } from "effect/rpc"
import { RunEntry } from "../runs/RunEntry.ts"
import { RunHeader, RunLogFailure, type RunTargetOptions } from "../runs/RecordedRun.ts"
import { makeRunLog, RunLog, type RunStorage, type StoredRun, workOf } from "../runs/RunLog.ts"

/** A run without its entries. */
const StoredHead = Schema.Struct({
  header: RunHeader,
  canResume: Schema.Boolean,
  end: Schema.optionalKey(Schema.Struct({ created: Schema.Finite, changed: Schema.Finite, deleted: Schema.Finite })),
  size: Schema.Finite
})

/** An entry as a text, which the parser of this library reads: it may be large, and of anybody. */
export const EntryText = JsonParser.fromJsonString(RunEntry)

const found = { id: Schema.String, size: Schema.optionalKey(Schema.Finite) }

/** The calls of the page. A refusal of saved rules is the text of its message. */
export const PageCalls = RpcGroup.make(
  Rpc.make("rules", { success: SavedRules, error: Schema.String }),
  Rpc.make("saveRule", { payload: { name: Schema.String, rule: Schema.String }, error: Schema.String }),
  Rpc.make("removeRule", { payload: { name: Schema.String }, error: Schema.String }),
  /** Gives the id of what was taken, or null, and stays open until it is given back. Blanks follow. */
  Rpc.make("take", {
    payload: { name: Schema.String },
    success: Schema.NullOr(Schema.String),
    error: RunLogFailure,
    stream: true
  }),
  /** The end of a call alone would be noticed a moment later. */
  Rpc.make("giveBack", { payload: { taken: Schema.String } }),
  Rpc.make("all", { success: Schema.Array(StoredHead), error: RunLogFailure }),
  Rpc.make("find", { payload: found, success: StoredHead, error: Schema.Union([RunNotFound, RunLogFailure]) }),
  Rpc.make("entries", {
    payload: { ...found, isBackwards: Schema.Boolean },
    success: Schema.String,
    error: Schema.Union([RunNotFound, RunLogFailure]),
    stream: true
  }),
  Rpc.make("begin", {
    payload: { taken: Schema.String, header: RunHeader, isNew: Schema.Boolean },
    success: Schema.String,
    error: RunLogFailure
  }),
  Rpc.make("write", {
    payload: { writer: Schema.String, entry: Schema.String, isDurable: Schema.Boolean },
    error: RunLogFailure
  })
)

const decodeEntry = Schema.decodeUnknownEffect(EntryText)

const unreachable = () => new RunLogFailure({ detail: "the process that keeps it does not answer" })

const unanswered = () => Effect.fail(unreachable())

/** Makes what calls the process. */
export const calls = RpcClient.make(PageCalls)

/** The storage of the log of runs. */
export const runStorage = Effect.gen(function* () {
  const client = yield* calls
  /** What this storage has taken, by its name. */
  const held = new Map<string, string>()

  const storedOf = (head: typeof StoredHead.Type): StoredRun => {
    const { header, size } = head
    const entries = (isBackwards: boolean) =>
      client.entries({ id: header.id, size, isBackwards }).pipe(
        Stream.mapEffect((text) => Effect.mapError(decodeEntry(text), unreachable)),
        Stream.catchTags({
          RpcClientError: () => Stream.fail(unreachable()),
          RunNotFound: ({ run }) => Stream.fail(new RunLogFailure({ detail: run }))
        })
      )
    return { ...head, end: head.end, entries: entries(false), backwards: entries(true) }
  }

  const storage: RunStorage = {
    take: Effect.fnUntraced(function* (name) {
      // It stays open until the scope closes.
      const pull = yield* Stream.toPull(client.take({ name }))
      const [taken] = yield* Effect.catchTags(pull, {
        Done: () => Effect.fail(unreachable()),
        RpcClientError: () => Effect.fail(unreachable())
      })
      if (taken === null) return false
      held.set(name, taken)
      yield* Effect.addFinalizer(() => {
        held.delete(name)
        return Effect.ignore(client.giveBack({ taken }))
      })
      return true
    }),
    all: Effect.map(client.all(), (heads) => heads.map(storedOf)).pipe(Effect.catchTag("RpcClientError", unanswered)),
    find: (id, size) =>
      Effect.map(client.find({ id, ...(size === undefined ? {} : { size }) }), storedOf).pipe(
        Effect.catchTag("RpcClientError", unanswered)
      ),
    write: Effect.fnUntraced(function* (header, isNew) {
      const taken = held.get(workOf(header))
      if (taken === undefined) return yield* new RunLogFailure({ detail: "the run was not taken" })
      const writer = yield* client.begin({ taken, header, isNew }).pipe(Effect.catchTag("RpcClientError", unanswered))
      return {
        write: (entry, isDurable) =>
          client
            .write({ writer, entry: JSON.stringify(entry), isDurable })
            .pipe(Effect.catchTag("RpcClientError", unanswered))
      }
    })
  }
  return storage
})

/** The way to an address. */
export const layerCalls = (address: string): Layer.Layer<RpcClient.Protocol, never, HttpClient.HttpClient> =>
  Layer.provide(RpcClient.layerProtocolHttp({ url: address }), RpcSerialization.layerNdjson)

/** The log of runs on a target. */
export const layerRunLog = (on: RunTargetOptions): Layer.Layer<RunLog, never, RpcClient.Protocol> =>
  Layer.effect(
    RunLog,
    Effect.map(runStorage, (storage) => makeRunLog(on, storage))
  )
