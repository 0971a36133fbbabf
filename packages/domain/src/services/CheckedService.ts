/**
 * The tag of a service that says how the objects of its methods are checked: one with a method that takes an object does not
 * compile without the fields of that. Every layer checks them by `checkedMethods`. (docs/decisions/records.md)
 */
import { Context, type Effect, type Stream } from "effect"
import { type Fields, type FieldsByTag, fieldsOf } from "../values/UnknownNames.ts"
import type { KeyedCall } from "./KeyedCall.ts"

/** The check of an object: its fields, or `Own` for a schema or check that every layer applies itself. */
type Input<A> = Fields<A> | (A extends { readonly _tag: string } ? FieldsByTag<A> : never) | "Own"

/** How each argument of a method is checked; `null` stands for one that is no object. */
type InputsOf<Given extends ReadonlyArray<unknown>> = {
  readonly [I in keyof Given]-?: [NonNullable<Given[I]>] extends [string | number | boolean | Iterable<unknown>]
    ? null
    : Input<NonNullable<Given[I]>>
}

type OfMethod<Method> = Method extends (...given: infer Given) => infer Result
  ? Result extends Stream.Stream<unknown, unknown>
    ? { readonly stream: InputsOf<Given> }
    : InputsOf<Given>
  : Inputs<Method>

/** How the arguments of all methods of a service are checked. */
export type Inputs<Service> = {
  readonly [
    Name in keyof Service as NonNullable<Service[Name]> extends Effect.Effect<unknown, unknown> ? never : Name
  ]: OfMethod<Service[Name]>
}

/** The class of a tag with the checks of its methods. */
export interface CheckedService<Self, Id extends string, Shape> extends Context.ServiceClass<Self, Id, Shape> {
  /** How the arguments of the methods are checked. */
  readonly inputs: Inputs<Shape>
}

/** `Context.Service` for a service whose methods take objects, with how each of them is checked. */
export const CheckedService =
  <Self, Shape extends object>() =>
  <const Id extends string>(id: Id, inputs: Inputs<Shape>): CheckedService<Self, Id, Shape> =>
    Object.assign(Context.Service<Self, Shape>()(id), { inputs })

/** The fields of the options of a call with a key and nothing else: here, since a tag does not load the errors of keys. */
export const keyedFields = fieldsOf<KeyedCall>("a call", { idempotencyKey: true })
