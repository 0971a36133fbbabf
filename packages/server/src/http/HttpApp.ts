/** The service as one effect from request to response, served over a socket or called in-process. */
import {
  announcements,
  ApiKeyAuth,
  noSuchOperation,
  RequestErrors,
  storeHeader,
  versionHeader,
  versionSegment
} from "@roster/api"
import { loggedCause } from "@roster/domain/internal"
import { Cause, Context, Effect, type Fiber } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlError } from "effect/sql"
import { InProcess, lacksDescriptors, logLackOfDescriptors, withoutDescriptors } from "../store/StoreFailure.ts"
import { isReadOnly } from "../store/postgres/PostgresError.ts"
import { Readiness } from "../requests/Readiness.ts"
import { authentication } from "./Authentication.ts"
import { makeHandlers } from "./Handlers.ts"
import { exportRoute } from "./ExportDownloadRoute.ts"
import { Caller, owner } from "../credentials/Caller.ts"
import { makeStoreIds } from "../store/StoreId.ts"
import { AccessLog, routeOf } from "../network/AccessLog.ts"
import { accountOf } from "../network/OpenRequests.ts"
import { clientAddress, TrustedProxies } from "./ClientAddress.ts"
import { LastingRefusals, lastingText } from "../threads/LastingRefusals.ts"
import { isBodyOutstanding } from "./RequestBody.ts"
import { requestChecks } from "./RequestChecks.ts"
import { makeRouter, urlIssue } from "./Router.ts"
import {
  contractRoutes,
  errorResponse,
  type Guard,
  type RequestServices,
  type Respond,
  type Route,
  withErrors
} from "./Routes.ts"
import { frontPage, frontPageWithoutTls, isForPeople } from "../reference/FrontPage.ts"
import { ServedPage, type StudioPage } from "../studio/StudioPage.ts"
import { isSecure, publicAddress, refusedHost } from "./AllowedHosts.ts"

/** The version that the service tells to every valid key (default: none). A reference, since only the program knows it. */
export const ServedVersion = Context.Reference<string | undefined>("@roster/server/ServedVersion", {
  defaultValue: () => undefined
})

const referencePath = "/docs"

/**
 * The OpenAPI document, with the address at which the client sees the service, and the page about the interface. Their
 * code is loaded at the first request for one of them.
 */
const referenceRoutes = Effect.gen(function* () {
  const reference = Effect.promise(() => import("../reference/ReferencePage.ts"))
  const documented = yield* Effect.cached(Effect.map(reference, ({ makeDocument }) => makeDocument()))
  const page = yield* Effect.cached(
    Effect.gen(function* () {
      const { makeReferencePage } = yield* reference
      const { html, policy } = yield* Effect.promise(() => makeReferencePage(referencePath))
      // All requests share its bytes.
      return HttpServerResponse.uint8Array(new TextEncoder().encode(html), {
        contentType: "text/html; charset=utf-8",
        headers: { "content-security-policy": policy, "referrer-policy": "no-referrer" }
      })
    })
  )
  // Nearly every request names the address that the one before named.
  let last: { readonly address: string; readonly response: HttpServerResponse.HttpServerResponse } | undefined
  const document: Respond<never> = ({ request }) =>
    Effect.contextWith((context) =>
      Effect.map(documented, (document) => {
        const address = publicAddress(request, context)
        if (last?.address !== address) {
          last = { address, response: HttpServerResponse.jsonUnsafe({ ...document, servers: [{ url: address }] }) }
        }
        return last.response
      })
    )
  const routes: ReadonlyArray<Route> = [
    { method: "GET", path: `/${versionSegment}/openapi.json`, respond: document },
    { method: "GET", path: referencePath, respond: () => page }
  ]
  return routes
})

const healthPath = "/health/"

const superseded = "A newer version of Roster has changed the store, and this one ends."

/** Why the store is not ready, for anybody. */
const notReady = (error: Effect.Error<Readiness["Service"]["check"]>): string => {
  if (error._tag === "StoreUnavailable") return superseded
  return SqlError.isSqlError(error) && isReadOnly(error) ? "The store is read-only." : "The store does not answer."
}

/**
 * Whether the process answers, and whether its store does and its bounds have room, for what watches it: by any name of the
 * host and without a key, so that they tell nothing else.
 */
