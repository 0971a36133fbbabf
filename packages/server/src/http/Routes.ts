/**
 * The contract as routes: each operation is compiled once, from its endpoint alone, to the few steps from a request to its
 * response.
 */
import type {
  BadRequest,
  Conflict,
  Forbidden,
  KeyRefused,
  NotFound,
  ServerFailure,
  ServerUnavailable,
  TooManyRequests
} from "@roster/api"
import { type InvalidInput, JsonParser } from "@roster/domain"
import { Effect, type FileSystem, type Path, Schema, SchemaIssue, type Scope } from "effect"
import { type FindMyWay, type HttpMethod, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, type HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import { queryReader } from "./QueryNames.ts"
import { ServedApi } from "./ServedApi.ts"

/** A request whose path is one of ours. */
export interface Incoming extends Pick<FindMyWay.FindResult<unknown>, "params" | "searchParams"> {
  readonly request: HttpServerRequest.HttpServerRequest
  /** The text of a body that is JSON. */
  readonly body?: string | undefined
}

type WireError =
  | BadRequest
  | KeyRefused
  | Forbidden
  | NotFound
  | Conflict
  | TooManyRequests
  | ServerFailure
  | ServerUnavailable

/** What a request may need of its server: for the file of an import. */
export type RequestServices = FileSystem.FileSystem | Path.Path | Scope.Scope

/** Answers a request. A `SchemaError` or `InvalidInput` is input that does not fit the contract. */
export type Respond<E = WireError | Schema.SchemaError | InvalidInput> = (
  incoming: Incoming
) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, RequestServices>

/** What a middleware of the contract is here: it stands before an operation. */
export type Guard = (endpoint: HttpApiEndpoint.Top, operation: Respond) => Respond

export interface Route {
  readonly method: HttpMethod.HttpMethod
  readonly path: FindMyWay.PathInput
  readonly respond: Respond<never>
}

/** What all operations are to the compiler at once. */
type AnyHandler = (
  inputs: Pick<Incoming, "request"> & { readonly params: unknown; readonly query: unknown; readonly payload: unknown }
) => Effect.Effect<unknown, WireError, RequestServices>

type Groups = (typeof ServedApi)["groups"]

type Handler<E> = E extends HttpApiEndpoint.ConstraintRequest
  ? (
      inputs: Omit<HttpApiEndpoint.Request<E>, "endpoint" | "group">
    ) => Effect.Effect<
      HttpApiEndpoint.Success<E>["Type"] | HttpServerResponse.HttpServerResponse,
      HttpApiEndpoint.Errors<E>,
      RequestServices
    >
  : never

/**
 * What the operations of a group do, each from the inputs that the contract gives it to what the contract says of it.
 */
export type Handlers<Group extends keyof Groups> = {
  readonly [Id in keyof Groups[Group]["endpoints"]]: Handler<Groups[Group]["endpoints"][Id]>
}

// Nothing in the contract needs a service to be read or written.
const decoder = (schema: Schema.Top) => Schema.decodeUnknownEffect(schema as Schema.Codec<unknown>)

const decodesNothing = () => Effect.undefined

const noJson = new Schema.SchemaError(new SchemaIssue.InvalidValue({ message: "Expected a valid JSON body" }))

const bodyDecoder = (schemas: ReadonlyArray<Schema.Top> | undefined) => {
  if (schemas === undefined) return decodesNothing
  const decode = decoder(Schema.Union(schemas))
  return (body: string | undefined) => {
    if (body === undefined || body === "") return decode(undefined)
    try {
      return decode(JsonParser.parse(body))
    } catch {
      return Effect.fail(noJson)
    }
  }
}

const statusOf = (schema: Schema.Top): number | undefined =>
  Schema.resolveAnnotations(schema)?.httpApiStatus ?? Schema.resolveAnnotationsKey(schema)?.httpApiStatus

/** Writes what one of some schemas describes, which says with which status. */
const encoder = (schemas: Iterable<Schema.Top>, status: number) => {
  const answers = Array.from(schemas, (schema) => {
    // As with the decoders.
    const codec = Schema.toCodecJson(schema as Schema.Codec<unknown>)
    return {
      isOne: Schema.is(codec),
      encode: HttpApiSchema.isNoContent(schema.ast) ? undefined : Schema.encodeUnknownSync(codec),
      status: statusOf(schema) ?? status
    }
  })
  return (value: unknown): HttpServerResponse.HttpServerResponse => {
    const answer = answers.length === 1 ? answers[0] : answers.find(({ isOne }) => isOne(value))
    if (answer === undefined) throw new Error("The contract does not say how this is answered.", { cause: value })
    const { encode, status } = answer
    return encode === undefined
      ? HttpServerResponse.empty({ status })
      : HttpServerResponse.jsonUnsafe(encode(value), { status })
  }
}

const operationOf = (endpoint: HttpApiEndpoint.Top, handler: AnyHandler): Respond => {
  const decodeParams = endpoint.params === undefined ? decodesNothing : decoder(endpoint.params)
  const readQuery = queryReader(endpoint)
  // A form is read by whoever takes one, as it comes.
  const isForm = endpoint.payload.has("multipart/form-data")
  const decodeBody = bodyDecoder(isForm ? undefined : endpoint.payload.get("application/json")?.schemas)
  const encode = encoder(endpoint.success, 200)
  const toResponse = (value: unknown) => (HttpServerResponse.isHttpServerResponse(value) ? value : encode(value))
  return ({ body, params, request, searchParams }) =>
    Effect.flatMapEager(decodeParams(params), (params) =>
      Effect.flatMapEager(readQuery(searchParams), (query) =>
        Effect.flatMapEager(decodeBody(body), (payload) =>
          Effect.map(handler({ request, params, query, payload }), toResponse)
        )
      )
    )
}

/** Turns the errors that some schemas describe into responses. */
export const withRefusals = (errors: Iterable<Schema.Top>) => {
  const encode = encoder(errors, 500)
  const refuse = (error: unknown) => Effect.sync(() => encode(error))
  return (respond: Respond): Respond<never> =>
    (incoming) =>
      Effect.catch(respond(incoming), refuse)
}

/**
 * The routes of the contract. Each operation stands behind the guards of its middleware, the last of which is asked first.
 */
export const contractRoutes = (
  handlers: { readonly [Group in keyof Groups]: Handlers<Group> },
  guards: ReadonlyMap<unknown, Guard>
): ReadonlyArray<Route> =>
  Object.values(ServedApi.groups).flatMap((group) =>
    Object.values(group.endpoints).map((endpoint: HttpApiEndpoint.Top): Route => {
      // One for each endpoint, which takes what the endpoint says.
      const ofGroup = handlers[group.identifier] as unknown as Record<string, AnyHandler>
      const handler = ofGroup[endpoint.identifier]
      if (handler === undefined) throw new Error(`Nothing handles ${endpoint.identifier}.`)
      const errors = new Set(endpoint.error)
      let respond = operationOf(endpoint, handler)
      for (const middleware of endpoint.middlewares) {
        const guard = guards.get(middleware)
        if (guard === undefined) throw new Error(`Nothing guards ${endpoint.identifier} as ${middleware.key}.`)
        respond = guard(endpoint, respond)
        // Every middleware of an endpoint is one of these.
        for (const error of (middleware as HttpApiMiddleware.AnyService).error) errors.add(error)
      }
      return { method: endpoint.method, path: `/${endpoint.path.slice(1)}`, respond: withRefusals(errors)(respond) }
    })
  )
