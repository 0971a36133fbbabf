/** Reading a CSV file by hand, as the references do. */
import { createReadStream } from "node:fs"

/** The cells of a line, which may be quoted. */
export const cellsOf = (line: string): Array<string> => {
  if (!line.includes('"')) return line.split(",")
  return Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g), ([, quoted, plain]) =>
    quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"')
  )
}

/** The lines of a file, as many as one piece of it has. */
export const linesOf = async function* (file: string): AsyncGenerator<ReadonlyArray<string>> {
  let rest = ""
  for await (const piece of createReadStream(file, { encoding: "utf8", highWaterMark: 256 * 1024 })) {
    const lines = `${rest}${String(piece)}`.split("\n")
    rest = lines.pop() ?? ""
    yield lines
  }
  yield [rest]
}
