/** Joins pieces. What is one piece is not copied, since memory outside the heap of V8 is collected late. */
export const joinBytes = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first = new Uint8Array(0), ...others] = pieces.filter(({ length }) => length > 0)
  if (others.length === 0) return first
  const bytes = new Uint8Array(others.reduce((size, { length }) => size + length, first.length))
  bytes.set(first)
  let at = first.length
  for (const piece of others) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
