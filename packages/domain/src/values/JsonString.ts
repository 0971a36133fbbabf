/** Where a JSON string ends in a text, for code that reads JSON without parsing all of it. */
const quote = 0x22
const backslash = 0x5c

/** A longer string is searched for its next quote by `indexOf`, which is not worth it for a short way. */
const shortString = 24

/** The closing quote of the string that opens at a quote, or -1. */
export const endOfString = (text: string, start: number): number => {
  let end = start + 1
  for (;;) {
    for (const short = end + shortString; end < short; end++) {
      const code = text.charCodeAt(end)
      if (code === quote) return end
      if (code === backslash) end++
    }
    const next = text.indexOf('"', end)
    if (next === -1) return -1
    let escapes = next - 1
    while (text.charCodeAt(escapes) === backslash) escapes--
    if ((next - escapes) % 2 === 1) return next
    end = next + 1
  }
}
