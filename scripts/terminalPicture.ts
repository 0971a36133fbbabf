/**
 * Draws docs/terminal.svg, the terminal at the top of the README, from the session in docs/command-line.md, which a test types again:
 * so it shows what a terminal shows. `pnpm docs:terminal` writes it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")

/** The file of the picture. */
export const picture = join(root, "docs/terminal.svg")

/** What is drawn of the session, in its order. */
const commands = [
  "cat people.csv",
  "roster contacts import people.csv",
  "roster contacts list",
  "roster contacts delete",
  "roster contacts export"
]

/** In pixels. */
const text = { size: 14, line: 19, column: 8.43, margin: 20 }
const colors = { paper: "#16181d", ink: "#d8dee9", prompt: "#7fb069", faulty: "#e6a15c" }

/** The lines of the session that are drawn, each command after its prompt. */
const linesOf = (page: string): ReadonlyArray<string> => {
  const [, session = ""] = /^```console\n(.*?)^```$/ms.exec(page) ?? []
  const steps = session.split(/^(?=\$ )/m)
  return commands.flatMap((command) => {
    const step = steps.find((one) => one.startsWith(`$ ${command}`))
    if (step === undefined) throw new Error(`The session has no ${command}`)
    return step.trimEnd().split("\n")
  })
}

const escaped = (line: string): string => line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const drawn = (line: string, index: number): string => {
  const y = text.margin + text.size + index * text.line
  const color = line.startsWith("$ ") ? colors.prompt : /^(?:error:|line \d)/.test(line) ? colors.faulty : colors.ink
  return `<text x="${text.margin}" y="${y}" fill="${color}">${escaped(line)}</text>`
}

/** The picture of the session of a page. */
export const pictureOf = (page: string): string => {
  const lines = linesOf(page)
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * text.column) + 2 * text.margin
  const height = lines.length * text.line + 2 * text.margin
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>A session of roster in a terminal; docs/command-line.md has it as text</title>
<style>text { font: ${text.size}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }</style>
<rect width="100%" height="100%" rx="8" fill="${colors.paper}"/>
${lines.map(drawn).join("\n")}
</svg>
`
}

if (import.meta.main) writeFileSync(picture, pictureOf(readFileSync(join(root, "docs/command-line.md"), "utf8")))
