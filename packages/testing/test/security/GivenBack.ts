/**
 * Requests that end early, each with a part of its body: all that they held is given back, whoever ended them, and others are
 * served.
 */
import { assert, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Duration, Effect, Exit, FileSystem, Metric, Scope } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { readdirSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { readExposition, sampleOf } from "../observability/Exposition.ts"
import {
  answerTo,
  bodyOf,
  type Connection,
  dial,
  head,
  metricOf,
  rawServed,
  type RawServed,
  refusedAs,
  statusOf
} from "./RawServed.ts"

type Store = NonNullable<Parameters<typeof rawServed>[0]>["store"]

const json = { "Content-Type": "application/json" }
const chunked = { "Transfer-Encoding": "chunked" }
const sized = { "Content-Length": "200000" }
const boundary = "b0undary"
const form = { "Content-Type": `multipart/form-data; boundary=${boundary}` }

const file = (name: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

/** More than 64 KiB, which is held. */
const large = `[{"Email":"part@example.com","FirstName":"${"x".repeat(100_000)}`

const rows = `Email\r\n${"part@example.com\r\n".repeat(1000)}`

/** Of a file that gzip has compressed. */
const compressed = gzipSync(rows).subarray(0, 50).toString("latin1")

/** Requests by what they send, and the part of the body that arrives. */
const parts: Readonly<
  Record<string, readonly [line: string, headers: Readonly<Record<string, string>>, part: string]>
> = {
  "small JSON": ["POST /v4/contacts", { ...json, "Content-Length": "100" }, '[{"Email":'],
  "large JSON": ["POST /v4/contacts", { ...json, ...sized }, large],
  "chunked JSON": ["POST /v4/contacts/changes", { ...json, ...chunked }, chunk(large)],
  "a message": ["POST /v4/emails", { ...json, ...sized }, large],
  "a body where none is taken": ["DELETE /v4/contacts/a@example.com", { ...json, "Content-Length": "10" }, "{"],
  "a file": ["POST /v4/contacts/import", { ...form, ...sized }, file("a.csv") + rows],
  "a chunked file": ["POST /v4/contacts/import", { ...form, ...chunked }, chunk(file("a.csv") + rows)],
  "a compressed file": ["POST /v4/contacts/import", { ...form, ...sized }, file("a.csv.gz") + compressed],
  "a field of a form": [
    "POST /v4/contacts/import",
    { ...form, ...sized },
    `--${boundary}\r\nContent-Disposition: form-data; name="listName"\r\n\r\nne`
  ]
}

const count = Object.keys(parts).length

/** What is held while these requests wait for the rest. */
const whileHeld = {
  roster_held_connections: count,
  roster_held_body_bytes: 3 * large.length,
  roster_held_uploads: 4,
  roster_held_upload_bytes: 3 * 200_000 + file("a.csv").length + rows.length,
  roster_held_turns: 0
}

const names = Object.keys(whileHeld)

const sendParts = (served: RawServed) =>
  Effect.forEach(Object.values(parts), ([line, headers, part]) =>
    Effect.tap(dial(served, head(served, line, headers)), ({ socket }) =>
      Effect.sync(() => socket.write(part, "latin1"))
    )
  )

const heldBy = (served: RawServed) =>
  Effect.map(
    Effect.forEach(names, (name) => Effect.map(metricOf(served, name), (value) => [name, value] as const)),
    Object.fromEntries
  )

const untilHeld = (served: RawServed) =>
  eventually(heldBy(served), (held) => JSON.stringify(held) === JSON.stringify(whileHeld))

/** Until nothing is held, neither in memory nor in the temporary folder. */
const untilGivenBack = (served: RawServed, folder: string) =>
  eventually(
    Effect.map(heldBy(served), (held) => [...Object.values(held), readdirSync(folder).length]),
    (held) => held.every((one) => one === 0)
  )

/** A folder for temporary files, used by nobody else. */
const ownTemporaryFolder = Effect.gen(function* () {
  const { makeTempDirectoryScoped } = yield* FileSystem.FileSystem
  const folder = yield* makeTempDirectoryScoped()
  const before = process.env["TMPDIR"]
  yield* Effect.acquireRelease(
    Effect.sync(() => void (process.env["TMPDIR"] = folder)),
    () =>
      Effect.sync(() => {
        if (before === undefined) delete process.env["TMPDIR"]
        else process.env["TMPDIR"] = before
      })
  )
  return folder
})

/** That others are served. */
const isServed = Effect.fnUntraced(function* (served: RawServed) {
  const whole = `${large}"}]`
  const imported = `${file("a.csv")}Email\r\na@example.com\r\n--${boundary}--\r\n`
  const sending = [
    ["POST /v4/contacts", json, whole, 400],
    ["POST /v4/contacts", json, '[{"Email":"whole@example.com"}]'.padEnd(100_000), 200],
    ["POST /v4/contacts/import", form, imported, 202]
  ] as const
  for (const [line, type, body, status] of sending) {
    const headers = { ...type, "Content-Length": String(body.length), Connection: "close" }
    const { closed } = yield* dial(served, head(served, line, headers) + body)
    const answer = yield* closed
    assert.strictEqual(statusOf(answer), status, answer)
  }
  assert.strictEqual(bodyOf(yield* answerTo(served, "GET /health/ready")), '{"status":"ready"}')
})

const refusedWith = (connections: ReadonlyArray<Connection>, status: number) =>
  Effect.forEach(connections, ({ closed }, index) =>
    Effect.map(closed, (answer) => assert.strictEqual(statusOf(answer), status, Object.keys(parts)[index]))
  )

export const givenBackCases = <E>(makeStore: Effect.Effect<NonNullable<Store>, E, Scope.Scope>) => {
  const tried = <A, E>(effect: Effect.Effect<A, E, Scope.Scope | FileSystem.FileSystem>) =>
    effect.pipe(
      Effect.scoped,
      Effect.provide(NodeServices.layer),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )

  it.live("what requests hold is given back where their clients go, or others need their places", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const folder = yield* ownTemporaryFolder
      const options = { store, metrics: { port: 0 }, connectionLimits: { byAccount: count } }
      const served = yield* rawServed(options)
      const gone = yield* sendParts(served)
      yield* untilHeld(served)
      for (const { socket } of gone) socket.resetAndDestroy()
      yield* untilGivenBack(served, folder)

      const displaced = yield* sendParts(served)
      yield* untilHeld(served)
      const others = yield* sendParts(served)
      yield* refusedWith(displaced, 503)
      yield* untilHeld(served)
      for (const { socket } of others) socket.end()
      yield* untilGivenBack(served, folder)

      // Beyond the bound of its operation.
      const { closed, socket } = yield* dial(
        served,
        head(served, "PUT /v4/contacts/a@example.com", { ...json, ...chunked })
      )
      socket.write(chunk("x".repeat(2 * 1024 * 1024 + 1)))
      refusedAs(yield* closed, 413)
      yield* untilGivenBack(served, folder)
      yield* isServed(served)
      yield* untilGivenBack(served, folder)
    }).pipe(tried)
  )

  it.live("what requests hold is given back where they are late, or the service ends", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const folder = yield* ownTemporaryFolder
      const scope = yield* Scope.make()
      const connectionLimits = { waitTimeout: Duration.seconds(2) }
      const served = yield* Scope.provide(rawServed({ store, metrics: { port: 0 }, connectionLimits }), scope)
      yield* refusedWith(yield* sendParts(served), 408)
      yield* untilGivenBack(served, folder)
      yield* isServed(served)
      yield* untilGivenBack(served, folder)

      const last = yield* sendParts(served)
      yield* eventually(metricOf(served, "roster_held_uploads"), (held) => held > 0)
      yield* Scope.close(scope, Exit.void)
      yield* Effect.forEach(last, ({ closed }) => closed)
      const left = readExposition(yield* PrometheusMetrics.format())
      assert.deepStrictEqual(
        names.map((name) => sampleOf(left, name)),
        names.map(() => 0)
      )
      assert.deepStrictEqual(readdirSync(folder), [])
    }).pipe(tried)
  )
}
