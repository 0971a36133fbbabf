/**
 * Breaks lines of help between words where a terminal is narrower. It has no imports, since pages are printed without loading
 * the program, and counts characters, since help has none that are wide.
 */

const escapes = /\x1b\[\d*m/g

/** A text without its colours. */
export const plainOf = (text: string): string => text.replaceAll(escapes, "")

const lengthOf = (text: string): number => plainOf(text).length

/** How far a line is indented, and where its second column begins, if it has one. */
const shapeOf = (line: string): { readonly indent: number; readonly column: number } => {
  const plain = plainOf(line)
  const indent = plain.search(/\S|$/)
  const column = /^ *\S+(?: \S+)* {2,}(?=\S)/.exec(plain)?.[0].length ?? indent
  return { indent, column }
}

/** A line that was broken by hand, as texts are that fill it up to here. */
const filledLength = 90

/** The lines with those joined again that go on below the same column. */
const joined = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const whole: Array<string> = []
  let begins = { indent: 0, column: 0 }
  let last = 0
  for (const line of lines) {
    const shape = shapeOf(line)
    const isOneColumn = shape.column === shape.indent
    const goesOn = isOneColumn && shape.indent === begins.column && line.trim() !== ""
    if (goesOn && (begins.column > begins.indent || last >= filledLength)) {
      whole.push(`${whole.pop() ?? ""} ${line.trimStart()}`)
    } else {
      whole.push(line)
      begins = shape
    }
    last = lengthOf(line)
  }
  return whole
}

const broken = (line: string, width: number): ReadonlyArray<string> => {
  const { column, indent } = shapeOf(line)
  // A command stands on one line, to be copied.
  if (lengthOf(line) <= width || (column === indent && /^ +roster /.test(plainOf(line)))) return [line]
  // A second column that is too far on the right stands below the first.
  const isBelow = column > width / 2
  const hang = " ".repeat(isBelow ? indent + 4 : column)
  const lines: Array<string> = []
  // The words, and the spaces before each of them.
  const [first = "", ...parts] = line.split(/(?<=\S)( +)(?=\S)/)
  let current = first
  for (const [at, part] of parts.entries()) {
    if (at % 2 === 0) continue
    const gap = parts[at - 1] ?? " "
    if (lengthOf(current + gap + part) <= width && !(isBelow && gap.length > 1)) current += gap + part
    else {
      lines.push(current)
      current = hang + part
    }
  }
  return [...lines, current]
}

/** The text for a terminal of so many columns; as it is without a terminal. */
export const wrapped = (text: string, width: number | undefined): string => {
  const lines = text.split("\n")
  if (width === undefined || width < 20 || lines.every((line) => lengthOf(line) <= width)) return text
  return joined(lines)
    .flatMap((line) => broken(line, width))
    .join("\n")
}
