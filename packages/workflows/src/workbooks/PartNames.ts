/** The names of the parts of a workbook, which are equal whatever their letter case. (ECMA-376, part 2) */

/** A path as paths are compared: in lower case, with `/` between its names, from the root, without `.` and `..`. */
export const foldedPath = (path: string): string => {
  const names: Array<string> = []
  for (const name of path.toLowerCase().split(/[/\\]/)) {
    if (name === "..") names.pop()
    else if (name !== "" && name !== ".") names.push(name)
  }
  return names.join("/")
}

const unescapedPath = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1)

/** The path of what a part refers to, beside it or from the root. */
export const resolved = (part: string, target: string): string => {
  const path = unescapedPath(target)
  return foldedPath(/^[/\\]/.test(path) ? path : folderOf(part) + path)
}

/** The path of the part that says what a part refers to. */
export const relationsOf = (part: string): string => `${folderOf(part)}_rels/${part.slice(folderOf(part).length)}.rels`

/** Where the workbook itself is, if nothing says otherwise. */
export const workbookPath = "xl/workbook.xml"
