/** The methods of a service, which refuse objects with unknown fields before they do anything. */
import { Effect, Predicate, Stream } from "effect"
import type { InvalidInput } from "../errors/InvalidInput.ts"
import { type Known, refusal } from "../errors/KnownFields.ts"
import type { CheckedService } from "./CheckedService.ts"

type AnyMethod = (...given: ReadonlyArray<unknown>) => unknown

const isKnown = (input: unknown): input is Known =>
  Predicate.hasProperty(input, "names") || Predicate.hasProperty(input, "byTag")

const guarded = (
  method: unknown,
  inputs: ReadonlyArray<unknown>,
  fail: (refusal: InvalidInput) => unknown
): unknown => {
  const checks = Array.from(inputs.entries()).flatMap(([index, input]) =>
    isKnown(input) ? [[index, input] as const] : []
  )
  if (checks.length === 0 || !Predicate.isFunction(method)) return method
  // A method takes what callers give.
  const call = method as AnyMethod
  return (...given: ReadonlyArray<unknown>) => {
    for (const [index, known] of checks) {
      const refused = refusal(known, given[index])
      if (refused !== undefined) return fail(refused)
    }
    return call(...given)
  }
}

const guardedBy = (service: object, inputs: object): object => {
  const methods = new Map(Object.entries(service))
  const guardedMethods = Object.entries(inputs).map(([name, input]) => {
    const method = methods.get(name)
    if (Array.isArray(input)) return [name, guarded(method, input, Effect.fail)]
    if (Array.isArray(input.stream)) return [name, guarded(method, input.stream, Stream.fail)]
    return [name, Predicate.isObject(method) ? guardedBy(method, input) : method]
  })
  return { ...service, ...Object.fromEntries(guardedMethods) }
}

/** Makes each method refuse objects with unknown fields: `checkedMethods(RunsService, { begin, … })`. Every layer does. */
export const checkedMethods = <Self, Id extends string, Shape extends object>(
  { inputs }: CheckedService<Self, Id, Shape>,
  methods: NoInfer<Shape>
): Shape =>
  // Each method has the type of the one that it guards.
  guardedBy(methods, inputs) as Shape
