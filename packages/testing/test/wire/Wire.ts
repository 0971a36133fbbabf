/**
 * Raw HTTP against `roster serve`: requests as they are written here, answers as they come, no client in between.
 */
import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Predicate, Redacted, type Scope } from "effect"
import { request } from "node:http"
import { serveProcess, type ServeProcess, type ServeProcessOptions } from "../../src/index.ts"

export interface Asked {
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** Sent as it is; an array is sent chunk by chunk, without a length. */
  readonly body?: string | Uint8Array | ReadonlyArray<string | Uint8Array>
  /** The key to ask with in place of the administrator's; `null` for none. */
  readonly key?: string | null
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly bytes: Uint8Array
  readonly text: string
}

export class Wire extends Context.Service<
  Wire,
  {
    readonly served: ServeProcess
    readonly administratorKey: string
    /** Asks for a path below the base address, to the letter. */
    readonly ask: (method: string, path: string, asked?: Asked) => Effect.Effect<Answered>
    /** All that was answered so far. */
    readonly answers: () => string
  }
>()("@roster/testing/test/Wire") {
  /** In front of a process that `options` start. */
  static readonly layerOf = (options: Effect.Effect<ServeProcessOptions, unknown, Scope.Scope>) =>
    Layer.effect(
      Wire,
      Effect.map(Effect.flatMap(options, serveProcess), (served) => {
        const { hostname, pathname, port } = new URL(served.baseUrl)
        const administratorKey = Redacted.value(served.apiKey)
        let answers = ""
        const ask = (method: string, path: string, { body = "", headers = {}, key = administratorKey }: Asked = {}) =>
          Effect.callback<Answered>((resume) => {
            const keyHeader = key === null ? {} : { "X-Service-ApiKey": key }
            const chunks = typeof body === "string" || body instanceof Uint8Array ? undefined : body
            const sized = typeof body === "string" || body instanceof Uint8Array ? Buffer.from(body) : undefined
            const length: Readonly<Record<string, string>> =
              sized === undefined ? { "Transfer-Encoding": "chunked" } : { "Content-Length": String(sized.length) }
            const sent = request(
              {
                hostname,
                port,
                path: `${pathname}${path}`,
                method,
                agent: false,
                headers: { ...keyHeader, ...length, ...headers }
              },
              (response) => {
                const parts: Array<Buffer> = []
                response.on("data", (part: Buffer) => parts.push(part))
                response.on("end", () => {
                  const bytes = Buffer.concat(parts)
                  const text = bytes.toString("utf8")
                  answers += `${JSON.stringify(response.headers)}\n${text}\n`
                  resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, bytes, text }))
                })
                response.on("error", (error) => resume(Effect.die(error)))
              }
            )
            sent.on("error", (error) => resume(Effect.die(error)))
            if (chunks === undefined) sent.end(sized)
            else {
              for (const chunk of chunks) sent.write(chunk)
              sent.end()
            }
          })
        return Wire.of({ served, administratorKey, ask, answers: () => answers })
      })
    ).pipe(Layer.provide(NodeServices.layer))

  /** With more arguments for `roster serve`. */
  static readonly layerWith = (args: ReadonlyArray<string>) => Wire.layerOf(Effect.succeed({ args }))

  static readonly layer = Wire.layerWith([])
}

/** A request to an operation of the interface. */
export const ask = (method: string, path: string, asked?: Asked) =>
  Effect.flatMap(Wire, (wire) => wire.ask(method, path, asked))

/** A request with a JSON body. */
export const askJson = (method: string, path: string, body: unknown, asked: Asked = {}) =>
  ask(method, path, {
    ...asked,
    headers: { "Content-Type": "application/json", ...asked.headers },
    body: JSON.stringify(body)
  })

export const jsonOf = (answered: Answered): unknown => JSON.parse(answered.text)

/** An answer with a JSON body and this status. */
export const succeeded = (answered: Answered, status = 200): unknown => {
  assert.strictEqual(answered.status, status, answered.text)
  assert.match(String(answered.headers["content-type"]), /^application\/json\b/)
  return jsonOf(answered)
}

/** An answer without a body and with this status. */
export const succeededEmpty = (answered: Answered, status = 200): void => {
  assert.strictEqual(answered.status, status, answered.text)
  assert.strictEqual(answered.text, "")
}

/** A refusal with this status, which is `{"Error": "text"}` and nothing else. Gives the text. */
export const refusedWith = (answered: Answered, status: number): string => {
  assert.strictEqual(answered.status, status, answered.text)
  assert.match(String(answered.headers["content-type"]), /^application\/json\b/)
  const body = jsonOf(answered)
  assert.isTrue(Predicate.isObject(body))
  assert.deepStrictEqual(Predicate.isObject(body) ? Object.keys(body) : [], ["Error"])
  const text = Predicate.isObject(body) ? body["Error"] : undefined
  return typeof text === "string" && text !== "" ? text : assert.fail("Error is no text")
}

/** A field of a JSON object, where it is a text. */
export const textField = (value: unknown, name: string): string => {
  const field = Predicate.isObject(value) ? value[name] : undefined
  return typeof field === "string" ? field : assert.fail(`${name} is no text in ${JSON.stringify(value)}`)
}
