/**
 * Answers that are known before anything is asked: the version, and the help of each command, which is written down when the
 * program is bundled. A start that has nothing else to do loads nothing else.
 */
import { version } from "../terminal/Version.ts"

/** The help of commands as it is printed, by the words that stand before `--help`. */
export type Pages = Readonly<Record<string, string>>

/** The file of pages, which lies beside the program. */
export const fileOfPages = (colors: boolean): string => (colors ? "help.colors.json" : "help.json")

/** As effect/cli decides it of standard output. */
const hasColors = (): boolean => {
  const { FORCE_COLOR: forced = "", NO_COLOR: refused = "", TERM: terminal } = process.env
  if (terminal === "dumb" || refused !== "") return false
  return (forced !== "" && forced !== "0" && forced.toLowerCase() !== "false") || process.stdout.isTTY
}

const page = (words: ReadonlyArray<string>): string | undefined => {
  const { readFileSync } = process.getBuiltinModule("node:fs")
  const file = new URL(`roster/${fileOfPages(hasColors())}`, import.meta.url)
  // What the bundler wrote there.
  const pages = JSON.parse(readFileSync(file, "utf8")) as Pages
  const name = words.join(" ")
  return Object.hasOwn(pages, name) ? pages[name] : undefined
}

/** What answers a command line by itself; `undefined` of any other than those that are known to the letter. */
export const knownAnswer = (args: ReadonlyArray<string>): string | undefined => {
  if (args.length === 1 && args[0] === "--version") return `roster ${version}\n`
  if (args.at(-1) !== "--help") return undefined
  try {
    return page(args.slice(0, -1))
  } catch {
    return undefined
  }
}
