/** Where a JSON string ends in a text, for code that reads JSON without parsing all of it. */
const quote = 0x22
const backslash = 0x5c

/** A longer string is searched for its end by `indexOf`, which a short one is not worth. */
const shortString = 24

/** The closing quote of the string that opens at a quote, or -1. */
export const endOfString = (text: string, start: number): number => {
  let end = start + 1
  for (const short = end + shortString; end < short; end++) {
    const code = text.charCodeAt(end)
    if (code === quote) return end
    if (code === backslash) end++
  }
  for (end = text.indexOf('"', end); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = end - 1
    while (text.charCodeAt(escapes) === backslash) escapes--
    if ((end - escapes) % 2 === 1) return end
  }
  return -1
}
