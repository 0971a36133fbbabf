/** Breaks messages for people between words, where the terminal would break them within one. */
import { CliOutput } from "effect/cli"

/** What is copied as it stands: a command or its flags, also behind the words that lead to it. */
const copied = /(?:^|\s)(?:roster [a-z]|--[a-z-]+[ =](?!-)\S)/

/** The mark under a mistake, which belongs to the line above it. */
const isMark = (line: string | undefined): boolean => line !== undefined && /^\s*\^+/.test(line)

const brokenLine = (line: string, width: number): ReadonlyArray<string> => {
  const indent = /^ */.exec(line)?.[0] ?? ""
  const lines: Array<string> = []
  let current = indent
  for (const word of line.slice(indent.length).split(" ")) {
    const longer = current === indent ? current + word : `${current} ${word}`
    if (current === indent || CliOutput.displayWidth(longer) <= width) current = longer
    else {
      lines.push(current)
      current = indent + word
    }
  }
  return [...lines, current]
}

/**
 * The text in lines of this width, each as indented as the line that it is of. Lines with commands to copy, in columns, and under
 * which a mistake is marked stay whole, as does a word that is longer than a line.
 */
export const wrapped = (text: string, width: number | undefined): string => {
  if (width === undefined) return text
  const lines = text.split("\n")
  return lines
    .flatMap((line, at) => {
      const isWhole =
        CliOutput.displayWidth(line) <= width ||
        copied.test(line) ||
        /\S {2,}\S/.test(line) ||
        isMark(line) ||
        isMark(lines[at + 1])
      return isWhole ? [line] : brokenLine(line, width)
    })
    .join("\n")
}
