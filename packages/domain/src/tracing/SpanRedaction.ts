/**
 * Keeps e-mail addresses, names, rules and bodies out of spans, into which exporters write error messages. Inside
 * `redactSpans`, failed spans end with the tags and stack frames of the error only. (docs/observability.md)
 */
import { Cause, Context, Effect, Exit, Fiber, Layer, Option, Predicate, Stream, Tracer } from "effect"

/**
 * Whether spans may name the contacts and credentials they are about (default: false). A reference, since the program decides
 * it for all spans below.
 */
export const TraceSubjects = Context.Reference<boolean>("@roster/domain/TraceSubjects", { defaultValue: () => false })

/** Options of the functions that redact spans. */
export interface SpanRedactionOptions {
  /** Overrides `TraceSubjects` (default: its value). */
  readonly traceSubjects?: boolean | undefined
}

/**
 * The attributes of HTTP spans with the path, which has addresses and names, the query, which has rules, or the client,
 * whose network address is one of a person.
 */
const subjects = ["url.full", "url.path", "url.query", "client.address", "user_agent.original"]

const frame = /^\s+at .*(?::\d+:\d+|<anonymous>|native|index \d+)\)?$/

/** The stack frames without the message before them, which may have several lines. */
const framesOf = ({ message, stack = "" }: Error): ReadonlyArray<string> => {
  const lines = stack.replace(message, "").split("\n")
  return lines.slice(lines.findLastIndex((line) => !frame.test(line)) + 1)
}

const tagOf = (value: unknown): string | undefined =>
  Predicate.hasProperty(value, "_tag") && typeof value._tag === "string" ? value._tag : undefined

/** The code of a system error, such as `ERR_WORKER_OUT_OF_MEMORY` or `ENOSPC`. */
const codeOf = (error: unknown): string | undefined =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" && /^[A-Z][A-Z0-9_]{1,60}$/.test(error.code)
    ? error.code
    : undefined

class RedactedError extends Error {
  constructor(error: unknown) {
    const reason = Predicate.hasProperty(error, "reason") ? tagOf(error.reason) : undefined
    const name = tagOf(error) ?? (error instanceof Error ? error.name : "Error")
    super(reason ?? codeOf(error) ?? name)
    this.name = name
    const frames = error instanceof Error ? framesOf(error) : []
    this.stack = [`${name}: ${this.message}`, ...frames].join("\n")
  }
}

const redactReason = (reason: Cause.Reason<unknown>): Cause.Reason<unknown> => {
  if (Cause.isInterruptReason(reason)) return reason
  const redacted = Cause.isFailReason(reason)
    ? Cause.makeFailReason(new RedactedError(reason.error))
    : Cause.makeDieReason(new RedactedError(reason.defect))
  const stack = Context.getOption(Cause.reasonAnnotations(reason), Cause.StackTrace)
  return Option.isNone(stack) ? redacted : redacted.annotate(Context.make(Cause.StackTrace, stack.value))
}

/** Reduces the errors of a cause to their tag, the tag of their reason or their system code, and their stack frames. */
export const redactCause = (cause: Cause.Cause<unknown>): Cause.Cause<unknown> =>
  Cause.fromReasons(cause.reasons.map(redactReason))

/** A cause as it may be logged: redacted unless `TraceSubjects` is set. */
export const loggedCause = (cause: Cause.Cause<unknown>): Effect.Effect<Cause.Cause<unknown>> =>
  Effect.map(TraceSubjects, (traceSubjects) => (traceSubjects ? cause : redactCause(cause)))

// A successful value holds data, so it is dropped too.
const redactExit = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> =>
  Exit.isSuccess(exit) ? Exit.void : Exit.failCause(redactCause(exit.cause))

/** Changes a span in place, since tracers recognise their own spans. */
const redactSpan = (span: Tracer.Span): Tracer.Span => {
  const attribute = span.attribute.bind(span)
  const end = span.end.bind(span)
  span.attribute = (key, value) => {
    if (!subjects.includes(key)) attribute(key, value)
  }
  span.end = (endTime, exit) => end(endTime, redactExit(exit))
  return span
}

