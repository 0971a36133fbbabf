/**
 * Answers `roster` alone, `--version` and `--help` from pages that the build wrote, without loading the program.
 * Figure: `roster contacts list --help` in "Start-up of the command line" of benchmarks/RESULTS.md
 */
import { version } from "../terminal/Version.ts"
import { firstPage } from "./FirstPage.ts"
import { wrapped } from "./HelpWrap.ts"

/** The help of each command as it is printed, by the words before `--help`. */
export type HelpPages = Readonly<Record<string, string>>

/** The file of help pages beside the program. */
export const helpFile = (colors: boolean): string => (colors ? "help.colors.json" : "help.json")

/** Applies the rules of effect/cli for stdout. */
const hasColors = (): boolean => {
  const { FORCE_COLOR: forced = "", NO_COLOR: refused = "", TERM: terminal } = process.env
  if (terminal === "dumb" || refused !== "") return false
  return (forced !== "" && forced !== "0" && forced.toLowerCase() !== "false") || process.stdout.isTTY
}

const page = (words: ReadonlyArray<string>): string | undefined => {
  const { readFileSync } = process.getBuiltinModule("node:fs")
  const file = new URL(`roster/${helpFile(hasColors())}`, import.meta.url)
  // `scripts/bundle.ts` writes this file.
  const pages = JSON.parse(readFileSync(file, "utf8")) as HelpPages
  const name = words.join(" ")
  return Object.hasOwn(pages, name) ? pages[name] : undefined
}

/** Takes `roster help contacts list` for `roster contacts list --help`. */
export const withHelpWord = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args[0] === "help" ? [...args.slice(1).filter((word) => word !== "--help"), "--help"] : args

/** The answer to a command line of exactly these forms; `undefined` for any other. */
export const staticAnswer = (args: ReadonlyArray<string>): string | undefined => {
  const answer = answerTo(args)
  return answer && wrapped(answer, process.stdout.isTTY ? process.stdout.columns : undefined)
}

const answerTo = (args: ReadonlyArray<string>): string | undefined => {
  if (args.length === 0) return `${firstPage}\n`
  if (args.length === 1 && args[0] === "--version") return `roster ${version}\n`
  try {
    return args.at(-1) === "--help" ? page(args.slice(0, -1)) : args[0] === "help" ? page(args) : undefined
  } catch {
    return undefined
  }
}
