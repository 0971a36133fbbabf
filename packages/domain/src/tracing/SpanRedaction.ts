/**
 * Keeps e-mail addresses, names, rules and bodies out of spans. An exporter writes the message of an error into the status
 * and the exception event of a failed span, and our messages say who they are about.
 *
 * Whatever runs inside `redactSpans` sees the tracer of its caller through a wrapper: a span ends with the tag of its error,
 * the tag of its reason or the code of the system, and its stack frames, and takes no attribute that holds an address (docs/observability.md).
 */
import { Cause, Context, Effect, Exit, Layer, Option, Predicate, Stream, Tracer } from "effect"

/**
 * Whether spans may tell whom they are about (default: no).
 */
export const TraceSubjects = Context.Reference<boolean>("@roster/domain/TraceSubjects", { defaultValue: () => false })

export interface SpanRedactionOptions {
  /** Lets spans tell whom they are about, as `TraceSubjects` does (default: as that says). */
  readonly traceSubjects?: boolean | undefined
}

/** The attributes of HTTP spans that hold the path, in which an address or a name stands, or the query, which holds rules. */
const isSubject = (attribute: string): boolean =>
  attribute === "url.full" || attribute === "url.path" || attribute === "url.query"

const frame = /^\s+at .*(?::\d+:\d+|<anonymous>|native|index \d+)\)?$/

/** The frames alone: a stack begins with the message, which may have several lines. */
const framesOf = ({ message, stack = "" }: Error): ReadonlyArray<string> => {
  const lines = stack.replace(message, "").split("\n")
  return lines.slice(lines.findLastIndex((line) => !frame.test(line)) + 1)
}

const tagOf = (value: unknown): string | undefined =>
  Predicate.hasProperty(value, "_tag") && typeof value._tag === "string" ? value._tag : undefined

/** What a system or an engine calls an error, such as `ERR_WORKER_OUT_OF_MEMORY` or `ENOSPC`. */
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

/**
 * A cause whose errors are their tag, the tag of their reason or the code of the system, and their stack frames.
 */
export const redactCause = (cause: Cause.Cause<unknown>): Cause.Cause<unknown> =>
  Cause.fromReasons(cause.reasons.map(redactReason))

/**
 * A cause as it may be logged: redacted unless `TraceSubjects` says otherwise.
 */
export const loggedCause = (cause: Cause.Cause<unknown>): Effect.Effect<Cause.Cause<unknown>> =>
  Effect.map(TraceSubjects, (traceSubjects) => (traceSubjects ? cause : redactCause(cause)))

// A value is no more to be kept than an error: what was read is in it.
const redactExit = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> =>
  Exit.isSuccess(exit) ? Exit.void : Exit.failCause(redactCause(exit.cause))

/** Changed in place: a tracer knows its own spans by what else they carry. */
const redactSpan = (span: Tracer.Span): Tracer.Span => {
  const attribute = span.attribute.bind(span)
  const end = span.end.bind(span)
  span.attribute = (key, value) => {
    if (!isSubject(key)) attribute(key, value)
  }
  span.end = (endTime, exit) => end(endTime, redactExit(exit))
  return span
}

const redacting = new WeakMap<Tracer.Tracer, Tracer.Tracer>()
const redacted = new WeakMap<Tracer.Tracer, Tracer.Tracer>()

const redactTracer = (tracer: Tracer.Tracer): Tracer.Tracer => {
  if (redacted.has(tracer)) return tracer
  const known = redacting.get(tracer)
  if (known !== undefined) return known
  const made = Tracer.make({ span: (options) => redactSpan(tracer.span(options)), context: tracer.context })
  redacting.set(tracer, made)
  redacted.set(made, tracer)
  return made
}

/** The tracer to work with, or `undefined` where that is the one in use. Spans of Effect's own tracer are seen by nobody. */
const otherTracer = (tracer: Tracer.Tracer | undefined, traceSubjects: boolean): Tracer.Tracer | undefined => {
  if (tracer === undefined || tracer === Tracer.nativeTracer) return undefined
  const wanted = traceSubjects ? (redacted.get(tracer) ?? tracer) : redactTracer(tracer)
  return wanted === tracer ? undefined : wanted
}

/**
 * Runs an effect whose spans, and all spans below them, tell nobody whom they are about. Costs one look where there is no
 * tracer.
 */
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

/**
 * `redactSpans` for the spans of a stream.
 */
export const redactStreamSpans =
  (options: SpanRedactionOptions = {}) =>
  <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    Stream.unwrap(
      Effect.withFiber((fiber) => {
        const traceSubjects = options.traceSubjects === true || fiber.getRef(TraceSubjects)
        const tracer = otherTracer(fiber.cache.tracer, traceSubjects)
        return Effect.succeed(tracer === undefined ? stream : Stream.provideService(stream, Tracer.Tracer, tracer))
      })
    )

/**
 * `redactSpans` for a layer: its building, and all that it runs later in the context in which it was built.
 */
export const redactLayerSpans = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.fromBuildMemo((memoMap, scope) => redactSpans()(Layer.buildWithMemoMap(layer, memoMap, scope)))

/** Who called the function that asks, as `Effect.fn` notes it. Two frames cost a fraction of ten, where the engine counts them. */
const callSite = (): (() => string | undefined) => {
  const limit: unknown = Reflect.get(Error, "stackTraceLimit")
  Reflect.set(Error, "stackTraceLimit", 3)
  const site = new Error("call")
  Reflect.set(Error, "stackTraceLimit", limit)
  return () => site.stack?.split("\n")[3]?.trim()
}

/**
 * `Effect.fn` for public methods and programs: its span, and all spans below it, tell nobody whom they are about.
 */
export const fnRedacted = (
  name: string,
  options: SpanRedactionOptions & Tracer.SpanOptionsNoTrace = {}
): Effect.fn.Untraced => {
  const redact = redactSpans(options)
  const define = (...definition: Parameters<Effect.fn.Untraced>) => {
    const untraced = Effect.fnUntraced(...definition)
    const traced = (...args: Parameters<typeof untraced>) => {
      const effect = untraced(...args)
      return Effect.isEffect(effect)
        ? redact(Effect.withSpan(effect, name, { ...options, captureStackTrace: callSite() }))
        : effect
    }
    return traced
  }
  // Takes and gives what `Effect.fnUntraced` does, whose overloads the compiler cannot follow through the spread.
  return define as Effect.fn.Untraced
}
