/** Makes foreign text safe for a terminal: active characters become visible; joiners of languages and emoji stay. */
import { Characters } from "@roster/domain/internal"

/** C0 and C1 controls, line and paragraph separators, bidirectional controls, tags and lone surrogates. */
const active = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu

const visible = (character: string): string => {
  const code = character.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd"
}

/** The text as one safe line. */
export const printable = (text: string): string => text.replace(active, visible)

/** The text as safe lines: a message of several ones, such as a rule with a caret under it. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n")

/** Input cut to a length that a message can quote. */
export const shorten = (text: string): string => printable(text.length > 60 ? `${text.slice(0, 60)}…` : text)

/** A count with commas between its thousands. */
export const countText = (count: number): string => String(Math.floor(count)).replaceAll(/\B(?=(?:\d{3}){1,7}$)/g, ",")

export const counted = (contacts: number): string => (contacts === 1 ? "1 contact" : `${contacts} contacts`)

// `JSON.stringify` escapes C0 controls and lone surrogates itself, so the line breaks between records stay.
const activeInJson = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f]/g

/** A value as JSON on one line, with escapes for the characters that a terminal would act on. */
export const jsonText = (value: unknown): string => JSON.stringify(value).replace(activeInJson, Characters.escapeInJson)

/** Counts as lines, by the names that they have as JSON: `notSent` is said as "not sent". */
export const countLines = (
  counts: { readonly [name: string]: number | string | undefined },
  width = 10
): ReadonlyArray<string> =>
  Object.entries(counts).map(([name, count]) => {
    const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return `${words.padEnd(width)}  ${typeof count === "number" ? countText(count) : count}`
  })
