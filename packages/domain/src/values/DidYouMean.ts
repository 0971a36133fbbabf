/** Suggestions for misspelt words. */
import { printable } from "./Characters.ts"

/** Quotes a piece of input, cut to a readable length. */
export const quoted = (text: string): string => `"${printable(text.length > 40 ? `${text.slice(0, 40)}…` : text)}"`

/** A hint that names the candidate nearest to a word, or `undefined` when none is near. */
export const didYouMean = (word: string, candidates: Iterable<string>): string | undefined => {
  const candidate = nearest(word, candidates)
  return candidate === undefined ? undefined : `did you mean ${quoted(candidate)}?`
}

// At most one letter in three may be wrong.
const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  if (word.length > 40) return undefined
  const wanted = word.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** A name without its digits, which tell names apart: "Phone 1" is no slip of "Phone 2". */
const withoutDigits = (name: string): string => name.replaceAll(/\p{N}/gu, "")

/** Shorter names are soon one letter apart. */
const shortestSlip = 3

/** The known name that another one misses by one letter or by two swapped ones. Letter case does not count. */
export const slipOf = (name: string, known: Iterable<string>): string | undefined => {
  const written = name.trim().toLowerCase()
  for (const other of known) {
    const meant = other.trim().toLowerCase()
    if (Math.max(written.length, meant.length) < shortestSlip || Math.abs(written.length - meant.length) > 1) continue
    if (withoutDigits(written) !== withoutDigits(meant) && editDistance(written, meant) === 1) return other
  }
  return undefined
}

/** Levenshtein distance, one row at a time, where two swapped letters count as one mistake. */
export const editDistance = (left: string, right: string): number => {
  let before: ReadonlyArray<number> = []
  let row = Array.from({ length: right.length + 1 }, (_, j) => j)
  for (let i = 1; i <= left.length; i++) {
    let cell = i
    const next = [cell]
    for (let j = 1; j <= right.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1)
      const swapped = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity
      cell = Math.min(replaced, (row[j] ?? 0) + 1, cell + 1, swapped)
      next.push(cell)
    }
    before = row
    row = next
  }
  return row[right.length] ?? 0
}
