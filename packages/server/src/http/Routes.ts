/**
 * The operations of the contract as routes. Each endpoint is compiled once: Effect's own interpreter costs a GET of one
 * contact a third of its throughput. (docs/decisions/performance.md)
 */
import { OperationPolicy, type Refusal, RosterApi, runHeader, versionSegment } from "@roster/api"
import { InvalidInput, NamedRun, type ServiceError } from "@roster/domain"
import { invalidInput, JsonParser, wireField } from "@roster/domain/internal"
import {
  Context,
  Effect,
  identity,
  Predicate,
  Schema,
  SchemaAST,
  SchemaIssue,
  type FileSystem,
  type Path,
  type Scope
} from "effect"
import { type HttpMethod, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, type HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import { encodedBeforeCommit } from "../store/AnswerEncoding.ts"
import { yieldToEventLoop } from "../threads/Slices.ts"
import { misplacedParameter, queryReader } from "./QueryNames.ts"
import { retryAfterOf, type WireOf } from "./WireErrors.ts"

/** The contract below the version segment, where it is served. */
export const servedApi = RosterApi.prefix(`/${versionSegment}`)

/** An error response: `{"Error": "text"}`. */
export const errorResponse = (status: number, text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ Error: text }, { status })

/** A request to a known path. */
export interface Incoming {
  readonly request: HttpServerRequest.HttpServerRequest
  /** The values in the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The query of its URL, as it was sent. */
  readonly query: string
  /** The text of a JSON body. */
  readonly body?: string | undefined
  /** Where a long array in it may be cut. */
  readonly cuts?: ReadonlyArray<number> | undefined
}

type WireError = WireOf<Refusal | ServiceError>

/** The services of the server that a request may use: those for the file of an import. */
export type RequestServices = FileSystem.FileSystem | Path.Path | Scope.Scope

/** Responds to a request. A `SchemaError` or `InvalidInput` means that the input does not fit the contract. */
export type Respond<E = WireError | Schema.SchemaError | InvalidInput> = (
  incoming: Incoming
) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, RequestServices>

/** The implementation of a middleware of the contract: it wraps an operation. */
export type Guard = (endpoint: HttpApiEndpoint.Top, operation: Respond) => Respond

export interface Route {
  readonly method: HttpMethod.HttpMethod
  /** Segments with a colon are parameters. */
  readonly path: string
  readonly respond: Respond<never>
}

/** The handler of any operation, for code that is the same for all. */
type AnyHandler = (
  inputs: Pick<Incoming, "request"> & { readonly params: unknown; readonly query: unknown; readonly payload: unknown }
) => Effect.Effect<unknown, WireError, RequestServices>

type Groups = (typeof servedApi)["groups"]

type Handler<E> = E extends HttpApiEndpoint.ConstraintRequest
  ? (
      inputs: Omit<HttpApiEndpoint.Request<E>, "endpoint" | "group">
    ) => Effect.Effect<
      HttpApiEndpoint.Success<E>["Type"] | HttpServerResponse.HttpServerResponse,
      HttpApiEndpoint.Errors<E>,
      RequestServices
    >
  : never

/** The handlers of a group: each takes the inputs and gives the success or the errors that the contract declares. */
export type Handlers<Group extends keyof Groups> = {
  readonly [Id in keyof Groups[Group]["endpoints"]]: Handler<Groups[Group]["endpoints"][Id]>
}

// No schema of the contract needs a service to decode or encode.
const decoder = (schema: Schema.Top) => Schema.decodeUnknownEffect(schema as Schema.Codec<unknown>)

const decodesNothing = () => Effect.undefined

const noJson = new Schema.SchemaError(new SchemaIssue.InvalidValue({ message: "Expected a valid JSON body" }))

/** Others go on between the steps of a longer body, in UTF-16 units. */
const longBody = 256 * 1024

const parsed = (text: string): Effect.Effect<unknown, Schema.SchemaError> =>
  Effect.try({ try: () => JsonParser.parse(text), catch: () => noJson })

