/**
 * The names of lists in one text, as a column of a file has them: `News; Customers`. A backslash stands before what would be read
 * otherwise: a semicolon or a backslash of a name, and a blank at one of its ends. (docs/decisions/csv.md)
 */
import { Result } from "effect"
import { maximumListName, maximumListsOfContact } from "../contacts/AddSize.ts"
import { nameIssue } from "../values/Characters.ts"
import { foldName } from "../values/FieldNames.ts"

/** The column of a file with the lists of each contact. */
export const listsColumn = "Lists"

/** Why no list may have this name; of one that is there, whose name may be longer, without `most`. */
export const listNameIssue = (name: unknown, most?: number): string | undefined =>
  typeof name === "string" ? nameIssue(name, most) : "it is no text"

/** Whether a list may have this name. */
export const isListName = (name: unknown): name is string => listNameIssue(name) === undefined

/** The text of lists. */
export const writeLists = (names: ReadonlyArray<string>): string =>
  names.map((name) => name.replaceAll(/[;\\]|^\s|\s$/g, String.raw`\$&`)).join("; ")

/** A character, or two of which the first takes its meaning from the second. */
const sign = /\\[^\r\n]|[^]/gu

const isBlank = (sign: string): boolean => sign.trim() === ""

/** The name that stands between two separators. */
const nameIn = (signs: ReadonlyArray<string>): string => {
  const last = signs.findLastIndex((one) => !isBlank(one))
  const first = signs.findIndex((one) => !isBlank(one))
  return signs
    .slice(Math.max(first, 0), last + 1)
    .map((one) => (one.length > 1 && one.startsWith("\\") ? one.slice(1) : one))
    .join("")
}

/** The names in a text, between semicolons or line breaks, each once; or what is wrong with one. */
export const readLists = (text: string): Result.Result<ReadonlyArray<string>, string> => {
  const entries: Array<Array<string>> = [[]]
  for (const [one] of text.matchAll(sign)) {
    if (/^[;\r\n]$/.test(one)) entries.push([])
    else entries.at(-1)?.push(one)
  }
  const names = new Map<string, string>()
  for (const entry of entries) {
    const name = nameIn(entry)
    if (name === "") continue
    const issue = listNameIssue(name, maximumListName)
    if (issue !== undefined) return Result.fail(`the name of a list: ${issue}`)
    if (!names.has(foldName(name))) names.set(foldName(name), name)
  }
  return names.size > maximumListsOfContact
    ? Result.fail(`${names.size} lists, but a contact is on at most ${maximumListsOfContact}`)
    : Result.succeed([...names.values()])
}

/** What is wrong with a value that is no list of names. The names themselves are the service's to judge. */
export const listNamesIssue = (value: unknown): string | undefined =>
  Array.isArray(value) ? undefined : "it is a list of names of lists"
