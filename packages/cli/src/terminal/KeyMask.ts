/** Hides keys in words that may quote a command line: errors are logged, and pasted where others read them. */

/** A token of Roster, or a long run of letters and digits as of other services, but not in a path or address. */
const keyLike =
  /(?<![\w/.@-])(?:roster_[\w-]{12,}|(?:[a-z]{2,12}[_-]){0,3}(?=[a-z]*\d)[a-z0-9]{24,})(?![\w@-]|[/.]\w)/gi

const warning = "The removed text looks like a key, and it is now in the history of your shell: replace that key."

/** The name of a variable of the environment, which looks like a token in capitals. */
const variable = /^ROSTER(?:_[A-Z]+)+$/

/** The words with "…" in place of each key. */
export const maskKeys = (words: string): string => words.replace(keyLike, (word) => (variable.test(word) ? word : "…"))

/** A message with masked keys, and what to do about them. */
export const withoutKeys = (message: string): string => {
  const hidden = maskKeys(message)
  return hidden === message ? message : `${hidden.replace(/[.]?$/, ".")} ${warning}`
}