/** The issue of a part with the place in the whole array, of which so many elements stand before the part. */
const behind = (error: Schema.SchemaError, before: number): InvalidInput => {
  const { field, issue } = invalidInput(error, "body", identity)
  const place = wireField(field).replace(/^\[(\d+)\]/, (_, index) => `[${Number(index) + before}]`)
  return new InvalidInput({ field: place, issue })
}

/** A value with `{}` where it has `[]` and the schema has an object and no array: an empty map is both in PHP. */
const withEmptyObjects = (ast: SchemaAST.AST, value: unknown): unknown => {
  if (SchemaAST.isSuspend(ast)) return withEmptyObjects(ast.thunk(), value)
  if (SchemaAST.isUnion(ast)) {
    const isOne = Array.isArray(value) ? SchemaAST.isArrays : SchemaAST.isObjects
    const member = ast.types.find((type) => isOne(type)) ?? ast.types.find((type) => SchemaAST.isObjects(type))
    return member === undefined ? value : withEmptyObjects(member, value)
  }
  if (SchemaAST.isArrays(ast)) {
    const [element] = ast.rest
    return Array.isArray(value) && element !== undefined ? value.map((one) => withEmptyObjects(element, one)) : value
  }
  if (!SchemaAST.isObjects(ast)) return value
  if (Array.isArray(value) && value.length === 0) return {}
  if (!Predicate.isObject(value)) return value
  const types = new Map(ast.propertySignatures.map(({ name, type }) => [name, type]))
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const type = types.get(name)
      return [name, type === undefined ? field : withEmptyObjects(type, field)]
    })
  )
}

const bodyDecoder = (endpoint: HttpApiEndpoint.Top) => {
  const declared = endpoint.payload.get("application/json")?.schemas
  // The handler reads a form itself, as a stream.
  if (declared === undefined || endpoint.payload.has("multipart/form-data")) return decodesNothing
  const schemas = declared.filter(({ ast }) => !HttpApiSchema.isNoContent(ast))
  const schema = Schema.Union(schemas)
  const decodeAsGiven = decoder(schema)
  const { ast } = Schema.toEncoded(schema)
  const decode = (value: unknown) =>
    Effect.catchEager(decodeAsGiven(value), () => decodeAsGiven(withEmptyObjects(ast, value)))
  const misplaced = misplacedParameter(endpoint)
  const decodePlaced = (value: unknown): Effect.Effect<unknown, Schema.SchemaError | InvalidInput> => {
    const refused = misplaced(value)
    return refused === undefined ? decode(value) : Effect.fail(refused)
  }
  /** Decodes a long array piece by piece, and lets others go on in between. */
  const decodeParts = Effect.fnUntraced(function* (body: string, cuts: ReadonlyArray<number>) {
    const elements: Array<unknown> = []
    let start = -1
    for (const end of [...cuts, undefined]) {
      const text = end === undefined ? body.slice(start + 1) : `${body.slice(start + 1, end)}]`
      const part = yield* parsed(start === -1 ? text : `[${text}`)
      // A comma without an element is no JSON.
      if (!Array.isArray(part) || part.length === 0) return yield* noJson
      const decoded = yield* Effect.mapError(decode(part), (error) => behind(error, elements.length))
      // The schema of an array gives one.
      for (const element of decoded as ReadonlyArray<unknown>) elements.push(element)
      if (end !== undefined) yield* yieldToEventLoop
      start = end ?? start
    }
    return elements
  })
  return (body: string | undefined, cuts: ReadonlyArray<number> = []) => {
    if (body === undefined || body === "") {
      return schemas.length < declared.length ? Effect.undefined : decode(undefined)
    }
    if (cuts.length > 0) return decodeParts(body, cuts)
    const value: Effect.Effect<unknown, Schema.SchemaError | InvalidInput> = parsed(body)
    return Effect.flatMapEager(body.length > longBody ? Effect.tap(value, () => yieldToEventLoop) : value, decodePlaced)
  }
}

const statusOf = (schema: Schema.Top): number | undefined =>
  Schema.resolveAnnotations(schema)?.httpApiStatus ?? Schema.resolveAnnotationsKey(schema)?.httpApiStatus

