/**
 * A key that somebody typed where none belongs. A message that quotes what was typed must not quote it: errors are logged,
 * and pasted where others read them.
 */

/** A token of ours, or a long run of letters and digits as other services have them. A piece of a path or address is neither. */
const keyLike =
  /(?<![\w/.@-])(?:roster_[\w-]{12,}|(?:[a-z]{2,12}[_-]){0,3}(?=[a-z]*\d)[a-z0-9]{24,})(?![\w@-]|[/.]\w)/gi

const warning = "The removed text looks like a key, and it is now in the history of your shell: replace that key."

/** The same words, where nothing in them can be used as a key. */
export const withoutKeys = (message: string): string => {
  const hidden = message.replace(keyLike, "…")
  return hidden === message ? message : `${hidden.replace(/[.]?$/, ".")} ${warning}`
}
