/**
 * Small parts that generators are made of.
 */
import { Arbitrary, Schema } from "effect"

/** One of some values. */
export const oneOf = <const A extends string | number>(values: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.schema(Schema.Literals(values))

/** Mostly the one, in one of four cases the other. */
export const mostly = <A, B>(likely: Arbitrary.Arbitrary<A>, rare: Arbitrary.Arbitrary<B>) =>
  Arbitrary.flatMap(oneOf([0, 1, 2, 3]), (n): Arbitrary.Arbitrary<A | B> => (n === 0 ? rare : likely))

/** The value under its name in three of four cases, and nothing otherwise. */
export const optional = <const Name extends string, A>(name: Name, value: Arbitrary.Arbitrary<A>) =>
  Arbitrary.map(
    mostly(value, Arbitrary.Constant(undefined)),
    (given) => (given === undefined ? {} : ({ [name]: given } as { readonly [Key in Name]: A })) // the one key is the given name
  )

/** A whole number of a range. */
export const integer = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))
