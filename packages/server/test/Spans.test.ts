import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path, Redacted, Tracer } from "effect"
import { RosterServer } from "../src/index.ts"

/** The spans of one request to a service, by name. */
const spansOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  let key = ""
  const server = RosterServer.layer({
    port: 0,
    store: { filename: (yield* Path.Path).join(folder, "store.db") },
    onAdministratorKey: (secret) =>
      Effect.sync(() => {
        key = Redacted.value(secret)
      })
  })
  const { address } = yield* Effect.provide(
    RosterServer.RosterServer,
    yield* Layer.build(Layer.provide(server, Layer.succeed(Tracer.Tracer, tracer)))
  )
  spans.length = 0
  yield* Effect.promise(() =>
    fetch(`${address}${path}`, { headers: { "X-Service-ApiKey": key } }).then((response) => response.text())
  )
  return spans.map(({ name }) => name)
}, Effect.scoped)

describe("a service with a tracer", () => {
  it.live("makes a span of each request, method and statement", () =>
    Effect.gen(function* () {
      const names = yield* spansOf("/contacts/nobody@example.com")
      for (const name of ["GET", "ContactsService.get", "sqlite"]) assert.include(names, name)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
