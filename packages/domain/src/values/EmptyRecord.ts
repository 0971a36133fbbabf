/**
 * Makes a function that makes empty objects, for records of one kind. V8 gives `{}` room for four properties and makes room
 * for a few more each time that they do not suffice; what a constructor makes soon has room for all. Nothing else differs.
 */
export const makeEmptyRecord = <A = unknown>(): (() => Record<string, A>) => {
  // A constructor function with the prototype of objects makes plain ones.
  const Empty = function () {} as unknown as new () => Record<string, A>
  Empty.prototype = Object.prototype
  return () => new Empty()
}
