/** Every export of an entry point says on hover what it is. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const exported = /^export (?:declare )?(?:abstract )?(?:const|class|interface|type|function\*?) (\w+)/

/** The names that a file exports, each with whether one of its declarations has a doc comment. */
const docsOf = (file: string): ReadonlyMap<string, boolean> => {
  const lines = readFileSync(file, "utf8").split("\n")
  const docs = new Map<string, boolean>()
  for (const [index, line] of lines.entries()) {
    const name = exported.exec(line)?.[1]
    if (name !== undefined) docs.set(name, docs.get(name) === true || lines[index - 1]?.endsWith("*/") === true)
  }
  return docs
}

/** The files behind an entry point, each with the names that it re-exports, or all of them. */
const publicNames = (entry: string): ReadonlyArray<readonly [file: string, names: ReadonlySet<string> | undefined]> =>
  Array.from(
    readFileSync(entry, "utf8").matchAll(/^export (?:type )?(?:\*(?: as \w+)?|\{([^}]*)\}) from "([^"]+)"/gm),
    ([, names, path = ""]) => [
      join(dirname(entry), path),
      names === undefined ? undefined : new Set(names.split(",").map((name) => name.trim().replace("type ", "")))
    ]
  )

const packages = ["domain", "workflows", "api", "http-client", "server", "connect", "testing"]

/** The files behind the entry points of a package, each with the names that are exported of it, or all of them. */
const publicFiles = (name: string) => {
  const { exports } = Object(JSON.parse(readFileSync(join("packages", name, "package.json"), "utf8")))
  return Object.values<string>(exports)
    .map((path) => join("packages", name, path))
    .flatMap((entry) => (entry.endsWith("index.ts") ? publicNames(entry) : [[entry, undefined] as const]))
}

describe("an export of", () => {
  it.each(packages)("%s has a doc comment", (name) => {
    const bare = publicFiles(name).flatMap(([file, names]) =>
      Array.from(docsOf(file), ([symbol, isDocumented]) =>
        isDocumented || names?.has(symbol) === false ? [] : [`${file}: ${symbol}`]
      ).flat()
    )
    assert.deepStrictEqual([...new Set(bare)], [])
  })
})
