/** Writes the page of all commands: `pnpm docs:commands`. It is the help that the program prints. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { helpPages } from "./helpPages.ts"

export const page = "docs/cli.md"

const head = `# Commands

Each command with its arguments, flags and examples, as \`roster help COMMAND\` prints them. Every command takes the global flags too.
[Exit codes](command-line.md#exit-codes) and the errors behind them are in [errors](errors.md).

<!-- written by pnpm docs:commands -->
`

const section = ([words, help]: readonly [string, string]): string => {
  const depth = words === "" ? 1 : words.split(" ").length + 1
  const text = help.replace(/^roster --help lists the flags of every command.*\n/m, "")
  return `${"#".repeat(Math.min(depth + 1, 4))} ${`roster ${words}`.trim()}\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n`
}

export const text: Effect.Effect<string, unknown> = Effect.map(helpPages, (pages) =>
  [head, ...Object.entries(pages).map(section)].join("\n")
)

if (import.meta.main) writeFileSync(page, await Effect.runPromise(text))