const healthRoutes = Effect.gen(function* () {
  const { check } = yield* Readiness
  const refusals = yield* LastingRefusals
  const answer = (status: string) => HttpServerResponse.jsonUnsafe({ status })
  const isReady = Effect.match(check, {
    onSuccess: () => {
      const refused = refusals?.lasting() ?? []
      return refused.length === 0 ? answer("ready") : errorResponse(503, lastingText(refused))
    },
    onFailure: (error) => errorResponse(503, notReady(error))
  })
  const routes: ReadonlyArray<Route> = [
    { method: "GET", path: `${healthPath}live`, respond: () => Effect.succeed(answer("live")) },
    { method: "GET", path: `${healthPath}ready`, respond: () => isReady }
  ]
  return routes
})

const parts = Effect.gen(function* () {
  const { guard, withAnyKey } = yield* authentication
  const guards = new Map<unknown, Guard>([
    [RequestErrors, yield* requestChecks],
    [ApiKeyAuth, guard]
  ])
  const router = makeRouter([
    ...contractRoutes(yield* makeHandlers, guards),
    yield* exportRoute,
    ...(yield* referenceRoutes),
    ...(yield* healthRoutes)
  ])
  const log = yield* AccessLog
  const page = yield* ServedPage
  const { isSuperseded } = yield* Readiness
  const unknown = withErrors(ApiKeyAuth.error)(withAnyKey(noRoute(router.methodsOf)))
  const otherwise: typeof unknown = (incoming) => {
    const { request } = incoming
    const route = isForPeople(request) ? "/" : "/assets/{name}"
    const answer = route === "/" ? forPeople(page, request) : assetFor(page, request)
    if (answer === undefined) return unknown(incoming)
    log?.note(request, { route })
    return answer
  }
  const version = yield* ServedVersion
  const withVersion: Headers = version === undefined ? everywhere : [...everywhere, [versionHeader, version]]
  const storeIdOf = yield* makeStoreIds
  const headersOf = (account: string): Headers => [...withVersion, [storeHeader, storeIdOf(account)]]
  const ofMainAccount = headersOf(owner.account)
  /** The headers of an answer to a key of an account; a request without a valid key is told nothing of the store. */
  const headersFor = (account: string | undefined): Headers =>
    account === undefined ? everywhere : account === owner.account ? ofMainAccount : headersOf(account)
  return { log, router, otherwise, headersFor, isSuperseded }
})

/** The root in a browser: the page, or why it is not shown, or where else to go. */
const forPeople = (page: StudioPage | undefined, request: HttpServerRequest.HttpServerRequest) =>
  page === undefined
    ? Effect.succeed(frontPage)
    : Effect.contextWith((context: Context.Context<never>) =>
        Effect.succeed(isSecure(request, context) ? page.index : frontPageWithoutTls)
      )

/** A file of the page, if the request is for one. */
const assetFor = (page: StudioPage | undefined, { headers, method, url }: HttpServerRequest.HttpServerRequest) =>
  page !== undefined && (method === "GET" || method === "HEAD") && url.startsWith("/assets/")
    ? page.asset(url.slice("/assets/".length), headers["accept-encoding"])
    : undefined

/**
 * The response to an unknown path or method. The key is checked first, so that a client that probes its key learns of
 * it.
 */
const noRoute =
  (methodsOf: (url: string) => ReadonlyArray<string>): Respond =>
  ({ request: { url } }) => {
    const issue = urlIssue(url)
    if (issue !== undefined) return Effect.succeed(errorResponse(400, issue))
    const methods = methodsOf(url).join(", ")
    return Effect.succeed(
      methods === ""
        ? errorResponse(404, `${noSuchOperation} The paths are those of the interface, below /v4.`)
        : HttpServerResponse.setHeader(errorResponse(405, `This path takes ${methods}.`), "allow", methods)
    )
  }

const texts: Readonly<Record<number, string>> = {
  400: "The request cannot be read.",
  413: "The body of this request is too large.",
  415: "The body of this request is of a kind that the operation does not take."
}

