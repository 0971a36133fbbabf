/**
 * How rules compare texts and numbers. The evaluator and the SQL compiler must
 * agree on every answer, so both use these definitions.
 */

/**
 * The form in which texts are compared: lower case, then NFC, so that neither
 * case nor the way an accent is composed matters. SQLite's own `lower` knows
 * ASCII only, so SQL stores folded columns and binds folded literals.
 */
export const foldText = (text: string): string => text.toLowerCase().normalize("NFC")

/**
 * Orders two folded texts by code points, which is the order of their UTF-8
 * bytes and so that of `COLLATE BINARY` in SQLite and `COLLATE "C"` in
 * PostgreSQL. JavaScript's own `<` orders by UTF-16 units and differs above
 * U+FFFF.
 */
export const compareText = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length)
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i)
    const b = right.charCodeAt(i)
    if (a !== b) return rank(a) - rank(b)
  }
  return left.length - right.length
}

// Surrogates stand for the code points above U+FFFF, so they rank above every other unit.
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

/**
 * Reads a decimal number such as `42`, `-1.5` or `1e-7`, the whole text and
 * nothing around it; `undefined` for anything else. This is both the number
 * literal of the language and how the text of a custom field becomes a number.
 */
export const numberOf = (text: string): number | undefined => {
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return undefined
  const number = Number(text)
  if (!Number.isFinite(number)) return undefined
  return number === 0 ? 0 : number
}
