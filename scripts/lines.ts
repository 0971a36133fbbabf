/**
 * Prints the lines of each package beside those of another revision (default: the commit before): code and comments of its
 * sources, and code of its tests. Blank lines count for neither.
 */
import { execFileSync } from "node:child_process"

const [before = "HEAD~1"] = process.argv.slice(2)

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", args, { encoding: "utf8", maxBuffer: 1 << 28 })

interface Lines {
  code: number
  comments: number
  tests: number
}

const counted = /^packages\/(?<name>[a-z-]+)\/(?<room>src|test)\/.*\.(?:ts|tsx|css)$/

/** The lines of a revision by package. A line of a block comment begins with `/*` or `*`, as the formatter has it. */
const linesAt = (revision: string): ReadonlyMap<string, Lines> => {
  const packages = new Map<string, Lines>()
  for (const line of git("grep", "-IhE", "--full-name", "-H", "[^[:space:]]", revision, "--", "packages").split("\n")) {
    const [path = "", ...rest] = line.slice(revision.length + 1).split(":")
    const { name, room } = counted.exec(path)?.groups ?? {}
    if (name === undefined) continue
    const lines = packages.get(name) ?? { code: 0, comments: 0, tests: 0 }
    const isComment = /^\s*(?:\/\/|\/\*|\*(?:[\s/]|$))/.test(rest.join(":"))
    if (!isComment) lines[room === "test" ? "tests" : "code"]++
    else if (room === "src") lines.comments++
    packages.set(name, lines)
  }
  return packages
}

const [then, now] = [linesAt(before), linesAt("HEAD")]
const none: Lines = { code: 0, comments: 0, tests: 0 }
const names = [...new Set([...then.keys(), ...now.keys()])].toSorted()
const sum = (of: ReadonlyMap<string, Lines>): Lines =>
  [...of.values()].reduce(
    (all, { code, comments, tests }) => ({
      code: all.code + code,
      comments: all.comments + comments,
      tests: all.tests + tests
    }),
    none
  )

const signed = (difference: number): string => (difference > 0 ? `+${difference}` : String(difference))
const row = (name: string, was: Lines, is: Lines): ReadonlyArray<string> => [
  name,
  ...(["code", "comments", "tests"] as const).flatMap((kind) => [String(is[kind]), signed(is[kind] - was[kind])])
]

const rows = [
  ["package", "code", "", "comments", "", "tests", ""],
  ...names.map((name) => row(name, then.get(name) ?? none, now.get(name) ?? none)),
  row("all", sum(then), sum(now))
]
for (const [name = "", ...cells] of rows) {
  process.stdout.write(`${[name.padEnd(12), ...cells.map((cell) => cell.padStart(9))].join("")}\n`)
}
