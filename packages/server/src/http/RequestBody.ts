/** Reads the JSON bodies of requests: each within the limit of its operation, and all of them within one budget. */
import type { OperationId } from "@roster/api"
import { maximumAddBytes } from "@roster/domain"
import { Context, Effect, Stream } from "effect"
import { HttpServerError, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { largeRequest, type RequestRefusal } from "../requests/LargeRequests.ts"

/** The limits of a JSON body. */
interface BodyLimits {
  readonly mebibytes: number
  /** The maximum number of names and elements, as `StrictJson.jsonIssue` counts them. */
  readonly values: number
  /** What to do with a larger one. */
  readonly instead?: string
}

const otherLimits: BodyLimits = { mebibytes: 2, values: 10_000 }

const limits: { readonly [Id in OperationId]?: BodyLimits } = {
  contactsPost: {
    mebibytes: maximumAddBytes / 1024 / 1024,
    values: 300_000,
    instead: "Add the contacts in parts, or import them as a file."
  },
  contactsDeletePost: { mebibytes: 8, values: 200_000, instead: "Delete the contacts in parts, or by a rule." },
  emailsPost: { mebibytes: 28, values: 100_000, instead: "Send the message with smaller attachments." }
}

const limitsById: ReadonlyMap<string, BodyLimits> = new Map(Object.entries(limits))

/** The limits of the body of an operation. */
export const bodyLimits = (operation: string): BodyLimits => limitsById.get(operation) ?? otherLimits

/** The maximum of all larger bodies together, in MiB, each held from its first byte until it is answered. */
const budgetMebibytes = 40

/** A body of up to this many bytes is outside the budget, and its rest is waited for when it was refused. */
const smallBody = 64 * 1024

const bytesIn = (mebibytes: number): number => mebibytes * 1024 * 1024

/** Whether a request has a body that is not here yet and is not worth waiting for. */
export const isBodyOutstanding = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean =>
  "complete" in source &&
  source.complete === false &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > smallBody)

const tooLarge = ({ instead, mebibytes }: BodyLimits): RequestRefusal => ({
  status: 413,
  text: [`The body of this request is larger than ${mebibytes} MiB.`, instead].join(" ").trim()
})

const overBudget: RequestRefusal = {
  status: 503,
  text: `The service reads as many large requests as it can hold, ${budgetMebibytes} MiB in all. Send this one again later.`
}

const notUtf8: RequestRefusal = { status: 400, text: "The body of this request is not UTF-8." }

/** A lenient decoder would put replacement characters into names. */
const utf8 = new TextDecoder("utf-8", { fatal: true })

const decoded = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Whether nobody else uses the bytes of a body, whose memory is then freed once they are text (default: false, for callers
 * in this process).
 */
export const OwnsBody = Context.Reference<boolean>("@roster/server/OwnsBody", { defaultValue: () => false })

/** Makes the reader of bodies, which has a budget of its own. */
export const makeBodyReader = () => {
  const budget = bytesIn(budgetMebibytes)
  let held = 0

  /** Reads the body of a request and answers it; the body counts as held until then. */
  return <E, R>(
    request: HttpServerRequest.HttpServerRequest,
    limits: BodyLimits,
    answer: (body: string) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    refuse: (refusal: RequestRefusal) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    /** Answers a large body elsewhere; `undefined` if that cannot be done. */
    answerLarge: (
      body: Uint8Array<ArrayBuffer>
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> | undefined
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
    const maximum = bytesIn(limits.mebibytes)
    const answerText = (bytes: Uint8Array) => {
      const body = decoded(bytes)
      return body === undefined ? refuse(notUtf8) : answer(body)
    }
    const answerOnce = (bytes: Uint8Array) =>
      Effect.flatMap(OwnsBody, (isOwned) => {
        const answered = answerText(bytes)
        if (isOwned && bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0)
        return answered
      })
    const answerBytes = (bytes: Uint8Array<ArrayBuffer>) =>
      (bytes.length < largeRequest ? undefined : answerLarge(bytes)) ?? answerText(bytes)
    const declared = Number(request.headers["content-length"])
    if (declared <= smallBody) {
      return Effect.flatMap(Effect.orDie(request.arrayBuffer), (bytes) => answerBytes(new Uint8Array(bytes)))
    }
    if (declared > maximum) return refuse(tooLarge(limits))
    if (held + declared > budget) return refuse(overBudget)
    return Effect.suspend(() => {
      const chunks: Array<Uint8Array> = []
      /**
       * The place of the whole body, once an eighth of it is here: its chunks beside it would double the memory.
       * Resizable, since its pages go back to the system as soon as it is freed; malloc would keep them.
       */
      let whole: Uint8Array<ArrayBuffer> | undefined
      let length = 0
      const take = (arrived: ReadonlyArray<Uint8Array>): Effect.Effect<void, RequestRefusal> => {
        for (const chunk of arrived) {
          length += chunk.length
          held += chunk.length
          if (length > maximum) return Effect.fail(tooLarge(limits))
          if (held > budget) return Effect.fail(overBudget)
          if (whole === undefined) chunks.push(chunk)
          else if (length <= declared) whole.set(chunk, length - chunk.length)
        }
        if (whole === undefined && length >= declared / 8 && length < declared) {
          whole = new Uint8Array(new ArrayBuffer(declared, { maxByteLength: declared }), 0, declared)
          let at = 0
          for (const chunk of chunks.splice(0)) {
            whole.set(chunk, at)
            at += chunk.length
          }
        }
        return Effect.void
      }
      return Stream.runForEachArray(request.stream, take).pipe(
        Effect.matchEffect({
          onFailure: (error) => (HttpServerError.isHttpServerError(error) ? Effect.die(error) : refuse(error)),
          onSuccess: () => {
            if (whole !== undefined) {
              const body = whole
              whole = undefined
              return answerBytes(body)
            }
            const [first, ...others] = chunks.splice(0)
            // Only within a process a large body is one chunk, which is not copied.
            if (first !== undefined && others.length === 0) return answerOnce(first)
            return answerBytes(Buffer.concat([first ?? new Uint8Array(), ...others]))
          }
        }),
        Effect.ensuring(
          Effect.sync(() => {
            held -= length
            // Of a body that was refused or cut. V8 would free it when it needs memory of its own.
            whole?.buffer.transfer(0)
          })
        )
      )
    })
  }
}
