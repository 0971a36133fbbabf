/// <reference types="node" />
/**
 * The `HttpClient` of Node: HTTP/1.1 over undici's dispatcher, with less than half the CPU per call of the stock layer
 * over undici, and about a fifth of that over fetch.
 *
 * It sends no trace headers, spans or cookies, follows no redirects and sends nothing twice. Interrupting closes the
 * connection at once; a request that waits for a free connection is never sent.
 *
 * **Errors**: `TransportError` before the head of the answer, `DecodeError` after it, and `EncodeError` or
 * `InvalidUrlError` if nothing can be sent. `syscall: "connect"` tells that the connection broke before the request was
 * written.
 *
 * **Gotchas**: only connecting has a timeout, so use `Effect.timeout`. `HttpClient.withScope` has no effect. A response
 * whose body is never read holds its connection until its fiber is interrupted. `formData` of a response is read into
 * memory. An unasked `100 Continue` fails the request (docs/upstream/undici-interim-responses.md).
 */
import { KnownFields } from "@roster/domain/internal"
import { Effect, Layer, Predicate, Result } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, type HttpClientResponse, Url } from "effect/http"
import { Agent } from "undici"
import { defaultMaximumBytes } from "../BufferedResponse.ts"
import { checkSettings, type InvalidSettings } from "../InvalidSettings.ts"
import { environmentProxies } from "./EnvironmentProxies.ts"
import { type ConnectionSettings, makeAgent } from "./UndiciAgent.ts"
import { UndiciExchange } from "./UndiciExchange.ts"
import { requestContent } from "./UndiciUpload.ts"

/** The settings of the client. */
export interface UndiciOptions extends ConnectionSettings {
  /** Maximum size of a response in memory, in bytes, as sent and as decoded (default: 32 MiB). */
  readonly maximumResponseBytes?: number | undefined
}

const optionFields = KnownFields.fieldsOf<UndiciOptions>("a transport", {
  maximumResponseBytes: true,
  connections: true,
  connectTimeout: true,
  keepAliveTimeout: true,
  maximumHeaderBytes: true,
  proxy: true,
  tls: true
})

/** Why a runtime that has an undici of its own, without dispatchers, cannot use this one. */
const replaced =
  "UndiciHttpClient needs the undici of npm, which this runtime replaces by its own, as Bun does. Provide " +
  "FetchTransport.layer() of @roster/http-client/FetchTransport instead."

/** Whether the runtime has the undici of npm. Bun replaces it by its own, without dispatchers. */
export const isSupported: boolean = Predicate.isFunction(Agent.prototype.dispatch)

/**
 * A client whose connections close with the scope. A proxy of the environment that cannot be read is `InvalidSettings`. It
 * dies where the runtime replaces undici by its own, as Bun does.
 */
export const make = Effect.fnUntraced(function* (options: UndiciOptions = {}) {
  yield* checkSettings(optionFields, options)
  const proxies = options.proxy === false ? undefined : yield* environmentProxies
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => {
      if (!isSupported) throw new Error(replaced)
      return makeAgent(options, proxies)
    }),
    ({ close }) => close
  )
  const maximumBytes = options.maximumResponseBytes ?? defaultMaximumBytes
  return HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
    Effect.flatMapEager((request) => execute(agent, request, maximumBytes)),
    Effect.succeed
  )
})

/** The client as a layer, whose connections close with it. */
export const layer = (options: UndiciOptions = {}): Layer.Layer<HttpClient.HttpClient, InvalidSettings> =>
  Layer.effect(HttpClient.HttpClient, make(options))

const execute = (
  { dispatcherFor, proxy }: ReturnType<typeof makeAgent>,
  request: HttpClientRequest.HttpClientRequest,
  maximumBytes: number
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> =>
  Effect.withFiber((fiber) => {
    const address = Result.filterOrFail(
      Url.make(request.url, request.urlParams, undefined),
      ({ protocol }) => /^https?:$/.test(protocol),
      () => undefined
    )
    if (Result.isFailure(address)) {
      const description = "the address is not one of http or https"
      const reason = new HttpClientError.InvalidUrlError({ request, cause: address.failure, description })
      return Effect.fail(new HttpClientError.HttpClientError({ reason }))
    }
    const { href, origin, pathname, search } = address.success
    return Effect.flatMapEager(requestContent(request, fiber.context), (content) =>
      Effect.callback<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>((resume) => {
        const { headers, method } = request
        const fields: Array<string> = []
        for (const name of Object.keys(headers)) fields.push(name, headers[name] ?? "")
        if (headers["accept-encoding"] === undefined) fields.push("accept-encoding", "identity")
        if (content.contentType !== undefined && headers["content-type"] === undefined) {
          fields.push("content-type", content.contentType)
        }
        const url = href.split("#", 1)[0] ?? ""
        const exchange = new UndiciExchange({ request, url, content, maximumBytes, proxy, fiber, resume })
        const path = pathname + search
        dispatcherFor(address.success).dispatch({ origin, path, method, headers: fields, body: content.body }, exchange)
        return Effect.sync(() => exchange.interrupt())
      })
    )
  })
