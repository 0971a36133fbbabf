/**
 * Text from elsewhere on a terminal. A contact's name can hold what moves the cursor, colours the screen, sets the
 * clipboard or turns the line around; here it becomes visible and does nothing. Joiners that languages and emoji need stay.
 */

/** Control characters of both sets, line and paragraph separators, everything that changes direction, broken surrogates. */
const active = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu

const visible = (character: string): string => {
  const code = character.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd"
}

/** One line, whatever the text holds. */
export const printable = (text: string): string => text.replace(active, visible)

/** The same for words of ours that may span lines, such as a rule with a caret under it. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n")

/** A piece of input that is short enough to be quoted back. */
export const shorten = (text: string): string => printable(text.length > 60 ? `${text.slice(0, 60)}…` : text)

export const counted = (contacts: number): string => (contacts === 1 ? "1 contact" : `${contacts} contacts`)

/**
 * JSON on one line. Its value is exact; what a terminal would act on is written as an escape, which is the same text to
 * every reader of JSON.
 */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(active, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`
    ).join("")
  )
