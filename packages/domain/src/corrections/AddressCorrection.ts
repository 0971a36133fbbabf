/** The address that a text with a slip of the hand means, where nothing about it is open. */
import { emailAddressIssue } from "../contacts/EmailAddress.ts"
import { everyInvisible, likelyAddresses } from "../csv/CellProblems.ts"

/** Beyond this no address is looked for: it is among the first characters of a text. */
const longest = 1000

/** Each slip with what was meant, in the order in which they are put right. */
const slips: ReadonlyArray<readonly [slip: RegExp, meant: string]> = [
  // Ann <ann@example.com>
  [/^[^<>]*<([^<>]*)>[\s.,;]*$/, "$1"],
  [/^\s*mailto:\s*/i, ""],
  // What a link may say besides.
  [/\?.*/s, ""],
  [/^["'\s]+|(?<!["'\s.,;:!])["'\s.,;:!]+$/g, ""],
  // ann (at) example.com
  [/(?<!\s)\s*[([{]\s*at\s*[)\]}]\s*/i, "@"],
  [/^([^\s@]+)\s+at\s+([^\s@]+)$/i, "$1@$2"],
  [/(?<!\s)\s*@[\s@]*/, "@"]
]

const inDomain: ReadonlyArray<readonly [slip: RegExp, meant: string]> = [
  [/(?<!\s)\s*[([{]\s*dot\s*[)\]}]\s*/gi, "."],
  [/(?<!\s)\s*[.,](?:\s*[.,])*\s*/g, "."]
]

const putRight = (text: string, all: typeof slips): string =>
  all.reduce((corrected, [slip, meant]) => corrected.replace(slip, meant), text)

const isPlainAddress = (text: string): boolean => emailAddressIssue(text) === undefined && /^[^@]*@.*\./.test(text)

/**
 * The address that a text means which is none: `ann@@example.com`, `ann at example.com`, `Ann <ann@example.com>`,
 * `mailto:ann@example.com`, `ann@example,com`. `undefined` for an address, and for a text that may mean several or none.
 */
export const correctedAddress = (text: string): string | undefined => {
  if (text.length > longest || emailAddressIssue(text) === undefined) return undefined
  if (likelyAddresses(text).length > 1) return undefined
  const written = putRight(text.replaceAll(everyInvisible, "").trim(), slips)
  const at = written.lastIndexOf("@") + 1
  const corrected = written.slice(0, at) + putRight(written.slice(at), inDomain)
  return isPlainAddress(corrected) ? corrected : undefined
}
