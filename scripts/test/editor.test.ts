/**
 * What an editor shows of the libraries. One program of the compiler, which answers as it does to an editor, serves all
 * tests; it takes about 3 s.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { API, type Project, type Snapshot, type Symbol, SymbolFlags } from "typescript/unstable/sync"

const libraries = ["domain", "workflows", "api", "http-client", "server", "connect"]

const configOf = (name: string): string => resolve("packages", name, "tsconfig.json")

let compiler: API
let snapshot: Snapshot

beforeAll(() => {
  compiler = new API()
  snapshot = compiler.updateSnapshot({ openProjects: libraries.map(configOf) })
})
afterAll(() => compiler.close())

const projectOf = (name: string): Project => {
  const project = snapshot.getProject(configOf(name))
  return project ?? assert.fail(`there is no project ${name}`)
}

/** What the entry of a library exports. */
const exportsOf = (name: string): ReadonlyArray<Symbol> => {
  const { checker, program } = projectOf(name)
  const entry = program.getSourceFile(resolve("packages", name, "src/index.ts"))
  const module = entry === undefined ? undefined : checker.getSymbolAtLocation(entry)
  return (module === undefined ? [] : checker.getExportsOfModule(module)).map((symbol) =>
    (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
  )
}

const isRecord = ({ flags }: Symbol): boolean =>
  (flags & (SymbolFlags.Class | SymbolFlags.Interface | SymbolFlags.TypeAlias)) !== 0

/** Whether Roster alone declares a field, which is not the case of `message` or `_tag`. */
const isOurs = ({ declarations, name }: Symbol): boolean =>
  declarations.length > 0 &&
  !name.startsWith("__#") &&
  name !== "message" &&
  name !== "_tag" &&
  declarations.every(({ path }) => path.includes("/packages/"))

describe("an editor shows", () => {
  it("at the top of every file what it is", () => {
    const bare = globSync(`packages/{${libraries.join()}}/src/**/*.ts`).filter(
      (file) => !/^\/(?:\*\*|\/)\s*(?:\* )?\S/.test(readFileSync(file, "utf8"))
    )
    assert.deepStrictEqual(bare, [])
  })

  it.each(libraries.filter((name) => name !== "workflows"))("of each field of a record of %s what it is", (name) => {
    const { checker } = projectOf(name)
    const bare = exportsOf(name)
      .filter(isRecord)
      .flatMap((record) =>
        checker
          .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(record))
          .filter((field) => isOurs(field) && checker.getDocumentationCommentOfSymbol(field) === "")
          .map((field) => `${record.name}.${field.name}`)
      )
    assert.deepStrictEqual(bare, [])
  })
})
