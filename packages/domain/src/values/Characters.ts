/** Characters that do something else than to stand in a text. */

/** Whether a text has a control character, which could end a header or a line. */
export const hasControl = (text: string): boolean => /\p{Cc}/u.test(text)

/** What is wrong with the name of something that a path can name, by the first rule that it breaks. */
export const nameIssue = (name: string, most = Infinity): string | undefined => {
  const [control] = /\p{Cc}/u.exec(name) ?? []
  if (control !== undefined) return `it has a control character, ${codeOf(control)}`
  if (name.trim() === "") return "it is blank"
  if (!name.isWellFormed()) return "it has broken characters (lone surrogates)"
  if (name === "." || name === "..") return "it is a dot path, which cannot be part of a URL"
  return name.length > most ? `it has ${name.length} characters, and may have ${most}` : undefined
}

const codeOf = (character: string): string => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`

/** Replaces what could move the cursor, colour the terminal, reorder the line or not be seen. */
export const replaceUnprintable = (text: string, by: (character: string) => string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, by)

/** The text with a visible character for each of them, to quote it. A terminal prints joiners of languages as they are. */
export const printable = (text: string): string =>
  replaceUnprintable(text, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd"
  })

/** A character as JSON escapes it: two escapes beyond U+FFFF. */
export const escapeInJson = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`
  ).join("")
