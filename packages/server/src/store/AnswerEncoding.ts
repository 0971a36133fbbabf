/** Encodes the answer to a write before its commit, so that what cannot be answered is not written. */
import { Context, Effect } from "effect"

/** Encodes an answer, or throws. */
type Encode = (answer: unknown) => void

/**
 * Encodes the answer of the current call (default: nothing, as for callers in this process). A reference, since the transaction
 * of a service ends with it and the services know no endpoints.
 */
const AnswerEncoder = Context.Reference<Encode>("@roster/server/AnswerEncoder", { defaultValue: () => () => {} })

/** The last step of a transaction: encodes what the write will return. Throwing rolls the transaction back. */
export const encoded = <A>(answer: A): Effect.Effect<A> =>
  Effect.map(AnswerEncoder, (encode) => {
    encode(answer)
    return answer
  })

/** Runs a write and gives its encoded answer. A write that has no step `encoded` is encoded at its end. */
export const encodedBeforeCommit = <A, B, E, R>(
  write: Effect.Effect<A, E, R>,
  encode: (answer: A) => B
): Effect.Effect<B, E, R> =>
  Effect.suspend(() => {
    let early: { readonly answer: unknown; readonly response: B } | undefined
    const encoder: Encode = (answer) => {
      // What the transaction gives is what the write returns.
      early = { answer, response: encode(answer as A) }
    }
    return Effect.map(Effect.provideService(write, AnswerEncoder, encoder), (answer) =>
      early !== undefined && early.answer === answer ? early.response : encode(answer)
    )
  })
