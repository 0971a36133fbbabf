/** What is checked of a request before its handler. Input outside the contract becomes a 400 that names the field. */
import { BadRequest, refusalTexts, type OperationId } from "@roster/api"
import { InvalidInput } from "@roster/domain"
import { invalidInput, StrictJson } from "@roster/domain/internal"
import { ByteSize, Effect, identity, Schema } from "effect"
import { HttpIncomingMessage, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { AuditRefusals } from "../credentials/AuditRefusals.ts"
import { eventOf } from "../credentials/AuditTrail.ts"
import { Caller } from "../credentials/Caller.ts"
import { type Guard, errorResponse } from "./Routes.ts"
import { answerOnce } from "./Idempotency.ts"
import { queryNames } from "./QueryNames.ts"
import { hasForm } from "./ImportForm.ts"
import { bodyLimits, BodyRefused, makeBodyReader } from "./RequestBody.ts"
import { inSlices } from "../threads/Slices.ts"
import { inTurn, Turns } from "../requests/Turns.ts"

const isJson = (contentType: string | undefined): boolean =>
  // As the Encoding Standard has it, `utf8` is a name of UTF-8 too.
  /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i.test(contentType ?? "")

const takesForm = ({ payload }: HttpApiEndpoint.Top): boolean => payload.has("multipart/form-data")

/** An import takes a form or no body, and the contract describes no body as JSON. */
const takesJson = (endpoint: HttpApiEndpoint.Top): boolean =>
  endpoint.payload.has("application/json") && !takesForm(endpoint)

const hasBody = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/** Whether a body is compressed, which no operation takes. */
const isCompressed = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  !/^(?:identity)?$/i.test(headers["content-encoding"]?.trim() ?? "")

const compressed = "The body of this request is compressed: send it without Content-Encoding."

const noJson = new BodyRefused({
  status: 415,
  text: "The body of this request is JSON: send it with Content-Type: application/json."
})

/** A body without content: some clients always send one. */
const emptyBody = /^(?:null|\{\s*\}|\[\s*\])?$/

/** A longer body has content. */
const maximumEmptyBody = ByteSize.fromInputUnsafe("1 KiB")

/** Whether the body of a request has no content. Only a short body is read. */
const isEmptyBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<boolean> =>
  Number(request.headers["content-length"] ?? 0) > Number(maximumEmptyBody)
    ? Effect.succeed(false)
    : Effect.suspend(() => request.text).pipe(
        Effect.match({ onFailure: () => false, onSuccess: (text) => emptyBody.test(text.trim()) }),
        Effect.provideService(HttpIncomingMessage.MaxBodySize, maximumEmptyBody)
      )

/** The refusal of a body by an operation without one, with the parameters to use instead. */
const noBody = (endpoint: HttpApiEndpoint.Top): InvalidInput => {
  const parameters = queryNames(endpoint)
  const elsewhere = parameters.length === 0 ? "" : `; in its query it takes ${parameters.join(", ")}`
  const kind = takesForm(endpoint) ? "no body but multipart/form-data" : "no body"
  return new InvalidInput({ field: "body", issue: `this operation takes ${kind}${elsewhere}` })
}

/** A body of up to so many characters is answered at once, which takes less than 1 ms; others take turns. */
const promptBody = 1024

/** Operations that take their turns themselves: what is done by a rule waits for that, and a look-up for no write. */
const takingTurns: ReadonlySet<string> = new Set<OperationId>([
  "contactsDeletePost",
  "contactsLookupPost",
  "listsByNameContactsPost",
  "listsByNameContactsRemovePost"
])

const isMalformed = (error: unknown): error is Schema.SchemaError | InvalidInput =>
  Schema.isSchemaError(error) || error instanceof InvalidInput

/** The audit trail also records changes of credentials that do not fit the contract. */
const recordMalformed = Effect.fnUntraced(function* (
  refusals: AuditRefusals["Service"],
  { identifier, method }: HttpApiEndpoint.Top
) {
  if (!identifier.startsWith("security") || method === "GET") return
  yield* refusals.record(eventOf(yield* Caller, identifier), "InvalidInput")
})

type GuardServices = SqlClient.SqlClient | AuditRefusals | Turns

/** Checks the type and size of the body, and turns input that does not fit the contract into a 400 with the field. */
export const requestChecks: Effect.Effect<Guard, never, GuardServices> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const refusals = yield* AuditRefusals
  const inWriteTurn = inTurn((yield* Turns).write)
  const readBody = yield* makeBodyReader
  const guard: Guard = (endpoint, operation) => {
    const malformed = (error: Schema.SchemaError | InvalidInput) => {
      // Any other error names what the caller wrote.
      const text = Schema.isSchemaError(error)
        ? refusalTexts.InvalidInput.print(invalidInput(error, "body", identity))
        : error.message
      return Effect.andThen(recordMalformed(refusals, endpoint), Effect.fail(new BadRequest({ Error: text })))
    }
    const answered: typeof operation = (incoming) => Effect.catchIf(operation(incoming), isMalformed, malformed)
    if (!takesJson(endpoint)) {
      const once: typeof operation =
        endpoint.method === "GET"
          ? answered
          : (incoming) => answerOnce(sql, endpoint, incoming.request, "", answered(incoming))
      const isForm = takesForm(endpoint) ? hasForm : () => false
      return (incoming) => {
        const { request } = incoming
        if (!hasBody(request)) return once(incoming)
        if (isForm(request)) {
          return isCompressed(request) ? Effect.succeed(errorResponse(415, compressed)) : once(incoming)
        }
        return Effect.flatMap(isEmptyBody(request), (isEmpty) =>
          isEmpty ? once(incoming) : malformed(noBody(endpoint))
        )
      }
    }
    /** An export has a body where its rule is long; most have none, and clients differ in what they say of that. */
    const schemas = endpoint.payload.get("application/json")?.schemas ?? []
    const mayLack = schemas.some(({ ast }) => HttpApiSchema.isNoContent(ast))
    const isPrompt = (body: string): boolean => body.length <= promptBody || takingTurns.has(endpoint.identifier)
    const limits = bodyLimits(endpoint.identifier)
    const refuse = ({ retryAfter, status, text }: BodyRefused) => {
      const response = errorResponse(status, text)
      return retryAfter === undefined
        ? Effect.as(recordMalformed(refusals, endpoint), response)
        : Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", `${retryAfter}`))
    }
    return (incoming) => {
      const { request } = incoming
      const withoutBody = Effect.suspend(() => answerOnce(sql, endpoint, request, "", answered(incoming)))
      if (mayLack && !hasBody(request)) return withoutBody
      if (!isJson(request.headers["content-type"])) {
        const refused = refuse(noJson)
        return mayLack ? Effect.flatMap(isEmptyBody(request), (isEmpty) => (isEmpty ? withoutBody : refused)) : refused
      }
      if (isCompressed(request)) return refuse(new BodyRefused({ status: 415, text: compressed }))
      const check = (body: string) =>
        mayLack && emptyBody.test(body.trim())
          ? withoutBody
          : Effect.flatMap(
              inSlices(() => StrictJson.checkJson(body, limits.values)),
              ({ cuts, issue }) =>
                issue === undefined
                  ? answerOnce(sql, endpoint, request, body, answered({ ...incoming, body, cuts }))
                  : malformed(new InvalidInput({ field: "body", issue }))
            )
      return readBody(request, limits).pipe(
        Effect.flatMap((body) => (isPrompt(body) ? check(body) : inWriteTurn(check(body)))),
        Effect.catchIf((error) => error instanceof BodyRefused, refuse),
        Effect.scoped
      )
    }
  }
  return guard
})
