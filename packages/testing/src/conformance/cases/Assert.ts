/** The assertions of the cases: those of Node, under the names that Vitest's have. A failure says what was expected. */
import { AssertionError } from "node:assert"
import { inspect, isDeepStrictEqual } from "node:util"

const check = (holds: boolean, about: string | undefined, failure: () => AssertionError): void => {
  if (holds) return
  const error = failure()
  if (about !== undefined) error.message = `${about}: ${error.message}`
  throw error
}

/** A failure in the words of Node, which show where two values differ. */
const differing = (actual: unknown, expected: unknown, operator: string) => () =>
  new AssertionError({ actual, expected, operator })

const shown = (value: unknown) => inspect(value, { depth: 4, breakLength: Infinity })

/** A failure of a relation that Node has no words for. */
const unrelated = (actual: unknown, relation: string, expected: unknown) => () =>
  new AssertionError({ message: `${shown(actual)} ${relation} ${shown(expected)}`, actual, expected })

const is = (value: unknown, expected: unknown, about: string | undefined): void =>
  check(value === expected, about, differing(value, expected, "strictEqual"))

type Compared = number | bigint

const has = (whole: string | ReadonlyArray<unknown>, part: unknown): boolean =>
  typeof whole === "string" ? whole.includes(String(part)) : whole.includes(part)

/** The assertions, which throw. A case with one that throws is a failed case. */
export const assert = {
  strictEqual: <A>(actual: A, expected: A, about?: string): void =>
    check(Object.is(actual, expected), about, differing(actual, expected, "strictEqual")),
  notStrictEqual: (actual: unknown, expected: unknown, about?: string): void =>
    check(!Object.is(actual, expected), about, differing(actual, expected, "notStrictEqual")),
  deepStrictEqual: <A>(actual: A, expected: A, about?: string): void =>
    check(isDeepStrictEqual(actual, expected), about, differing(actual, expected, "deepStrictEqual")),
  /** Whether the fields of `part` have the same values in `whole`. */
  deepInclude: <A extends object>(whole: A, part: Partial<A>, about?: string): void => {
    const given = Object.fromEntries(Object.entries(whole).filter(([name]) => name in part))
    check(isDeepStrictEqual(given, { ...part }), about, differing(given, part, "deepStrictEqual"))
  },
  isTrue: (value: unknown, about?: string): void => is(value, true, about),
  isFalse: (value: unknown, about?: string): void => is(value, false, about),
  isUndefined: (value: unknown, about?: string): void => is(value, undefined, about),
  isArray: (value: unknown, about?: string): void =>
    check(Array.isArray(value), about, unrelated(value, "is not", "an array")),
  isAbove: (value: Compared, bound: Compared, about?: string): void =>
    check(value > bound, about, unrelated(value, "is not above", bound)),
  isAtLeast: (value: Compared, bound: Compared, about?: string): void =>
    check(value >= bound, about, unrelated(value, "is not at least", bound)),
  isBelow: (value: Compared, bound: Compared, about?: string): void =>
    check(value < bound, about, unrelated(value, "is not below", bound)),
  isAtMost: (value: Compared, bound: Compared, about?: string): void =>
    check(value <= bound, about, unrelated(value, "is not at most", bound)),
  include: (whole: string | ReadonlyArray<unknown>, part: unknown, about?: string): void =>
    check(has(whole, part), about, unrelated(whole, "does not include", part)),
  notInclude: (whole: string | ReadonlyArray<unknown>, part: unknown, about?: string): void =>
    check(!has(whole, part), about, unrelated(whole, "includes", part)),
  match: (text: string, pattern: RegExp, about?: string): void =>
    check(pattern.test(text), about, unrelated(text, "does not match", pattern)),
  notMatch: (text: string, pattern: RegExp, about?: string): void =>
    check(!pattern.test(text), about, unrelated(text, "matches", pattern)),
  notProperty: (value: object, name: string, about?: string): void =>
    check(!(name in value), about, unrelated(Object.keys(value), "has", name)),
  fail: (message: string): never => {
    throw new AssertionError({ message })
  }
}
