/**
 * What an editor shows of the libraries. One program of the compiler, which answers as it does to an editor, serves all
 * tests; it takes about 3 s.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import {
  API,
  type Project,
  SignatureKind,
  type Snapshot,
  type Symbol,
  SymbolFlags,
  type Type
} from "typescript/unstable/sync"

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

/** What the entry of a library exports, also in its namespaces. */
const exportsOf = (name: string): ReadonlyArray<Symbol> => {
  const { checker, program } = projectOf(name)
  const original = (symbol: Symbol): Symbol =>
    (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
  const within = (module: Symbol): ReadonlyArray<Symbol> => checker.getExportsOfModule(module).map(original)
  const entry = program.getSourceFile(resolve("packages", name, "src/index.ts"))
  const module = entry === undefined ? undefined : checker.getSymbolAtLocation(entry)
  return within(module ?? assert.fail(`${name} has no entry`)).flatMap((symbol) =>
    (symbol.flags & SymbolFlags.ValueModule) === 0 ? symbol : within(symbol)
  )
}

const isRecord = ({ flags }: Symbol): boolean =>
  (flags & (SymbolFlags.Class | SymbolFlags.Interface | SymbolFlags.TypeAlias)) !== 0

/** Whether Roster alone declares a field, and once: of a field of several members of a union nothing is shown. */
const isOurs = ({ declarations, name }: Symbol): boolean =>
  name !== "_tag" &&
  declarations.length === 1 &&
  !name.startsWith("__#") &&
  name !== "message" &&
  declarations.every(({ path }) => path.includes("/packages/"))

/** The types of what is exported and of the methods of services. Those that begin with `$` are of Effect. */
const typesOf = (name: string): ReadonlyArray<readonly [name: string, type: Type]> => {
  const { checker } = projectOf(name)
  const typeOf = (symbol: Symbol) => checker.getTypeOfSymbol(symbol) ?? assert.fail(symbol.name)
  const methodsOf = (of: string, type: Type): ReadonlyArray<readonly [string, Type]> =>
    checker.getPropertiesOfType(type).map((method) => [`${of}.${method.name}`, typeOf(method)])
  return exportsOf(name).flatMap((symbol): ReadonlyArray<readonly [string, Type]> => {
    if ((symbol.flags & SymbolFlags.Class) !== 0) {
      const service = checker.getPropertyOfType(typeOf(symbol), "Service")
      return service === undefined ? [] : methodsOf(symbol.name, typeOf(service))
    }
    return (symbol.flags & (SymbolFlags.Variable | SymbolFlags.Function)) === 0 ? [] : [[symbol.name, typeOf(symbol)]]
  })
}

/** As an editor prints a type, with the names that its file does not import. */
const noTruncation = 1
const outsideNames = 16_384

/** Longer than the longest type that can be read at a glance: nine errors, two services and an option. */
const readable = 400

/** Longer than the longest list of values, that of the access levels: a schema of more than that is a class, which has a name. */
const readableSchema = 1200

/** Options whose unknown names are not refused, each for a reason. */
const uncheckedOptions: ReadonlySet<string> = new Set([
  // What Effect takes of a span stands among them.
  "SpanRedactionOptions",
  "SpanOptionsNoTrace",
  // A store and the faults of its calls: the rest is checked as `StoreOptions`.
  "EmbeddedOptions",
  // As `StoreOptions`, but for what the threads of a process share.
  "StoreFileOptions",
  // For each row that is merged, given by what checks the options of an import.
  "RepeatOptions"
])

describe("an editor shows", () => {
  it("at the top of every file what it is", () => {
    const bare = globSync(`packages/{${libraries.join()}}/src/**/*.ts`).filter(
      (file) => !/^\/(?:\*\*|\/)\s*(?:\* )?\S/.test(readFileSync(file, "utf8"))
    )
    assert.deepStrictEqual(bare, [])
  })

  it.each(libraries)("of each field of a record of %s what it is", (name) => {
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

  it.each(libraries)("each function of %s by names that can be read", (name) => {
    const { checker } = projectOf(name)
    const unreadable = typesOf(name).flatMap(([of, type]) => {
      const signatures = checker.getSignaturesOfType(type, SignatureKind.Call).length
      const shown = checker.typeToString(type, undefined, noTruncation | outsideNames)
      return signatures > 0 && !of.startsWith("$") && (/\bargs_\d/.test(shown) || shown.length > readable * signatures)
        ? [`${of}: ${shown}`]
        : []
    })
    assert.deepStrictEqual(unreadable, [])
  })

  it.each(libraries)("the schema of each record of %s by its name", (name) => {
    const { checker } = projectOf(name)
    const long = exportsOf(name).flatMap((symbol) => {
      if ((symbol.flags & SymbolFlags.Variable) === 0 || !isRecord(symbol)) return []
      const type = checker.getTypeOfSymbol(symbol) ?? assert.fail(symbol.name)
      const shown = checker.typeToString(type, undefined, noTruncation | outsideNames)
      return shown.length > readableSchema ? [`${symbol.name}: ${shown}`] : []
    })
    assert.deepStrictEqual(long, [])
  })

  it.each(libraries)("the fields of all options of %s where they are checked", (name) => {
    const { checker } = projectOf(name)
    const sources = globSync(`packages/{${libraries.join()}}/src/**/*.ts`).map((file) => readFileSync(file, "utf8"))
    const checked = new Set(
      sources
        .flatMap((source) => Array.from(source.matchAll(/fieldsOf<([^(]*?)>\(/g), ([, of = ""]) => of.match(/\w+/g)))
        .flat()
    )
    const unchecked = typesOf(name).flatMap(([of, type]) =>
      checker.getSignaturesOfType(type, SignatureKind.Call).flatMap((signature) =>
        signature.parameters.flatMap((_, index) => {
          const parameter = checker.getParameterType(signature, index)
          const shown = parameter === undefined ? "" : checker.typeToString(parameter, undefined, noTruncation)
          return (shown.match(/\b\w*Options\b/g) ?? [])
            .filter((options) => !checked.has(options) && !uncheckedOptions.has(options))
            .map((options) => `${of}: ${options}`)
        })
      )
    )
    assert.deepStrictEqual(unchecked, [])
  })

  it("an example for each program that takes options", () => {
    const { checker } = projectOf("workflows")
    const bare = exportsOf("workflows").flatMap((symbol) => {
      const type = checker.getTypeOfSymbol(symbol)
      const takesOptions =
        type !== undefined &&
        checker.getSignaturesOfType(type, SignatureKind.Call).length > 0 &&
        /\boptions\??: |Options\b/.test(checker.typeToString(type, undefined, noTruncation | outsideNames))
      const hasExample = checker.getDocumentationCommentOfSymbol(symbol).includes("```ts")
      return takesOptions && !hasExample ? [symbol.name] : []
    })
    assert.deepStrictEqual(bare, [])
  })
})
