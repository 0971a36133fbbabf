/**
 * Hides keys in words that may quote a command line: errors are logged, and pasted where others read them. Names that exist, of
 * settings, profiles, flags and files, are no keys.
 */
import { existsSync } from "node:fs"

/**
 * A secret of Roster, also one that was cut, or 32 or more letters and digits mixed as other services have them, but not in a
 * path or an address. Names are words with separators, or shorter.
 */
const keyLike =
  /(?<![\w/.@-])(?:roster(?:smtp)?_[a-z0-9]{24,}|(?:[a-z]{2,12}[_-]){0,3}(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{32,})(?![\w@-]|[/.]\w)/gi

const warning = "The removed text looks like a key, and it is now in the history of your shell: replace that key."

/** The words with "…" in place of each key. */
export const maskKeys = (words: string): string => words.replace(keyLike, (word) => (existsSync(word) ? word : "…"))

/** A message with masked keys, and what to do about them. */
export const withoutKeys = (message: string): string => {
  const hidden = maskKeys(message)
  return hidden === message ? message : `${hidden.replace(/[.]?$/, ".")} ${warning}`
}