const redacting = new WeakMap<Tracer.Tracer, Tracer.Tracer>()
const redacted = new WeakMap<Tracer.Tracer, Tracer.Tracer>()

const redactTracer = (tracer: Tracer.Tracer): Tracer.Tracer => {
  if (redacted.has(tracer)) return tracer
  const cachedTracer = redacting.get(tracer)
  if (cachedTracer !== undefined) return cachedTracer
  const newTracer = Tracer.make({ span: (options) => redactSpan(tracer.span(options)), context: tracer.context })
  redacting.set(tracer, newTracer)
  redacted.set(newTracer, tracer)
  return newTracer
}

/** The tracer to use, or `undefined` to keep the current one. Effect's native tracer exports nothing. */
const otherTracer = (tracer: Tracer.Tracer | undefined, traceSubjects: boolean): Tracer.Tracer | undefined => {
  if (tracer === undefined || tracer === Tracer.nativeTracer) return undefined
  const wanted = traceSubjects ? (redacted.get(tracer) ?? tracer) : redactTracer(tracer)
  return wanted === tracer ? undefined : wanted
}

/** Redacts the spans of an effect and all spans below them. Costs next to nothing without a tracer. */
export const redactSpans =
  (options: SpanRedactionOptions = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => {
      if (fiber.cache.tracer === undefined) return effect
      const traceSubjects = options.traceSubjects === true || fiber.getRef(TraceSubjects)
      const tracer = otherTracer(fiber.cache.tracer, traceSubjects)
      const traced = tracer === undefined ? effect : Effect.provideService(effect, Tracer.Tracer, tracer)
      return options.traceSubjects === true ? Effect.provideService(traced, TraceSubjects, true) : traced
    })

/** Redacts the spans of a stream, as `redactSpans` does. */
export const redactStreamSpans = <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
  Stream.unwrap(
    Effect.withFiber((fiber) => {
      const tracer = otherTracer(fiber.cache.tracer, fiber.getRef(TraceSubjects))
      return Effect.succeed(tracer === undefined ? stream : Stream.provideService(stream, Tracer.Tracer, tracer))
    })
  )

/** Redacts the spans of a layer: those of its construction and of all that runs later in its context. */
export const redactLayerSpans = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.fromBuildMemo((memoMap, scope) => redactSpans()(Layer.buildWithMemoMap(layer, memoMap, scope)))

/** Drops the value of a call from its span, which the fibers that the call started may keep alive. */
const withoutValue = (span: Tracer.Span): Tracer.Span => {
  const end = span.end.bind(span)
  span.end = (endTime, exit) => end(endTime, Exit.asVoid(exit))
  return span
}

/** The call site of a function, as `Effect.fn` records it, with three stack frames for speed. */
const callSite = (): (() => string | undefined) => {
  const limit: unknown = Reflect.get(Error, "stackTraceLimit")
  Reflect.set(Error, "stackTraceLimit", 3)
  const site = new Error("call")
  Reflect.set(Error, "stackTraceLimit", limit)
  return () => site.stack?.split("\n")[3]?.trim()
}

/** `Effect.fn` for public methods and programs, whose span and all spans below it are redacted. */
export const fnRedacted = (
  name: string,
  options: SpanRedactionOptions & Tracer.SpanOptionsNoTrace = {}
): Effect.fn.Untraced => {
  const redact = redactSpans(options)
  const define = (...definition: Parameters<Effect.fn.Untraced>) => {
    const untraced = Effect.fnUntraced(...definition)
    return (...args: Parameters<typeof untraced>) => {
      const effect = untraced(...args)
      // Where tracing is disabled, as in a service without a tracer, a span would take a tenth of a request.
      if (!Effect.isEffect(effect) || Fiber.getCurrent()?.cache.tracerEnabled === false) return effect
      const trace = { captureStackTrace: callSite() }
      return redact(Effect.useSpan(name, options, (span) => Effect.withParentSpan(effect, withoutValue(span), trace)))
    }
  }
  // It has the type of `Effect.fnUntraced`, whose overloads the compiler cannot follow through the spread.
  return define as Effect.fn.Untraced
}
