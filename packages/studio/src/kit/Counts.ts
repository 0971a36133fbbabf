/** Numbers of things as text, by the person's language. */

/** A number with the word for one or for many. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`

/** A number of contacts. */
export const people = (count: number): string => counted(count, "contact")
