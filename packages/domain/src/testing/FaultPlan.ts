/**
 * A fault plan says which calls go wrong, and how. `layer` plays it in front of any layer of the services, and
 * `roster serve --faults FILE` the same plan over HTTP, so that clients in any language can be tested.
 */
import { Duration, Effect, Layer, Predicate, Schema, Stream } from "effect"
import { explained } from "../errors/Constructors.ts"
import {
  OutcomeUnknown,
  RateLimited,
  ServiceError,
  type ServiceErrorReason,
  Unauthorized,
  Unavailable
} from "../errors/ServiceError.ts"
import { type Check, type Kind, methods, type Replace, replaceMethods } from "./ServiceMethods.ts"

type MethodName = { [K in Kind]: `${K}.${keyof (typeof methods)[K] & string}` }[Kind]

/** An operation that a plan can name. */
export type Operation = Exclude<MethodName, "contacts.addWithoutAnswer" | "contacts.stream">

/** Methods that are an operation of another name: one call on a layer, and one call a batch or page over HTTP. */
const otherNames: ReadonlyMap<string, Operation> = new Map([
  ["contacts.addWithoutAnswer", "contacts.add"],
  ["contacts.stream", "contacts.list"]
])

/** The operations that a plan can name, each with its identifier of the interface. */
export const operations = Object.fromEntries(
  Object.entries(methods).flatMap(([kind, ofKind]) =>
    Object.entries(ofKind)
      .map(([name, [operation]]) => [`${kind}.${name}`, operation] as const)
      .filter(([name]) => !otherNames.has(name))
  )
  // The names are those of `Operation`.
) as { readonly [Name in Operation]: string }

/** The dry runs of `contacts.change`, which a plan counts apart. */
const dryRuns = "contacts.change.dryRun"

/** What a plan can name. */
export type Planned = Operation | typeof dryRuns

const isPlanned = (name: string): name is Planned => name === dryRuns || isOperation(name)

const Seconds = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** What goes wrong with a call. */
export const Fault = Schema.Union([
  /** Refused with 429 and Retry-After, before anything is done. */
  Schema.Struct({
    /** The kind of fault. */ fault: Schema.Literal("RateLimited"),
    retryAfter: Schema.optionalKey(Seconds)
  }),
  /** Refused with 503 and Retry-After, before anything is done. */
  Schema.Struct({
    /** The kind of fault. */ fault: Schema.Literal("Unavailable"),
    retryAfter: Schema.optionalKey(Seconds)
  }),
  /** Refused with 401. */
  Schema.Struct({ /** The kind of fault. */ fault: Schema.Literal("Unauthorized") }),
  /** The connection is reset before anything is done. */
  Schema.Struct({ /** The kind of fault. */ fault: Schema.Literal("CutBefore") }),
  /** The call is carried out, and the connection is reset in place of the answer. */
  Schema.Struct({ /** The kind of fault. */ fault: Schema.Literal("CutAfter") }),
  /** The call is carried out, and the connection ends after half of the answer. */
  Schema.Struct({ /** The kind of fault. */ fault: Schema.Literal("CutBody") }),
  /** The call is carried out after some seconds. */
  Schema.Struct({
    /** The kind of fault. */ fault: Schema.Literal("Delay"),
    seconds: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
  })
])
/** What goes wrong with a call. */
export type Fault = typeof Fault.Type

const isOperation = (name: string): name is Operation => Object.hasOwn(operations, name)

/** The faults of the calls of an operation by their number from 1 on, and of `every` other one. */
const Calls = Schema.Record(Schema.String, Fault).check(
  Schema.makeFilter((calls) => {
    const wrong = Object.keys(calls).find((call) => call !== "every" && !/^[1-9]\d{0,8}$/.test(call))
    return wrong === undefined || `"${wrong}" is not a call: write its number from 1 on, or "every"`
  })
)

