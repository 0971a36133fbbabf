/**
 * The longest piece of CPU that a request of any shape takes of the thread that answers requests, the same on each engine: so
 * long others wait. (docs/limits.md)
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { operations } from "@roster/api"
import { Effect, Redacted, type Scope } from "effect"
import { request } from "node:http"
import { fileURLToPath } from "node:url"
import { serveProcess, type ServeProcessOptions } from "../../src/index.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { longRun } from "../../src/simulation/LongRun.ts"
import { type Description, requestsOf, type Sent } from "./Shapes.ts"

/** In milliseconds of CPU. A message may have 28 MiB, which are parsed and written at once. */
const longestPiece = (operation: string): number => (operation === "emailsPost" ? longestWhileBusy : 50)

/** What the same takes where other tests share the caches of the machine. */
const longestWhileBusy = 200

const probe = fileURLToPath(new URL("ThreadProbe.ts", import.meta.url))
const bundle = fileURLToPath(new URL("../../../cli/dist/roster.js", import.meta.url))

/** Serves a store in a process whose answering thread is watched. */
const watched = Effect.fnUntraced(function* (options: ServeProcessOptions) {
  const { apiKey, baseUrl, output } = yield* serveProcess({
    ...options,
    program: [process.execPath, "--import", probe, bundle]
  })
  const said = yield* eventually(
    Effect.sync(() => [...output().matchAll(/probe on (\S+)/g)].at(-1)?.[1]),
    (address) => address !== undefined
  )
  const tell = (path: string) => Effect.promise(async () => Number(await (await fetch(`${said}${path}`)).text()))
  const ask = ({ body, method, path, type = "application/json" }: Omit<Sent, "name" | "operation">, key: string) =>
    Effect.callback<{ readonly status: number; readonly text: string }>((resume) => {
      const sent = body?.()
      const headers = {
        "X-Service-ApiKey": key,
        ...(sent === undefined ? {} : { "Content-Type": type, "Content-Length": Buffer.byteLength(sent) })
      }
      // The service may refuse a request before it has arrived.
      const broken = () => resume(Effect.succeed({ status: 0, text: "" }))
      request(`${baseUrl}${path}`, { method, headers }, (response) => {
        const parts: Array<Buffer> = []
        response.on("data", (part) => parts.push(part))
        response.on("error", broken)
        response.on("end", () =>
          resume(Effect.succeed({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }))
        )
      })
        .on("error", broken)
        .end(sent)
    })
  const administrator = Redacted.value(apiKey)
  const keys = new Map<string, string>()
  /** A key that opens nothing but one operation. */
  const keyFor = Effect.fnUntraced(function* (operation: string) {
    const level = operations.get(operation)?.requiredAccess ?? assert.fail(`there is no operation ${operation}`)
    const known = keys.get(level)
    if (known !== undefined) return known
    const body = () => JSON.stringify({ Name: level, AccessLevel: [level] })
    const { text } = yield* ask({ method: "POST", path: "/security/apikeys", body }, administrator)
    const made = String(JSON.parse(text).Token)
    keys.set(level, made)
    return made
  })
  const longestOf = Effect.fnUntraced(function* (sent: Sent) {
    const key = yield* keyFor(sent.operation)
    yield* tell("/start")
    const { status } = yield* ask(sent, key)
    return { status, longest: yield* tell("/stop") }
  })
  const description: Description = JSON.parse(
    (yield* ask({ method: "GET", path: "/openapi.json" }, administrator)).text
  )
  return { description, longestOf }
})

/** The requests whose longest piece was too long each time; without names, all requests are sent. */
export const slowOf = Effect.fnUntraced(function* (options: ServeProcessOptions, names?: ReadonlyArray<string>) {
  const { description, longestOf } = yield* watched(options)
  const all = [...requestsOf(description)]
  const sent = names === undefined ? all : all.filter(({ name }) => names.includes(name))
  assert.lengthOf(sent, names?.length ?? all.length)
  const slow: Array<string> = []
  for (const each of sent) {
    const bound = names === undefined ? longestPiece(each.operation) : longestWhileBusy
    let least = Infinity
    // A collection of garbage may fall into one of them.
    for (let tries = 0; tries < 3 && least > bound; tries++) {
      const { longest } = yield* longestOf(each)
      least = Math.min(least, longest)
    }
    if (least > bound) slow.push(`${each.name}: ${least.toFixed()} ms`)
  }
  return slow
})

/** The cases on one engine. */
export const piecesCases = (
  engine: string,
  options: Effect.Effect<ServeProcessOptions, unknown, Scope.Scope>
): void => {
  describe(`pieces, ${engine}`, () => {
    it.live.skipIf(!longRun)(
      "no request keeps the answering thread for more than 50 ms of CPU, whatever is long in it (nightly)",
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* slowOf(yield* options), [])
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
      3_000_000
    )
  })
}
