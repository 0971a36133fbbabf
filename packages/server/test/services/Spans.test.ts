import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path, Redacted, Tracer } from "effect"
import { HttpMiddleware } from "effect/http"
import { RosterServer } from "../../src/index.ts"

/** The spans of one request to a service, and the key that it was made with. */
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
  const watched = Layer.merge(
    Layer.succeed(Tracer.Tracer, tracer),
    Layer.succeed(HttpMiddleware.TracerHeaderFilter, () => true)
  )
  const { address } = yield* Effect.provide(
    RosterServer.RosterServer,
    yield* Layer.build(Layer.provide(server, watched))
  )
  spans.length = 0
  yield* Effect.promise(() =>
    fetch(`${address}${path}`, { headers: { "X-Service-ApiKey": key } }).then((response) => response.text())
  )
  return { key, spans }
}, Effect.scoped)

describe("a service with a tracer", () => {
  it.live("makes a span of each request, method and statement", () =>
    Effect.gen(function* () {
      const { spans } = yield* spansOf("/contacts/nobody@example.com")
      const names = spans.map(({ name }) => name)
      for (const name of ["GET", "ContactsService.get", "sqlite"]) assert.include(names, name)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("knows a request by its route, and no key even where headers are wanted", () =>
    Effect.gen(function* () {
      const { key, spans } = yield* spansOf("/contacts/nobody@example.com?x=nobody@example.com")
      const request = spans.find(({ kind }) => kind === "server")
      assert.strictEqual(request?.attributes.get("http.route"), "/v4/contacts/:email")
      const attributes = JSON.stringify([...(request?.attributes ?? [])])
      assert.include(attributes, "http.request.header.host")
      assert.notInclude(attributes, "nobody")
      assert.notInclude(attributes, key)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
