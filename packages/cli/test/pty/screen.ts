/**
 * What a person sees of the bytes that a program sends to a terminal: enough of its control sequences for programs that
 * write lines, and prompts that write over themselves.
 */

const escape = "\u001b"

/** Two-letter sequences, CSI, and the strings of OSC, DCS, PM and APC with what ends them. */
const sequence =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /^\u001b(?:\[([\d;?]*)[ -/]*([@-~])|[\]P^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/

/** The lines of a terminal on which `raw` was written, without what stands on the right of a line in blanks. */
export const screenOf = (raw: string): string => {
  const lines: Array<Array<string>> = [[]]
  let row = 0
  let column = 0
  const lineAt = (at: number): Array<string> => {
    while (lines.length <= at) lines.push([])
    return lines[at] ?? []
  }
  const control = (parameters: string, final: string) => {
    const [first = ""] = parameters.split(";")
    const count = first === "" ? 1 : Number(first)
    if (final === "A") row = Math.max(0, row - count)
    if (final === "B") row += count
    if (final === "C") column += count
    if (final === "D") column = Math.max(0, column - count)
    if (final === "G") column = count - 1
    if (final === "K") lineAt(row).splice(first === "" || first === "0" ? column : 0)
    if (final === "J") {
      lineAt(row).splice(column)
      lines.splice(row + 1)
    }
  }
  for (let rest = raw; rest !== "";) {
    const found = rest.startsWith(escape) ? sequence.exec(rest) : null
    if (found !== null) {
      const [whole, parameters = "", final = ""] = found
      control(parameters, final)
      rest = rest.slice(whole.length)
      continue
    }
    const [character = ""] = rest
    rest = rest.slice(character.length)
    if (character === "\r") column = 0
    else if (character === "\n") row++
    else if (character === "\b") column = Math.max(0, column - 1)
    else if (character >= " ") lineAt(row)[column++] = character
  }
  return lines
    .map((line) =>
      Array.from(line, (character: string | undefined) => character ?? " ")
        .join("")
        .trimEnd()
    )
    .join("\n")
    .trimEnd()
}
