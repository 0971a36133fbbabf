/** Input of callers without a type check: plain JavaScript, and casts. */

/** Passes any value as the requested type, as such a caller does. */
export const unchecked = <A>(value: unknown): A => value as A

/** Values that are not texts. */
export const noTexts: ReadonlyArray<unknown> = [null, 7, true, {}, ["x"], new Date(0)]
