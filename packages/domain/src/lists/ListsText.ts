/**
 * The names of lists in one text, as a column of a file has them: `News; Customers`. A backslash stands before what would be read
 * otherwise: a semicolon or a backslash of a name, and a blank at one of its ends. (docs/decisions/csv.md)
 */
import { Result } from "effect"
import { maximumListName, maximumListsOfContact } from "../contacts/AddSize.ts"
import { hasControl } from "../values/Characters.ts"
import { foldName } from "../values/FieldNames.ts"

/** The column of a file with the lists of each contact. */
export const listsColumn = "Lists"

/** Whether a list may have this name. */
export const isListName = (name: unknown): name is string =>
  typeof name === "string" && name.trim() !== "" && name.isWellFormed() && !hasControl(name)

/** Why a list may not have this name. */
export const listNameIssue =
  "the name of a list is not blank and has no control characters and no broken characters (lone surrogates)"

/** Why a new list may not have a name. */
export const longListName = `the name of a list has at most ${maximumListName} characters`

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
    if (!isListName(name)) return Result.fail(listNameIssue)
    if (name.length > maximumListName) return Result.fail(longListName)
    if (!names.has(foldName(name))) names.set(foldName(name), name)
  }
  return names.size > maximumListsOfContact
    ? Result.fail(`${names.size} lists, but a contact is on at most ${maximumListsOfContact}`)
    : Result.succeed([...names.values()])
}

/** What is wrong with a value that is no list of names. The names themselves are the service's to judge. */
export const listNamesIssue = (value: unknown): string | undefined =>
  Array.isArray(value) ? undefined : "it is a list of names of lists"
