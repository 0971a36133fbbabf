/**
 * `roster serve` under hostile imports: bytes on a socket in, and a look at its store and its temporary folder from
 * outside.
 */
import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { connect } from "node:net"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import {
  askServe,
  type KillableServe,
  killableServe,
  type ServePlace,
  servePlace,
  uploadsIn
} from "../durability/KillableServe.ts"
import { contactsIn, jobsIn, rowsOf, type SeenContact, type SeenJob } from "../durability/StoreLook.ts"

/** Less than one hostile file of these tests would need as a whole, in MiB: the process dies where it holds one. */
const heap = 64

export class Hostile extends Context.Service<Hostile, { readonly place: ServePlace; readonly serve: KillableServe }>()(
  "@roster/testing/test/Hostile"
) {
  static readonly layer = (...args: ReadonlyArray<string>) =>
    Layer.effect(
      Hostile,
      Effect.gen(function* () {
        const place = yield* servePlace
        const serve = yield* killableServe(place, { args, heap })
        yield* Effect.addFinalizer(() => Effect.orDie(serve.stop))
        return Hostile.of({ place, serve })
      })
    ).pipe(Layer.provide(NodeServices.layer))
}

export interface Answered {
  readonly status: number
  readonly text: string
}

/**
 * The answer to a request, which may come before all of it is read; the connection may break behind it. The sender says
 * that nothing follows where `end` is set.
 */
const answerTo = ({ baseUrl }: KillableServe, head: string, body: Uint8Array, end: boolean) =>
  Effect.callback<Answered>((resume) => {
    const { hostname, port } = new URL(baseUrl)
    let answer = ""
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => {
      socket.write(head)
      if (end) socket.end(body)
      else socket.write(body)
    })
    const done = (): boolean => {
      const [head = "", ...body] = answer.split("\r\n\r\n")
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
      const text = body.join("\r\n\r\n")
      if (status >= 200 && text.length >= Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)) {
        resume(Effect.succeed({ status, text }))
        return true
      }
      return false
    }
    socket.setEncoding("latin1")
    socket.on("data", (text) => {
      answer += String(text)
      if (done()) socket.destroy()
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      if (!done()) resume(Effect.die(new Error(`the connection closed without an answer: ${answer}`)))
    })
    return Effect.sync(() => socket.destroy())
  })

/** Large files are not copied, which would take longer than to send them. */
const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === "string" ? Buffer.from(content) : content

/** Sends an import with this body, as long as it says or shorter. */
export const sendImport = (
  body: string | Uint8Array,
  options: { readonly type?: string; readonly query?: string; readonly length?: number; readonly end?: boolean } = {}
) =>
  Effect.flatMap(Hostile, ({ serve }) => {
    const { host, pathname } = new URL(serve.baseUrl)
    const bytes = bytesOf(body)
    const head =
      `POST ${pathname}/contacts/import${options.query ?? ""} HTTP/1.1\r\nHost: ${host}\r\n` +
      `X-Service-ApiKey: ${serve.apiKey}\r\nContent-Type: ${options.type ?? multipart}\r\n` +
      `Content-Length: ${options.length ?? bytes.length}\r\n\r\n`
    return answerTo(serve, head, bytes, options.end ?? false)
  })

const boundary = "hostile-b0undary"

export const multipart = `multipart/form-data; boundary=${boundary}`

/** A part of a form, with the headers that stand before its content. */
export const part = (headers: string, content: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`), bytesOf(content), Buffer.from("\r\n")])

export const filePart = (content: string | Uint8Array, name = "people.csv") =>
  part(`Content-Disposition: form-data; name="file"; filename="${name}"`, content)

export const fieldPart = (name: string, content: string) =>
  part(`Content-Disposition: form-data; name="${name}"`, content)

export const form = (...parts: ReadonlyArray<Uint8Array>): Buffer =>
  Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])

/** Sends a file, the usual way. */
export const sendFile = (content: string | Uint8Array, query = "") => sendImport(form(filePart(content)), { query })

/** Asks for the import of an address. */
export const sendAddress = (url: string) =>
  Effect.flatMap(Hostile, ({ serve }) => askServe(serve, "POST", `/contacts/import?fileUrl=${encodeURIComponent(url)}`))

const Error400 = Schema.fromJsonString(Schema.Struct({ Error: Schema.String }))

/** That an import is refused with 400 in the one shape of errors, and that neither a job nor a file comes of it. */
export const refusedImport = <E, R>(send: Effect.Effect<Answered, E, R>) =>
  Effect.gen(function* () {
    const { place } = yield* Hostile
    const before = jobsIn(place).length
    const { status, text } = yield* send
    assert.strictEqual(status, 400, text)
    const { Error } = yield* Schema.decodeEffect(Error400)(Buffer.from(text, "latin1").toString()).pipe(Effect.orDie)
    yield* eventually(
      Effect.sync(() => uploadsIn(place)),
      (uploads) => uploads.length === 0
    )
    assert.strictEqual(jobsIn(place).length, before)
    return Error
  })

const Rejection = Schema.Struct({ line: Schema.Int, reason: Schema.String })

export interface Settled {
  readonly job: SeenJob
  readonly rejections: ReadonlyArray<typeof Rejection.Type>
  /** The contacts whose address ends so. */
  readonly contacts: (domain: string) => ReadonlyArray<SeenContact>
}

/** That an import is taken, and what came of it once it has ended. */
export const settledImport = <E, R>(send: Effect.Effect<Answered, E, R>) =>
  Effect.gen(function* () {
    const { place } = yield* Hostile
    const before = jobsIn(place).length
    const { status, text } = yield* send
    assert.strictEqual(status, 202, text)
    const job = yield* eventually(
      Effect.sync(() => jobsIn(place).at(-1)),
      (job) => job?.state === "Ready" || job?.state === "Error"
    )
    if (job === undefined) return yield* Effect.die(new Error("there is no job"))
    assert.strictEqual(jobsIn(place).length, before + 1)
    assert.strictEqual(job.accepted + job.rejected, job.rows_done)
    const rejections = rowsOf(
      place,
      Rejection,
      "SELECT line, reason FROM job_rejections WHERE job = ? ORDER BY line",
      job.number
    )
    const settled: Settled = {
      job,
      rejections,
      contacts: (domain) => contactsIn(place).filter(({ email }) => email.endsWith(`@${domain}`))
    }
    return settled
  })

/** The reason why a job ended in an error. */
export const failedImport = <E, R>(send: Effect.Effect<Answered, E, R>) =>
  Effect.map(settledImport(send), ({ job }) => {
    assert.strictEqual(job.state, "Error")
    return job.problem ?? assert.fail("the job says no reason")
  })
