/** Building blocks of generators. */
import { Arbitrary, Schema } from "effect"

/** One of some values. */
export const oneOf = <const A extends string | number>(values: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.schema(Schema.Literals(values))

/** The first in three of four cases, otherwise the second. */
export const mostly = <A, B>(likely: Arbitrary.Arbitrary<A>, rare: Arbitrary.Arbitrary<B>) =>
  Arbitrary.flatMap(oneOf([0, 1, 2, 3]), (n): Arbitrary.Arbitrary<A | B> => (n === 0 ? rare : likely))

/** The value under its name in three of four cases, otherwise an empty record. */
export const optional = <const Name extends string, A>(name: Name, value: Arbitrary.Arbitrary<A>) =>
  Arbitrary.map(
    mostly(value, Arbitrary.Constant(undefined)),
    (given) => (given === undefined ? {} : ({ [name]: given } as { readonly [Key in Name]: A })) // the one key is the given name
  )

/** An integer of a range. */
export const integer = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))
