/** Answers the calls of `PageClient`. The server in front of it decides who may ask. */
import { type SavedRules } from "@roster/domain"
import { randomId } from "@roster/domain/internal"
import { Deferred, Effect, Exit, Schema, Scope, Stream } from "effect"
import { HttpIncomingMessage } from "effect/http"
import { RpcSerialization, RpcServer } from "effect/rpc"
import { RunLogFailure } from "../runs/RecordedRun.ts"
import { type RunStorage, type RunWriter, type StoredRun } from "../runs/RunLog.ts"
import { EntryText, PageCalls } from "./PageClient.ts"

const decodeEntry = Schema.decodeUnknownEffect(EntryText)

/** Some browsers end a request on which nothing comes. */
const heartbeat = "20 seconds"

/** More than the entry of the largest write. */
const maximumEntry = 64n * 1024n ** 2n

const headOf = ({ canResume, end, header, size }: StoredRun) => ({
  header,
  canResume,
  size,
  ...(end === undefined ? {} : { end: { created: end.created, changed: end.changed, deleted: end.deleted } })
})

interface Taken {
  readonly scope: Scope.Closeable
  readonly givenBack: Deferred.Deferred<void>
}

const gone = new RunLogFailure({ detail: "the run was given back" })

/** Answers the calls for saved rules. */
export interface RuleHandlers {
  readonly rules: Effect.Effect<SavedRules, string>
  readonly saveRule: (given: { readonly name: string; readonly rule: string }) => Effect.Effect<void, string>
  readonly removeRule: (given: { readonly name: string }) => Effect.Effect<void, string>
}

const handlersOf = (storage: RunStorage, rules: RuleHandlers) => {
  const taken = new Map<string, Taken>()
  const writers = new Map<string, RunWriter>()

  /** Takes a name for as long as the call is open. */
  const take = Effect.fnUntraced(function* (name: string) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    if (!(yield* Scope.provide(storage.take(name), scope))) return Stream.make(null)
    const id = yield* randomId
    const givenBack = yield* Deferred.make<void>()
    taken.set(id, { scope, givenBack })
    yield* Scope.addFinalizer(
      scope,
      Effect.sync(() => taken.delete(id))
    )
    return Stream.concat(
      Stream.make(id),
      Stream.map(Stream.tick(heartbeat), () => null)
    ).pipe(Stream.interruptWhen(Deferred.await(givenBack)))
  })

  return PageCalls.of({
    ...rules,
    rules: () => rules.rules,
    take: ({ name }) => Stream.unwrap(take(name)),
    giveBack: Effect.fnUntraced(function* ({ taken: id }) {
      const found = taken.get(id)
      if (found === undefined) return
      yield* Scope.close(found.scope, Exit.void)
      yield* Deferred.succeed(found.givenBack, undefined)
    }),
    all: () => Effect.map(storage.all, (runs) => runs.map(headOf)),
    find: ({ id, size }) => Effect.map(storage.find(id, size), headOf),
    entries: ({ id, isBackwards, size }) =>
      Stream.unwrap(Effect.map(storage.find(id, size), (run) => (isBackwards ? run.backwards : run.entries))).pipe(
        Stream.map((entry) => JSON.stringify(entry))
      ),
    begin: Effect.fnUntraced(function* ({ header, isNew, taken: by }) {
      const found = taken.get(by)
      if (found === undefined) return yield* gone
      const writer = yield* Scope.provide(storage.write(header, isNew), found.scope)
      const id = yield* randomId
      writers.set(id, writer)
      yield* Scope.addFinalizer(
        found.scope,
        Effect.sync(() => writers.delete(id))
      )
      return id
    }),
    write: Effect.fnUntraced(function* ({ entry, isDurable, writer: id }) {
      const writer = writers.get(id)
      if (writer === undefined) return yield* gone
      // What it holds is not quoted.
      const decoded = yield* Effect.mapError(
        decodeEntry(entry),
        () => new RunLogFailure({ detail: "the entry is none" })
      )
      yield* writer.write(decoded, isDurable)
    })
  })
}

/** Makes what answers the page, for as long as the scope. */
export const servePage = (storage: RunStorage, rules: RuleHandlers) =>
  RpcServer.toHttpEffect(PageCalls, { disableTracing: true }).pipe(
    Effect.map(Effect.provideService(HttpIncomingMessage.MaxBodySize, maximumEntry)),
    Effect.provide([PageCalls.toLayer(handlersOf(storage, rules)), RpcSerialization.layerNdjson])
  )
