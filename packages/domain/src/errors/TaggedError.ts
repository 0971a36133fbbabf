/**
 * Classes of errors whose message, a getter of the class, is a property of each error, since `structuredClone` copies no
 * getters.
 */
import { type Cause, Schema } from "effect"

const withOwnMessage = <Base extends new (given: never) => object>(base: Base): Base =>
  new Proxy(base, {
    construct: (target, given, newTarget) => {
      const error: Error = Reflect.construct(target, given, newTarget)
      return Object.defineProperty(error, "message", { value: error.message, writable: true, configurable: true })
    }
  })

/** `Schema.TaggedError`, for a class with a getter of its message. */
export const TaggedError =
  <Self>() =>
  <Tag extends string, const Fields extends Schema.Struct.Fields>(
    tag: Tag,
    fields: Fields
  ): Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError> =>
    withOwnMessage(
      // Effect's types ask at once for the class that is to extend this one.
      Schema.TaggedError<Error>()(tag, fields) as Schema.Class<
        Self,
        Schema.TaggedStruct<Tag, Fields>,
        Cause.YieldableError
      >
    )
