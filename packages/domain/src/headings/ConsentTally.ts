/** What the cells of a column say of who wants mail, whose heading may mean it. (docs/decisions/csv.md) */
import { isMailedStatus } from "../contacts/ContactRecord.ts"
import { yesOrNo } from "../kinds/YesNo.ts"
import { parseWireDate } from "../values/WireDate.ts"
import type { ConsentMeaning } from "./ConsentHeadings.ts"
import { saysLeft, statusOfWord } from "./StatusWords.ts"

/** What stands in a cell for none. */
const nothing = new Set(["null", "\\n", "none", "n/a", "na", "nan", "nil", "undefined", "-"])
const noTime = /^0000-00-00/

/** Whether a text is a time, in any of the usual forms. */
const isTime = (text: string): boolean =>
  parseWireDate(text) !== undefined ||
  /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:$|[\sT,])/.test(text) ||
  /^(?:\d{10}|\d{13}|\d{8}T\d{6}Z?)$/.test(text) ||
  (/\b(?:19|20)\d{2}\b/.test(text) && /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i.test(text))

/** What a mapping says of the words of a column that says who wants mail. */
export interface ConsentColumn {
  /** The number of cells that say something. */
  readonly filled: number
  /** The number of those that say that a person wants no mail. */
  readonly refusals: number
  /** The status for each word that was found, empty for one that says nothing; `*` stands for all other texts. */
  readonly words: Readonly<Record<string, string>>
}

/** The share of cells that have to be answers or times, unless a status says in so many words that somebody left. */
const enough = 0.95

const longestText = 60
const mostWords = 100
const mostLooks = 1000

/** The answer that a longer one begins with: "No thanks", "Ja, gern". */
const answerIn = (text: string): boolean | undefined => {
  const [first = ""] = /^\p{L}{2,}(?=[\s,.!-])/u.exec(text) ?? []
  return first === "on" || first === "off" ? undefined : yesOrNo(first)
}

/** Looks at the cells of a column with such a heading. */
export interface ConsentTally {
  /** Takes the text of one or more cells, and says whether it says that the person wants no mail. */
  readonly add: (text: string, cells?: number) => boolean
  /** What the cells say, or `undefined` if they are no answers. */
  readonly found: () => ConsentColumn | undefined
}

/** Makes what looks at the cells of a column. Its memory does not grow with them. */
export const makeConsentTally = (meaning: ConsentMeaning): ConsentTally => {
  const words = new Map<string, readonly [word: string, status: string]>()
  const looks = new Map<string, string | undefined>()
  let refusals = 0
  let known = 0
  let times = 0
  let empty = 0
  let others = 0
  /** Whether the words of some cell alone say that a person left. */
  let isLeaving = false

  const statusOf = (text: string): string | undefined => {
    const answer =
      meaning === "Status" ? undefined : (yesOrNo(text) ?? (meaning === "Wants" ? answerIn(text) : undefined))
    if (answer !== undefined) return answer === (meaning === "Left") ? "Unsubscribed" : ""
    if (looks.has(text)) return looks.get(text)
    if (looks.size >= mostLooks) return undefined
    const means = statusOfWord(text)
    const status = isMailedStatus(means) ? "" : means
    // Once for each word, since a file has it in many rows.
    if (meaning === "Status" && status !== undefined && status !== "" && saysLeft(text)) isLeaving = true
    looks.set(text, status)
    return status
  }

  const add = (cell: string, cells = 1): boolean => {
    const text = cell.slice(0, longestText + 1).trim()
    if (text === "") return false
    const folded = text.toLowerCase()
    const isNothing = nothing.has(folded) || noTime.test(folded)
    const status = isNothing ? "" : text.length > longestText ? undefined : statusOf(folded)
    if (status !== undefined && words.size < mostWords && !words.has(folded)) words.set(folded, [text, status])
    const isTimed = status === undefined && text.length <= longestText && isTime(text)
    if (isNothing) empty += cells
    else if (status !== undefined) known += cells
    else if (isTimed) times += cells
    else others += cells
    const isRefusal = isTimed ? meaning === "Left" : status !== undefined && status !== ""
    if (isRefusal) refusals += cells
    return isRefusal
  }

  const found = (): ConsentColumn | undefined => {
    const filled = known + times + empty + others
    if (known + times === 0 || (meaning === "Status" && refusals === 0)) return undefined
    if (!isLeaving && others > filled * (1 - enough)) return undefined
    // Where other texts stand beside the times of consents, nobody can say what they mean.
    const isAny = times > 0 && (meaning === "Left" || others === 0)
    const any = isAny ? { "*": meaning === "Left" ? "Unsubscribed" : "" } : {}
    return { filled, refusals, words: { ...Object.fromEntries(words.values()), ...any } }
  }
  return { add, found }
}
