/**
 * The public methods of a client's services: each is a span of its name, of kind client, that tells nobody whom it is about.
 */
import { fnRedacted, redactSpans, type SpanRedactionOptions } from "@roster/domain"
import { Effect, Tracer } from "effect"

/** What the spans of a client's methods have in common. */
export type MethodSpan = SpanRedactionOptions & Tracer.SpanOptionsNoTrace

/** Makes methods from generators, as `Effect.fn` does. */
export const methods =
  ({ span }: { readonly span: MethodSpan }) =>
  (name: string): Effect.fn.Untraced =>
    fnRedacted(name, span)

/**
 * Makes a method that is called for single records, often: without the stack that the others take on each call, and without a
 * span where no tracer is there to see it. Stacks cost a sixth of a call, the span as much.
 */
export const method = (name: string, options: { readonly propagateTrace: boolean; readonly span: MethodSpan }) => {
  const redact = redactSpans(options.span)
  return <Args extends ReadonlyArray<unknown>, A, E>(body: (...args: Args) => Effect.Effect<A, E>) =>
    (...args: Args): Effect.Effect<A, E> =>
      Effect.withFiber((fiber) =>
        // Without one Effect makes spans that end nowhere; but their ids may be sent.
        fiber.cache.tracer === undefined && !options.propagateTrace
          ? body(...args)
          : redact(
              Effect.useSpan(name, options.span, (span) =>
                Effect.provideService(
                  Effect.suspend(() => body(...args)),
                  Tracer.ParentSpan,
                  span
                )
              )
            )
      )
}
