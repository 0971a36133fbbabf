/** Reads the JSON bodies of requests: each within the limit of its operation, and all of them within budgets. */
import type { OperationId } from "@roster/api"
import { maximumAddBytes } from "@roster/domain"
import { Data, Effect, type Scope, Stream } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import { Caller } from "../credentials/Caller.ts"
import { registerGauge } from "../metrics/ObservableMetric.ts"
import { openRequest } from "../network/OpenRequests.ts"
import { LastingRefusals } from "../threads/LastingRefusals.ts"
import { type Full, makeQuota } from "../threads/Quota.ts"
import { yieldToEventLoop } from "../threads/Slices.ts"

/** The limits of a JSON body. */
interface BodyLimits {
  readonly mebibytes: number
  /** The maximum number of names and elements, as `StrictJson.checkJson` counts them. */
  readonly values: number
  /** What to do with a larger one. */
  readonly instead?: string
}

const otherLimits: BodyLimits = { mebibytes: 2, values: 10_000 }

/** The body of what is done to contacts by their addresses. */
const addressLimits = (instead: string): BodyLimits => ({ mebibytes: 8, values: 200_000, instead })

const limits: { readonly [Id in OperationId]?: BodyLimits } = {
  contactsPost: {
    mebibytes: maximumAddBytes / 1024 / 1024,
    values: 300_000,
    instead: "Add the contacts in parts, or import them as a file."
  },
  contactsChangesPost: {
    mebibytes: maximumAddBytes / 1024 / 1024,
    values: 600_000,
    instead: "Make the changes in parts."
  },
  contactsDeletePost: addressLimits("Delete the contacts in parts, or by a rule."),
  contactsExportPost: addressLimits("Export the contacts in parts, or by a rule."),
  listsByNameContactsPost: addressLimits("Add the contacts in parts, or by a rule."),
  listsByNameContactsRemovePost: addressLimits("Remove the contacts in parts, or by a rule."),
  emailsPost: { mebibytes: 28, values: 100_000, instead: "Send the message with smaller attachments." }
}

const limitsById: ReadonlyMap<string, BodyLimits> = new Map(Object.entries(limits))

/** The limits of the body of an operation. */
export const bodyLimits = (operation: string): BodyLimits => limitsById.get(operation) ?? otherLimits

/** The maximum of all larger bodies together, in MiB, each held from its first byte until it is answered. */
const budgetMebibytes = 40

/** The maximum of the larger bodies of one account: as much as the largest body, so that no account takes all. */
const accountMebibytes = 28

/** A body of up to this many bytes is outside the budget, and its rest is waited for when it was refused. */
const smallBody = 64 * 1024

const bytesIn = (mebibytes: number): number => mebibytes * 1024 * 1024

/** Whether a request has a body that is not here yet and is not worth waiting for. */
export const isBodyOutstanding = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean =>
  "complete" in source &&
  source.complete === false &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > smallBody)

/** Why a body is not taken, for the response. */
export class BodyRefused extends Data.TaggedError("BodyRefused")<{
  readonly status: number
  readonly text: string
  /** In seconds. */
  readonly retryAfter?: number
}> {}

const tooLarge = ({ instead, mebibytes }: BodyLimits) =>
  new BodyRefused({
    status: 413,
    text: [`The body of this request is larger than ${mebibytes} MiB.`, instead].join(" ").trim()
  })

const overBudget = {
  all: new BodyRefused({
    status: 503,
    text: `The service reads as many large requests as it can hold, ${budgetMebibytes} MiB in all. Send this one again later.`,
    retryAfter: 1
  }),
  own: new BodyRefused({
    status: 429,
    text:
      `This account sends as many large requests at one time as it may, ${accountMebibytes} MiB together. Send this one ` +
      "when others are answered.",
    retryAfter: 1
  })
} satisfies Record<Full, BodyRefused>

const notUtf8 = new BodyRefused({ status: 400, text: "The body of this request is not UTF-8." })

/** A lenient decoder would put replacement characters into names. */
const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (bytes: ArrayBuffer | Uint8Array): Effect.Effect<string, BodyRefused> =>
  Effect.try({ try: () => utf8.decode(bytes), catch: () => notUtf8 })

/** Makes the reader of bodies, which has budgets of its own. */
export const makeBodyReader = Effect.gen(function* () {
  const watched = (yield* LastingRefusals)?.watch("JSON bodies above 64 KiB")
  const quota = makeQuota({ own: bytesIn(accountMebibytes), all: bytesIn(budgetMebibytes), watched })
  yield* registerGauge("roster_held_body_bytes", "Bytes of JSON bodies above 64 KiB that are held", quota.held)

  /** Reads the text of the body of a request, which counts as held until the scope ends. */
  return (
    request: HttpServerRequest.HttpServerRequest,
    limits: BodyLimits
  ): Effect.Effect<string, BodyRefused, Scope.Scope> => {
    const maximum = bytesIn(limits.mebibytes)
    const declared = Number(request.headers["content-length"])
    if (declared <= smallBody) return Effect.flatMap(Effect.orDie(request.arrayBuffer), textOf)
    if (declared > maximum) return Effect.fail(tooLarge(limits))
    return Effect.flatMap(Caller, ({ account }) => {
      const full = declared > 0 ? quota.full(account, declared) : undefined
      if (full !== undefined) return Effect.fail(overBudget[full])
      const chunks: Array<Uint8Array> = []
      let length = 0
      const receive = (takeMore: (further: number) => Full | undefined) =>
        Stream.runForEachArray(request.stream, (arrived): Effect.Effect<void, BodyRefused> => {
          for (const chunk of arrived) {
            length += chunk.length
            if (length > maximum) return Effect.fail(tooLarge(limits))
            const full = takeMore(chunk.length)
            if (full !== undefined) return Effect.fail(overBudget[full])
            chunks.push(chunk)
          }
          return Effect.void
        })
      return quota.hold(account, 0, openRequest(request)?.carrier).pipe(
        Effect.mapError((full) => overBudget[full]),
        Effect.flatMap(receive),
        Effect.catchIf(HttpServerError.isHttpServerError, Effect.die),
        Effect.map(() => Buffer.concat(chunks.splice(0))),
        // Of the longest bodies each of these takes others some milliseconds.
        Effect.tap(() => yieldToEventLoop),
        Effect.flatMap(textOf),
        Effect.tap(() => yieldToEventLoop)
      )
    })
  }
})
