/**
 * Leaving out what is not given: a record that is sent must not name a field that nobody mentioned.
 */

type Given<A> = { readonly [K in keyof A as undefined extends A[K] ? never : K]: A[K] } & {
  readonly [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined>
}

export const omitUndefined = <const A extends object>(fields: A): Given<A> =>
  // Only fields that are undefined are left out, and those are optional in the result.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<A>
