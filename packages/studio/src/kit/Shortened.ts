/** Texts of any length, of which a table or a list shows the beginning. */

/** Maximum number of characters that are shown. */
const longest = 300

/** A text as far as it is shown, with its length where that is not all. */
export const shortened = (value: string | number): string => {
  const text = String(value)
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length.toLocaleString()} characters)`
}