/** A plan: the faults of each operation. It is written as JSON. */
export const FaultPlan = explained(
  Schema.Record(Schema.String, Calls).check(
    Schema.makeFilter((plan) => {
      const wrong = Object.keys(plan).find((name) => !isPlanned(name))
      const all = [...Object.keys(operations), dryRuns].join(", ")
      return wrong === undefined || `"${wrong}" is not an operation: write one of ${all}`
    })
  ),
  "fault plan"
)
/** A plan: the faults of each operation. */
export interface FaultPlan extends Schema.Schema.Type<typeof FaultPlan> {}

/** The calls of an operation that go wrong. */
export type FaultyCalls = {
  /** The fault of a call by its number from 1 on. */
  readonly [call: number]: Fault
  /** The fault of all other calls. */
  readonly every?: Fault
}

/** The operations that go wrong, by their names. */
export interface FaultyOperations extends Readonly<Partial<Record<Planned, FaultyCalls>>> {}

/** Makes a plan: `FaultPlan.make({ "contacts.add": { 2: FaultPlan.rateLimited(3), 3: FaultPlan.cutAfter } })`. */
export const make = (plan: FaultyOperations): FaultPlan => FaultPlan.make({ ...plan })

/** Refuses a call with 429, and says how many seconds to wait. */
export const rateLimited = (retryAfter?: number): Fault => ({
  fault: "RateLimited",
  ...(retryAfter === undefined ? {} : { retryAfter })
})

/** Refuses a call with 503, and says how many seconds to wait. */
export const unavailable = (retryAfter?: number): Fault => ({
  fault: "Unavailable",
  ...(retryAfter === undefined ? {} : { retryAfter })
})

/** Refuses the key of a call. */
export const unauthorized: Fault = { fault: "Unauthorized" }

/** Loses a call before it does anything. */
export const cutBefore: Fault = { fault: "CutBefore" }

/** Carries a call out and loses its answer. */
export const cutAfter: Fault = { fault: "CutAfter" }

/** Carries a call out and loses the second half of its answer. */
export const cutBody: Fault = { fault: "CutBody" }

/** Carries a call out after a time of the clock. */
export const delay = (by: Duration.Input): Fault => ({
  fault: "Delay",
  seconds: Duration.toSeconds(Duration.fromInputUnsafe(by))
})

/** Gives the fault of the next call of an operation, and counts it. */
export type NextFault = (operation: Planned) => Fault | undefined

/** Begins a plan: all its counts are 0. */
export const begin = (plan: FaultPlan): NextFault => {
  const counts = new Map<Planned, number>()
  return (operation) => {
    const calls = plan[operation]
    if (calls === undefined) return undefined
    const count = (counts.get(operation) ?? 0) + 1
    counts.set(operation, count)
    return calls[count] ?? calls["every"]
  }
}

const reads = /\.(?:get|getMany|list|count|fields|exportStatus|download|changes|history)$/

/** What a plan counts a call as. */
export const plannedAs = (operation: Operation, isDryRun: boolean): Planned =>
  operation === "contacts.change" && isDryRun ? dryRuns : operation

const isDryRun = ([, options]: ReadonlyArray<unknown>): boolean =>
  Predicate.hasProperty(options, "dryRun") && options.dryRun === true

/** Whether a call changes nothing. */
const isRead = (planned: Planned): boolean => planned === dryRuns || reads.test(planned)

const lost = (isRead: boolean, detail: string): ServiceErrorReason =>
  isRead
    ? new Unavailable({ detail })
    : new OutcomeUnknown({ detail, recovery: "Find out whether it happened before you repeat it." })

/** The error of a call with a fault, as of a client that repeats nothing; `undefined` for one that is only late. */
const reasonOf = (fault: Fault, isRead: boolean): ServiceErrorReason | undefined => {
  const wait = "retryAfter" in fault && fault.retryAfter !== undefined ? { retryAfter: fault.retryAfter } : {}
  switch (fault.fault) {
    case "RateLimited":
      return new RateLimited(wait)
    case "Unavailable":
      return new Unavailable({ status: 503, detail: "the fault plan says so", ...wait })
    case "Unauthorized":
      return new Unauthorized()
    case "CutBefore":
      return new Unavailable({ detail: "the connection was reset before the request was sent" })
    case "CutAfter":
      return lost(isRead, "the connection was reset before the answer")
    case "CutBody":
      return lost(isRead, "the connection ended within the answer")
    case "Delay":
      return undefined
  }
}

