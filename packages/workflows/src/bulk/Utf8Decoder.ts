/** Decodes a file in UTF-8 piece by piece. */
import { Effect } from "effect"

/**
 * Makes the function that decodes a file in UTF-8 piece by piece, and fails for invalid bytes, which must not become
 * replacement characters in a name. Its last call has no piece.
 */
export const makeUtf8Decoder = <E>(invalid: () => E): ((piece?: Uint8Array) => Effect.Effect<string, E>) => {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  return (piece) => Effect.try({ try: () => decoder.decode(piece, { stream: piece !== undefined }), catch: invalid })
}
