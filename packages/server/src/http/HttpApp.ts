/**
 * The service as one effect from a request to a response: the contract, the files of exports, and an answer of the one
 * shape to everything that is neither. It is served over a socket or called in-process.
 */
import { ApiKeyAuth, idempotencyHonoured, RequestErrors, versionSegment } from "@roster/api"
import { loggedCause } from "@roster/domain"
import { Cause, Context, Effect, type Fiber } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { authentication } from "./Authentication.ts"
import { contactsHandlers } from "./ContactsHandlers.ts"
import { contractRoutes, type Guard, type RequestServices, type Respond, type Route, withRefusals } from "./Routes.ts"
import { emailsHandlers } from "./EmailsHandlers.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { exportRoute } from "./ExportDownloadRoute.ts"
import { makePathTable } from "./PathTable.ts"
import { requestChecks } from "./RequestChecks.ts"
import { securityHandlers } from "./CredentialsHandlers.ts"
import { ServedApi } from "./ServedApi.ts"

/** The contract itself, made when somebody first asks for it. */
const contractRoute = (): Route => {
  let response: HttpServerResponse.HttpServerResponse | undefined
  const respond = () => Effect.sync(() => (response ??= HttpServerResponse.jsonUnsafe(OpenApi.fromApi(ServedApi))))
  return { method: "GET", path: `/${versionSegment}/openapi.json`, respond }
}

const parts = Effect.gen(function* () {
  const { guard, withAnyKey } = yield* authentication
  const handlers = {
    contacts: yield* contactsHandlers,
    security: yield* securityHandlers,
    emails: yield* emailsHandlers
  }
  const guards = new Map<unknown, Guard>([
    [RequestErrors, yield* requestChecks],
    [ApiKeyAuth, guard]
  ])
  const routes = [...contractRoutes(handlers, guards), yield* exportRoute, contractRoute()]
  const paths = makePathTable(routes.map((route) => ({ ...route, handler: route })))
  return { paths, otherwise: withRefusals(ApiKeyAuth.error)(withAnyKey(noRoute(paths.methodsOf))) }
})

/** The answer to a request that is none of ours, once its key was found good: whoever probes a key learns whether it is. */
const noRoute =
  (methodsOf: (url: string) => ReadonlyArray<string>): Respond =>
  ({ request: { url } }) => {
    const issue = pathIssue(url)
    if (issue !== undefined) return Effect.succeed(errorResponse(400, issue))
    const methods = methodsOf(url).join(", ")
    return Effect.succeed(
      methods === ""
        ? errorResponse(404, "There is no such operation. The paths are those of the interface, below /v4.")
        : HttpServerResponse.setHeader(errorResponse(405, `This path takes ${methods}.`), "allow", methods)
    )
  }

const pathIssue = (url: string): string | undefined => {
  const path = url.split("?", 1)[0] ?? ""
  try {
    return decodeURIComponent(path).includes("\0") ? "The path holds a NUL character." : undefined
  } catch {
    return "The path is not percent-encoded UTF-8."
  }
}

const texts: Readonly<Record<number, string>> = {
  400: "The request cannot be read.",
  413: "The body of this request is too large.",
  415: "The body of this request is of a kind that the operation does not take."
}

const fromCause = Effect.fnUntraced(function* <E>(cause: Cause.Cause<E>) {
  const [response] = yield* HttpServerError.causeResponse(cause)
  if (response.status < 500) return withBody(response)
  const id = crypto.randomUUID()
  yield* Effect.logError(`request ${id} failed`, yield* loggedCause(cause))
  return errorResponse(500, `An internal error. It is in the log of the service under ${id}.`)
})

const withBody = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.status < 400 ||
  (response.body._tag !== "Empty" && /^application\/json\b/.test(response.body.contentType ?? ""))
    ? response
    : errorResponse(response.status, texts[response.status] ?? "The request was refused.")

/** Where the store fails, the transaction of the request is undone: a client may be told that it can be sent again. */
const withRetryAfter = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.status === 503 && response.headers["retry-after"] === undefined
    ? HttpServerResponse.setHeader(response, "retry-after", "1")
    : response

const finished = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeader(withRetryAfter(response), idempotencyHonoured.name, idempotencyHonoured.value)

/** Whatever is left without a body of ours gets one; what is a bug is logged under an id, which is all that is said of it. */
const shaped = Effect.matchCauseEffect({
  onSuccess: (response: HttpServerResponse.HttpServerResponse) => Effect.succeed(finished(withBody(response))),
  onFailure: <E>(cause: Cause.Cause<E>) =>
    Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.map(fromCause(cause), finished)
})

/** In place of the path itself, in which an address or a name may stand. */
const nameRoute = ({ cache: { span, tracer, tracerEnabled } }: Fiber.Fiber<unknown, unknown>, path: string): void => {
  if (tracer !== undefined && tracerEnabled && span?._tag === "Span" && span.kind === "server") {
    span.attribute("http.route", path)
  }
}

export const httpApp = Effect.map(parts, ({ otherwise, paths }) =>
  Effect.withFiber<
    HttpServerResponse.HttpServerResponse,
    unknown,
    HttpServerRequest.HttpServerRequest | RequestServices
  >((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const { method, url } = request
    let found = paths.findPlain(method, url)
    if (found === undefined && pathIssue(url) === undefined) {
      found = paths.find(method, url) ?? (method === "HEAD" ? paths.find("GET", url) : undefined)
    }
    if (found === undefined) return shaped(Effect.interruptible(otherwise({ request, params: {}, searchParams: {} })))
    const { handler, params, searchParams } = found
    nameRoute(fiber, handler.path)
    return shaped(Effect.interruptible(handler.respond({ request, params, searchParams })))
  })
)