/** A defect is logged under an id, which is all that the response says about it. */
const fromCause = Effect.fnUntraced(function* <E>(cause: Cause.Cause<E>, id: string) {
  const [response] = yield* HttpServerError.causeResponse(cause)
  if (response.status < 500) return withBody(response)
  if (lacksDescriptors()) {
    yield* logLackOfDescriptors(`request ${id}`)
    return errorResponse(503, `The request failed: ${withoutDescriptors}. Send it again later.`)
  }
  yield* Effect.logError(`request ${id} failed`, yield* loggedCause(cause))
  return errorResponse(500, `An internal error. It is in the log of the service under ${id}.`)
})

/** Gives every error response a body of the one shape. */
const withBody = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.status < 400 ||
  (response.body._tag !== "Empty" && /^application\/json\b/.test(response.body.contentType ?? ""))
    ? response
    : errorResponse(response.status, texts[response.status] ?? "The request was refused.")

/** A failure of the store rolls back the transaction of the request, so the client may send it again. */
const withRetryAfter = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.status === 503 && response.headers["retry-after"] === undefined
    ? HttpServerResponse.setHeader(response, "retry-after", "1")
    : response

type Headers = ReadonlyArray<readonly [string, string]>

/**
 * The headers of every response: it may hold data of people, and is never anything but what its type says. As entries they
 * are set in a fraction of the time.
 */
const everywhere: Headers = [
  ...announcements.map(({ name, value }) => [name, value] as const),
  ["cache-control", "no-store"],
  ["x-content-type-options", "nosniff"]
]

/** What says itself how long it may be kept holds no data of people. */
const kept: Headers = everywhere.filter(([name]) => name !== "cache-control")

const finished = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse,
  everywhere: Headers
): HttpServerResponse.HttpServerResponse => {
  if (response.headers["cache-control"] !== undefined) return HttpServerResponse.setHeaders(response, kept)
  const finished = HttpServerResponse.setHeaders(withRetryAfter(response), everywhere)
  // A connection does not stay for the rest of a body that was refused.
  return response.status >= 400 && isBodyOutstanding(request)
    ? HttpServerResponse.setHeader(finished, "connection", "close")
    : finished
}

const completed = (
  request: HttpServerRequest.HttpServerRequest,
  context: Context.Context<never>,
  { headersFor, log }: Pick<Effect.Success<typeof parts>, "log" | "headersFor">
) => {
  const accountHere = () =>
    Context.get(context, InProcess) ? Context.get(context, Caller).account : accountOf(request)
  const finish = (response: HttpServerResponse.HttpServerResponse) =>
    finished(request, response, headersFor(accountHere()))
  return Effect.matchCauseEffect({
    onSuccess: (response: HttpServerResponse.HttpServerResponse) => Effect.succeed(finish(withBody(response))),
    onFailure: <E>(cause: Cause.Cause<E>) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.flatMap(WebCrypto, (crypto) =>
            Effect.map(fromCause(cause, log?.idOf(request) ?? crypto.randomUUID()), finish)
          )
  })
}

/** Names the route in the span of the request, instead of the path, which may contain an address or a name. */
const nameRoute = ({ cache: { span, tracer, tracerEnabled } }: Fiber.Fiber<unknown, unknown>, path: string): void => {
  if (tracer !== undefined && tracerEnabled && span?._tag === "Span" && span.kind === "server") {
    span.attribute("http.route", path)
  }
}

export const httpApp = Effect.map(parts, (app) => {
  const { isSuperseded, log, otherwise, router } = app
  return Effect.withFiber<
    HttpServerResponse.HttpServerResponse,
    unknown,
    HttpServerRequest.HttpServerRequest | RequestServices
  >((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const { method, url } = request
    log?.note(request, { peer: clientAddress(request, Context.get(fiber.context, TrustedProxies)) })
    const refused = url.startsWith(healthPath)
      ? undefined
      : isSuperseded()
        ? errorResponse(503, superseded)
        : refusedHost(request, fiber.context)
    if (refused !== undefined) return completed(request, fiber.context, app)(Effect.succeed(refused))
    const found = router.find(method, url) ?? (method === "HEAD" ? router.find("GET", url) : undefined)
    if (found === undefined) {
      return completed(request, fiber.context, app)(Effect.interruptible(otherwise({ request, params: {}, query: "" })))
    }
    const { params, query, route } = found
    nameRoute(fiber, route.path)
    log?.note(request, { route: routeOf(route.path) })
    return completed(request, fiber.context, app)(Effect.interruptible(route.respond({ request, params, query })))
  })
})
