/**
 * A log of runs that another process keeps, as `roster studio` does for its page: the process offers its storage over HTTP by
 * `serveRunStorage` of `RunStorageServer`, and here is the other end. What was taken is given back when its request ends, so that a
 * tab that is closed holds nothing.
 */
import { JsonParser } from "@roster/domain"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { RunEntry } from "./RunEntry.ts"
import {
  makeRunLog,
  RunHeader,
  RunLog,
  RunLogFailure,
  RunNotFound,
  type RunStorage,
  type StoredRun,
  workOf
} from "./RunLog.ts"

/** Where the log is. */
export interface RemoteRunStorageOptions {
  /** The address of the storage. */
  readonly address: string
  /** The headers of each request, such as one with a key. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted<string>>> | undefined
}

/** A run without its entries. */
export const StoredHead = Schema.Struct({
  header: RunHeader,
  canResume: Schema.Boolean,
  end: Schema.optionalKey(Schema.Struct({ created: Schema.Finite, changed: Schema.Finite, deleted: Schema.Finite })),
  size: Schema.Finite
})

/** What begins a writer: what its scope has taken, and the run. */
export const BeginWriter = Schema.Struct({ taken: Schema.String, header: RunHeader, isNew: Schema.Boolean })

/** An entry as a line. */
export const EntryLine = JsonParser.fromJsonString(RunEntry)

const decodeEntry = Schema.decodeUnknownEffect(EntryLine)
const decodeHead = Schema.decodeUnknownEffect(StoredHead)
const decodeHeads = Schema.decodeUnknownEffect(Schema.Array(StoredHead))
const decodeRefusal = Schema.decodeUnknownEffect(Schema.Struct({ Error: Schema.String }))
const decodeTaken = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.NullOr(Schema.String)))
const decodeWriter = Schema.decodeUnknownEffect(Schema.Struct({ writer: Schema.String }))

const unreachable = () => new RunLogFailure({ detail: "the process that keeps it does not answer" })

/** The storage behind an address. */
export const make = Effect.fnUntraced(function* ({ address, headers = {} }: RemoteRunStorageOptions) {
  const client = yield* HttpClient.HttpClient
  /** What this storage has taken, by its name. */
  const held = new Map<string, string>()

  const plainHeaders = () =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])
    )

  const ask = Effect.fnUntraced(function* (method: "GET" | "POST" | "DELETE", path: string, body?: string) {
    const request = HttpClientRequest.make(method)(`${address}${path}`, { headers: plainHeaders() })
    const response = yield* client
      .execute(body === undefined ? request : HttpClientRequest.bodyText(request, body, "application/json"))
      .pipe(Effect.mapError(unreachable))
    if (response.status < 300) return response
    const { Error: detail } = yield* Effect.flatMap(response.json, decodeRefusal).pipe(Effect.mapError(unreachable))
    return yield* response.status === 404 ? new RunNotFound({ run: detail }) : new RunLogFailure({ detail })
  })

  /** The same where nothing can be missing but by a mistake. */
  const askFor = (...given: Parameters<typeof ask>) =>
    Effect.catchTag(ask(...given), "RunNotFound", ({ run }) => Effect.fail(new RunLogFailure({ detail: run })))

  const linesOf = (response: HttpClientResponse.HttpClientResponse) =>
    response.stream.pipe(Stream.decodeText, Stream.splitLines, Stream.mapError(unreachable))

  const read = <A>(
    response: HttpClientResponse.HttpClientResponse,
    decode: (json: unknown) => Effect.Effect<A, unknown>
  ) => Effect.flatMap(response.json, decode).pipe(Effect.mapError(unreachable))

  const storedOf = (head: typeof StoredHead.Type): StoredRun => {
    const entries = (order: string) =>
      Stream.unwrap(
        Effect.map(askFor("GET", `/${head.header.id}/entries?order=${order}&size=${head.size}`), linesOf)
      ).pipe(Stream.mapEffect((line) => Effect.mapError(decodeEntry(line), unreachable)))
    return { ...head, end: head.end, entries: entries("forwards"), backwards: entries("backwards") }
  }

  const storage: RunStorage = {
    take: Effect.fnUntraced(function* (name) {
      const response = yield* askFor("POST", "/taken", JSON.stringify({ name }))
      // It stays open until the scope closes.
      const pull = yield* Stream.toPull(linesOf(response))
      const [line] = yield* Effect.catchTag(pull, "Done", () => Effect.fail(unreachable()))
      const id = yield* Effect.mapError(decodeTaken(line), unreachable)
      if (id === null) return false
      held.set(name, id)
      yield* Effect.addFinalizer(() => {
        held.delete(name)
        // So that whoever comes next finds it given back; the end of the connection alone would take a moment.
        return Effect.ignore(ask("DELETE", `/taken/${id}`))
      })
      return true
    }),
    all: Effect.gen(function* () {
      return (yield* read(yield* askFor("GET", ""), decodeHeads)).map(storedOf)
    }),
    find: Effect.fnUntraced(function* (id: string, size?: number) {
      const response = yield* Effect.catchTag(
        ask("GET", `/${encodeURIComponent(id)}${size === undefined ? "" : `?size=${size}`}`),
        "RunNotFound",
        () => Effect.fail(new RunNotFound({ run: id }))
      )
      return storedOf(yield* read(response, decodeHead))
    }),
    write: Effect.fnUntraced(function* (header, isNew) {
      const taken = held.get(workOf(header))
      if (taken === undefined) return yield* new RunLogFailure({ detail: "the run was not taken" })
      const begun = yield* askFor("POST", "/writers", JSON.stringify({ taken, header, isNew }))
      const { writer } = yield* read(begun, decodeWriter)
      return {
        write: (entry, isDurable) =>
          Effect.asVoid(askFor("POST", `/writers/${writer}?durable=${isDurable}`, JSON.stringify(entry)))
      }
    })
  }
  return storage
})

/** The log of runs on a target, which the process behind an address keeps. */
export const layer = ({
  target,
  ...options
}: RemoteRunStorageOptions & { readonly target: string }): Layer.Layer<RunLog, never, HttpClient.HttpClient> =>
  Layer.effect(
    RunLog,
    Effect.map(make(options), (storage) => makeRunLog(target, storage))
  )