const isAfter = ({ fault }: Fault): boolean => fault === "CutAfter" || fault === "CutBody"

const faultOf = (next: NextFault, operation: Operation, args: ReadonlyArray<unknown>) => {
  const planned = plannedAs(operation, isDryRun(args))
  const fault = next(planned)
  const reason = fault === undefined ? undefined : reasonOf(fault, isRead(planned))
  return {
    seconds: fault?.fault === "Delay" ? fault.seconds : 0,
    error:
      reason === undefined
        ? undefined
        : new ServiceError({
            operation: operations[operation],
            reason,
            ...(reason._tag === "OutcomeUnknown" && args.some(hasOwnKey) ? { isKeyHonoured: true } : {})
          }),
    isAfter: fault !== undefined && isAfter(fault),
    isBodyCut: fault?.fault === "CutBody"
  }
}

/** Whether a client would send a call. */
const isSendable = (check: () => Check): Effect.Effect<boolean> =>
  Effect.matchCause(Effect.suspend(check), { onFailure: () => false, onSuccess: () => true })

type Call = Effect.Effect<unknown, unknown>
type Content = Stream.Stream<unknown, unknown>

const faultyCall = (effect: Call, { error, isAfter, seconds }: ReturnType<typeof faultOf>): Call => {
  if (error === undefined) return seconds === 0 ? effect : Effect.delay(effect, Duration.seconds(seconds))
  return isAfter ? Effect.andThen(Effect.ignore(effect), Effect.fail(error)) : Effect.fail(error)
}

const faultyContent = (
  content: Content,
  { error, isAfter, isBodyCut, seconds }: ReturnType<typeof faultOf>
): Content => {
  if (error === undefined) {
    return seconds === 0 ? content : Stream.unwrap(Effect.as(Effect.sleep(Duration.seconds(seconds)), content))
  }
  if (isBodyCut) return Stream.concat(Stream.take(content, 1), Stream.fail(error))
  const done = isAfter ? Effect.ignore(Stream.runHead(content)) : Effect.void
  return Stream.fromEffectDrain(Effect.andThen(done, Effect.fail(error)))
}

/** What a method is given, so that both the check and the method can read it. */
const readable = (value: unknown): unknown =>
  Array.isArray(value) || Predicate.isString(value) || !Predicate.isIterable(value) ? value : Array.from(value)

/** Whether these are options with an idempotency key, which every layer of ours honours. */
const hasOwnKey = (value: unknown): boolean =>
  Predicate.hasProperty(value, "idempotencyKey") && value.idempotencyKey !== undefined

const playing =
  (next: NextFault): Replace =>
  (name, check, method) => {
    const operation = isOperation(name) ? name : otherNames.get(name)
    if (operation === undefined) return method
    return (...all) => {
      const args = all.map(readable)
      const called = method(...args)
      const sendable = isSendable(() => check(...args))
      const fault = () => faultOf(next, operation, args)
      return Stream.isStream(called)
        ? Stream.unwrap(Effect.map(sendable, (is) => (is ? faultyContent(called, fault()) : called)))
        : Effect.flatMap(sendable, (is) => (is ? faultyCall(called, fault()) : called))
    }
  }

/**
 * Plays a plan in front of the services of a layer: `layerMemory().pipe(FaultPlan.layer(plan))`. Each build of the layer
 * begins the plan. A fault is what a client sees that repeats nothing: a write whose answer is lost is `OutcomeUnknown`,
 * a read `Unavailable`. A delay follows the clock. A call with input that a client refuses before it sends anything is
 * refused by the service itself, and does not count.
 */
export const layer =
  (plan: FaultPlan) =>
  <Services, E, R>(services: Layer.Layer<Services, E, R>): Layer.Layer<Services, E, R> =>
    Layer.flatMap(services, (context) => Layer.succeedContext(replaceMethods(context, playing(begin(plan)))))