/** Encodes a value by the schema that matches it, with the status of that schema. */
const encoder = (schemas: Iterable<Schema.Top>, status: number) => {
  const answers = Array.from(schemas, (schema) => {
    // The schemas of the interface need no services, as with the decoders.
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

/** Makes what names the run of a request of an endpoint, if it is a write of contacts. */
const inRun = ({ annotations }: HttpApiEndpoint.Top) => {
  const { headers = [] } = Context.getUnsafe(annotations, OperationPolicy)
  if (!headers.includes(runHeader)) return (handled: ReturnType<AnyHandler>) => handled
  return (
    handled: ReturnType<AnyHandler>,
    { headers }: HttpServerRequest.HttpServerRequest
  ): ReturnType<AnyHandler> => {
    const run = headers[runHeader.toLowerCase()]
    return run === undefined ? handled : Effect.provideService(handled, NamedRun, run)
  }
}

const operationOf = (endpoint: HttpApiEndpoint.Top, handler: AnyHandler): Respond => {
  const decodeParams = endpoint.params === undefined ? decodesNothing : decoder(endpoint.params)
  const readQuery = queryReader(endpoint)
  const decodeBody = bodyDecoder(endpoint)
  const named = inRun(endpoint)
  const encode = encoder(endpoint.success, 200)
  const toResponse = (value: unknown) => (HttpServerResponse.isHttpServerResponse(value) ? value : encode(value))
  const answer: (handled: ReturnType<AnyHandler>) => ReturnType<Respond> =
    endpoint.method === "GET" ? Effect.map(toResponse) : (handled) => encodedBeforeCommit(handled, toResponse)
  return ({ body, cuts, params, query, request }) =>
    Effect.flatMapEager(decodeParams(params), (params) =>
      Effect.flatMapEager(readQuery(query), (query) =>
        Effect.flatMapEager(decodeBody(body, cuts), (payload) =>
          answer(named(handler({ request, params, query, payload }), request))
        )
      )
    )
}

/** Turns the errors that the schemas describe into responses. */
export const withErrors = (errors: Iterable<Schema.Top>) => {
  const encode = encoder(errors, 500)
  const toResponse = (error: object) =>
    Effect.sync(() => {
      const wait = retryAfterOf(error)
      return wait === undefined ? encode(error) : HttpServerResponse.setHeader(encode(error), "retry-after", `${wait}`)
    })
  return (respond: Respond): Respond<never> =>
    (incoming) =>
      Effect.catch(respond(incoming), toResponse)
}

/** Compiles an operation on its first request, since a command that makes one request needs no other. */
const compiledLate = <E>(compile: () => Respond<E>): Respond<E> => {
  let respond: Respond<E> | undefined
  return (incoming) => (respond ??= compile())(incoming)
}

/** The routes of the contract. The guards of its middleware wrap each operation; the last one runs first. */
export const contractRoutes = (
  handlers: { readonly [Group in keyof Groups]: Handlers<Group> },
  guards: ReadonlyMap<unknown, Guard>
): ReadonlyArray<Route> =>
  Object.values(servedApi.groups).flatMap((group) =>
    Object.values(group.endpoints).map((endpoint: HttpApiEndpoint.Top): Route => {
      // `Handlers` has one for each endpoint, with the inputs of that endpoint.
      const ofGroup = handlers[group.identifier] as unknown as Record<string, AnyHandler>
      const handler = ofGroup[endpoint.identifier]
      if (handler === undefined) throw new Error(`Nothing handles ${endpoint.identifier}.`)
      const errors = new Set(endpoint.error)
      let respond = compiledLate(() => operationOf(endpoint, handler))
      for (const middleware of endpoint.middlewares) {
        const guard = guards.get(middleware)
        if (guard === undefined) throw new Error(`Nothing guards ${endpoint.identifier} as ${middleware.key}.`)
        respond = guard(endpoint, respond)
        // Every middleware of an endpoint is one of these.
        for (const error of (middleware as HttpApiMiddleware.AnyService).error) errors.add(error)
      }
      const answer = compiledLate(() => withErrors(errors)(respond))
      return { method: endpoint.method, path: `/${endpoint.path.slice(1)}`, respond: answer }
    })
  )
