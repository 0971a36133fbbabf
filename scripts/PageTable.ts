/** Tables that a script writes into a page of the documentation, between two comments. */

/** Makes the function that puts a table into the text of a page; `writtenBy` follows "the table, " in the first comment. */
export const pageTable = (writtenBy: string) => {
  const begin = `<!-- the table, ${writtenBy} -->`
  const end = "<!-- end of the table -->"
  return (text: string, table: string): string => {
    const [before = "", rest = ""] = text.split(begin)
    const [, after = ""] = rest.split(end)
    return `${before}${begin}\n\n${table}\n\n${end}${after}`
  }
}
