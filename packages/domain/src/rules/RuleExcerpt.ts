/** Showing a piece of a rule to a person, safely. */

const width = 100
const before = 50

/**
 * The part of a rule around a place, and a line of carets to go under it. The
 * excerpt is one line of printable characters, however long the rule is and
 * whatever it holds.
 */
export const excerpt = (rule: string, position: number, length: number): readonly [line: string, carets: string] => {
  const start = Math.max(0, position - before)
  const end = Math.min(rule.length, start + width)
  const marked = Math.min(end, position + length)
  const left = `${start > 0 ? "…" : ""}${printable(rule.slice(start, position))}`
  const middle = printable(rule.slice(position, marked))
  const right = `${printable(rule.slice(marked, end))}${end < rule.length ? "…" : ""}`
  return [`${left}${middle}${right}`, `${" ".repeat(count(left))}${"^".repeat(Math.max(1, count(middle)))}`]
}

/**
 * Replaces every character that could move the cursor, colour the terminal or
 * reorder the line by a visible one.
 */
export const printable = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd"
  })

/** A piece of a rule in double quotes, cut to a readable length. */
export const quoted = (text: string): string => `"${printable(text.length > 40 ? `${text.slice(0, 40)}…` : text)}"`

const count = (text: string): number => Array.from(text).length
