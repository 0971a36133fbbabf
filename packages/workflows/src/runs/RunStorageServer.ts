/** Offers the storage of a log of runs over HTTP to `RemoteRunStorage`. Who may ask is decided by whoever serves it. */
import { randomId } from "@roster/domain"
import { Deferred, Effect, Exit, Schema, Scope, Stream } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { BeginWriter, EntryLine, StoredHead } from "./RemoteRunStorage.ts"
import type { RunLogFailure, RunNotFound, RunStorage, RunWriter, StoredRun } from "./RunLog.ts"

const decodeName = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ name: Schema.String })))
const decodeBegin = Schema.decodeUnknownEffect(Schema.fromJsonString(BeginWriter))
const decodeEntry = Schema.decodeUnknownEffect(EntryLine)
const encodeHead = Schema.encodeSync(StoredHead)

const headOf = ({ canResume, end, header, size }: StoredRun) =>
  encodeHead({ header, canResume, size, ...(end === undefined ? {} : { end: countsOf(end) }) })

const countsOf = ({ changed, created, deleted }: NonNullable<StoredRun["end"]>) => ({ created, changed, deleted })

/** Some browsers end a request on which nothing comes. */
const heartbeat = "20 seconds"

/** More than the entry of the largest write. */
const maximumEntry = 64n * 1024n ** 2n

const refuse = (status: number, detail: string) => HttpServerResponse.jsonUnsafe({ Error: detail }, { status })

interface Taken {
  readonly scope: Scope.Closeable
  readonly giveBack: Effect.Effect<void>
}

/** Answers requests below a path. */
export const serveRunStorage = (
  storage: RunStorage,
  path: string
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope> => {
  const taken = new Map<string, Taken>()
  const writers = new Map<string, RunWriter>()

  /** Takes a name for as long as the request is open. */
  const take = Effect.fnUntraced(function* (name: string) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    if (!(yield* Scope.provide(storage.take(name), scope))) return HttpServerResponse.text("null\n")
    const id = yield* randomId
    const givenBack = yield* Deferred.make<void>()
    yield* Scope.addFinalizer(
      scope,
      Effect.sync(() => taken.delete(id))
    )
    const giveBack = Effect.andThen(Scope.close(scope, Exit.void), Deferred.succeed(givenBack, undefined))
    taken.set(id, { scope, giveBack: Effect.asVoid(giveBack) })
    const lines = Stream.concat(
      Stream.make(`${JSON.stringify(id)}\n`),
      Stream.map(Stream.tick(heartbeat), () => "\n")
    )
    return HttpServerResponse.stream(lines.pipe(Stream.interruptWhen(Deferred.await(givenBack)), Stream.encodeText), {
      contentType: "application/x-ndjson"
    })
  })

  const begin = Effect.fnUntraced(function* ({ header, isNew, taken: by }: typeof BeginWriter.Type) {
    const found = taken.get(by)
    if (found === undefined) return refuse(409, "the run was given back")
    const writer = yield* Scope.provide(storage.write(header, isNew), found.scope)
    const id = yield* randomId
    writers.set(id, writer)
    yield* Scope.addFinalizer(
      found.scope,
      Effect.sync(() => writers.delete(id))
    )
    return HttpServerResponse.jsonUnsafe({ writer: id })
  })

  const append = Effect.fnUntraced(function* (id: string, isDurable: boolean, line: string) {
    const writer = writers.get(id)
    if (writer === undefined) return refuse(409, "the run was given back")
    yield* writer.write(yield* decodeEntry(line), isDurable)
    return HttpServerResponse.empty()
  })

  const entries = Effect.fnUntraced(function* (id: string, size: number | undefined, isBackwards: boolean) {
    const run = yield* storage.find(id, size)
    const lines = Stream.map(isBackwards ? run.backwards : run.entries, (entry) => `${JSON.stringify(entry)}\n`)
    return HttpServerResponse.stream(Stream.encodeText(lines), { contentType: "application/x-ndjson" })
  })

  const answer = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const { method } = request
    const { pathname, searchParams } = new URL(request.url, "http://localhost")
    const [first = "", second] = pathname
      .slice(path.length + 1)
      .split("/")
      .map(decodeURIComponent)
    if (method === "GET") {
      if (first === "") return HttpServerResponse.jsonUnsafe((yield* storage.all).map(headOf))
      const given = searchParams.get("size")
      const size = given === null ? undefined : Number(given)
      if (second === "entries") return yield* entries(first, size, searchParams.get("order") === "backwards")
      if (second === undefined) return HttpServerResponse.jsonUnsafe(headOf(yield* storage.find(first, size)))
    }
    if (method === "DELETE" && first === "taken" && second !== undefined) {
      yield* taken.get(second)?.giveBack ?? Effect.void
      return HttpServerResponse.empty()
    }
    if (method === "POST" && first === "taken") return yield* take((yield* decodeName(yield* request.text)).name)
    if (method === "POST" && first === "writers") {
      const text = yield* request.text
      return second === undefined
        ? yield* begin(yield* decodeBegin(text))
        : yield* append(second, searchParams.get("durable") !== "false", text)
    }
    return refuse(405, "there is no such request to it")
  })

  return Effect.flatMap(HttpServerRequest.HttpServerRequest, answer).pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, maximumEntry),
    Effect.catchTags({
      RunNotFound: ({ run }: RunNotFound) => Effect.succeed(refuse(404, run)),
      RunLogFailure: ({ detail }: RunLogFailure) => Effect.succeed(refuse(500, detail)),
      // What it holds is not quoted.
      SchemaError: () => Effect.succeed(refuse(400, "the request cannot be read")),
      HttpServerError: () => Effect.succeed(refuse(400, "the request cannot be read"))
    })
  )
}
