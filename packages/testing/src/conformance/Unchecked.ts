/**
 * What callers hand over whom no compiler stopped: plain JavaScript, and casts.
 */

/** Takes anything for what is asked for, as such a caller does. */
export const unchecked = <A>(value: unknown): A => value as A

/** What no text is. */
export const noTexts: ReadonlyArray<unknown> = [null, 7, true, {}, ["x"], new Date(0)]
