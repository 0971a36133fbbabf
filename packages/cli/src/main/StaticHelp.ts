/**
 * Answers `roster` alone, `--version` and `--help` from pages that the build wrote, without loading the program.
 * Figure: `roster contacts list --help` in "Start-up of the command line" of benchmarks/RESULTS.md
 */
import { version } from "../terminal/Version.ts"
import { firstPage } from "./FirstPage.ts"

/** The help of each command as it is printed, by the words before `--help`. */
export type HelpPages = Readonly<Record<string, string>>

/** The file of help pages beside the program. */
export const helpFile = "help.json"

const page = (words: ReadonlyArray<string>): string | undefined => {
  const { readFileSync } = process.getBuiltinModule("node:fs")
  // `scripts/bundle.ts` writes this file.
  const pages = JSON.parse(readFileSync(new URL(`roster/${helpFile}`, import.meta.url), "utf8")) as HelpPages
  const name = words.join(" ")
  return Object.hasOwn(pages, name) ? pages[name] : undefined
}

/** Takes `roster help contacts list` for `roster contacts list --help`. */
export const withHelpWord = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args[0] === "help" ? [...args.slice(1).filter((word) => word !== "--help"), "--help"] : args

/** The answer to a command line of exactly these forms; `undefined` for any other. */
export const staticAnswer = (args: ReadonlyArray<string>): string | undefined => {
  if (args.length === 0) return `${firstPage}\n`
  if (args.length === 1 && args[0] === "--version") return `roster ${version}\n`
  try {
    return args.at(-1) === "--help" ? page(args.slice(0, -1)) : undefined
  } catch {
    return undefined
  }
}
