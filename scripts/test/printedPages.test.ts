/**
 * The pages about commands and errors are those that the code gives, and no error is without an entry; what other pages
 * say of commands and of each other is so.
 */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { operations } from "../../packages/api/src/index.ts"
import { exitCode, exits, reasonExits } from "../../packages/cli/src/main/ExitCode.ts"
import { helpWidth } from "../../packages/cli/src/main/Help.ts"
import * as commands from "../printCommands.ts"
import { helpPages } from "../helpPages.ts"
import * as errors from "../printErrors.ts"
import { withPurposes } from "../printPurposes.ts"

type ErrorClass = Schema.Codec<Error, object>

/** The classes of errors among the exports of a module and of the modules in it, by their names. */
const errorsIn = (module: object): ReadonlyArray<readonly [name: string, schema: ErrorClass]> =>
  Object.entries(module).flatMap(([name, value]) =>
    typeof value === "function" && value.prototype instanceof Error
      ? [[name, value] as const]
      : Object.prototype.toString.call(value) === "[object Module]"
        ? errorsIn(value)
        : []
  )

const exported = async (name: string) => {
  const { exports } = Object(JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")))
  const modules = await Promise.all(
    Object.values<string>(exports).map((path) => import(join(process.cwd(), "packages", name, path)))
  )
  return modules.flatMap(errorsIn)
}

const exportedErrors = Effect.map(
  Effect.promise(() =>
    Promise.all(["domain", "workflows", "http-client", "server", "connect", "testing"].map(exported))
  ),
  (errors) => new Map(errors.flat())
)

describe("the page about errors", () => {
  it("stands in the documentation as the code gives it", () => {
    assert.strictEqual(readFileSync(errors.page, "utf8"), errors.text(), "run: pnpm docs:errors")
  })

  it.effect("has every error that a package exports, and no other", () =>
    Effect.map(exportedErrors, (found) => {
      assert.deepStrictEqual(Object.keys(errors.advice), [...found.keys()].sort())
      for (const tag of found.keys()) assert.include(errors.text(), `| \`${tag}\` |`)
    })
  )

  it.effect("is true of each: a structured clone keeps its message, which is nowhere else unless it is a field", () =>
    Effect.gen(function* () {
      for (const [tag, schema] of yield* exportedErrors) {
        // The report of `Stopped` is that of its program, so it has no schema.
        if (!Schema.isSchema(schema)) continue
        for (const error of yield* Arbitrary.sampleEffect(Arbitrary.schema(schema), { count: 20, seed: 42 })) {
          assert.strictEqual(structuredClone(error).message, error.message, tag)
          const encoded = yield* Schema.encodeEffect(schema)(error)
          if (!("message" in encoded)) {
            assert.isNotEmpty(error.message, tag)
            assert.notInclude(Object.keys(error), "message", tag)
          }
        }
      }
    })
  )
})

describe("the page about commands", () => {
  it.effect("stands in the documentation as the program prints it", () =>
    Effect.gen(function* () {
      assert.strictEqual(readFileSync(commands.page, "utf8"), yield* commands.text, "run: pnpm docs:commands")
    })
  )

  it.effect("holds pages of eighty columns, but for commands, which are copied", () =>
    Effect.map(helpPages, (pages) => {
      const lines = Object.values(pages).flatMap((page) => page.split("\n"))
      const long = lines.filter((line) => line.length > helpWidth && !/^ {2}(?:zcat .*)?roster /.test(line))
      assert.isAbove(lines.length, 500)
      assert.deepStrictEqual(long, [])
    })
  )

  it("the exit codes of all errors are on that of the command line", () => {
    const [, table = ""] = readFileSync("docs/command-line.md", "utf8").split("\n## Exit codes\n")
    const codes = Array.from(table.matchAll(/^\| (\d+) \|/gm), ([, code]) => Number(code))
    assert.deepStrictEqual(codes, Object.values(exitCode))
    for (const { exit } of Object.values({ ...exits, ...reasonExits })) assert.include(codes, exit)
  })
})

describe("the sources", () => {
  it("name pages by their path in the repository, where they are", () => {
    const named = globSync("packages/*/src/**/*.ts").flatMap((file) =>
      Array.from(readFileSync(file, "utf8").matchAll(/[\w:/.-]+\.md\b/g), ([page]) => ({ file, page }))
    )
    assert.isAbove(named.length, 70)
    const wrong = named.filter(({ page }) => !/^(?:docs|benchmarks)\//.test(page) || !existsSync(page))
    assert.deepStrictEqual(wrong, [])
  })
})

describe("the page about the architecture", () => {
  it("names files that there are", () => {
    const named = Array.from(
      readFileSync("docs/architecture.md", "utf8").matchAll(/`([\w/-]+\.ts)`/g),
      ([, file]) => file
    )
    assert.isAbove(named.length, 30)
    assert.deepStrictEqual(
      named.filter((file) => !existsSync(`packages/${file}`)),
      []
    )
  })
})

describe("the page about limits", () => {
  it("names the tests of what one client can cost others", () => {
    const tests = (text: string) => Array.from(text.matchAll(/`(packages\/[\w/.-]+\.ts)`/g), ([, file = ""]) => file)
    const page = readFileSync("docs/limits.md", "utf8")
    assert.deepStrictEqual(
      tests(page).filter((file) => !existsSync(file)),
      []
    )
    const sections = new Map(page.split(/^## /m).map((section) => [section.split("\n")[0], tests(section).length]))
    const costs = [
      "Rules",
      "Requests",
      "Large requests and answers",
      "Connections",
      "PostgreSQL",
      "What an account keeps"
    ]
    for (const cost of costs) assert.isAbove(sections.get(cost) ?? 0, 0, cost)
  })
})

/** The pages that people write and read. */
const pages = ["README.md", ...globSync("docs/**/*.md"), ...globSync("packages/*/README.md")]

const textOf = (page: string): string => readFileSync(page, "utf8")

/** The anchors of a page, as a Git host makes them of its headings. */
const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set(
    Array.from(textOf(page).matchAll(/^#+ (.*)$/gm), ([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-")
    )
  )

describe("the documentation", () => {
  it("has no link to nothing", () => {
    const broken = pages.flatMap((page) =>
      Array.from(textOf(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)).flatMap(
        ([link, path = "", anchor]) => {
          const target = path === "" ? page : join(dirname(page), path)
          if (!existsSync(target)) return [`${page}: ${link}`]
          return anchor === undefined || anchorsOf(target).has(anchor) ? [] : [`${page}: ${link}`]
        }
      )
    )
    assert.deepStrictEqual(broken, [])
  })

  it("has each page in its index", () => {
    const index = textOf("docs/README.md")
    for (const page of globSync("docs/*.md", { exclude: ["docs/README.md"] })) {
      assert.include(index, `](${page.slice("docs/".length)})`)
    }
  })

  it.each(globSync("packages/*/README.md"))("is named in %s by titles that it has", (readme) => {
    const [, named = ""] = /^The pages? (.*) of the documentation says? more\./m.exec(textOf(readme)) ?? []
    const titles = Array.from(named.matchAll(/"(.*?)"/g), ([, title]) => title)
    assert.isNotEmpty(titles)
    for (const title of titles) assert.include(textOf("docs/README.md"), `\n| [${title}](`)
  })

  it.effect("gives commands no flags that they do not have", () =>
    Effect.gen(function* () {
      const help = yield* helpPages
      const common = help[""] ?? ""
      let seen = 0
      for (const page of pages) {
        const fences = textOf(page).matchAll(/^```(?:sh|console|ini|yaml)\n(.*?)^```$/gms)
        for (const [, line = ""] of Array.from(fences, ([, text = ""]) => [
          ...text.matchAll(/\broster ((?! ).*)$/gm)
        ]).flat()) {
          const words = (line.split(/ #| \| |; /)[0] ?? "").replaceAll(/'[^']*'|"[^"]*"/g, "TEXT").split(/\s+/)
          const path = [2, 1]
            .map((length) => words.slice(0, length).join(" "))
            .find((command) => Object.hasOwn(help, command))
          if (path === undefined) continue
          for (const flag of words.filter((word) => word.startsWith("--"))) {
            assert.match(`${help[path]}\n${common}`, new RegExp(`${flag}[ ,\n]`), `${page}: roster ${line}`)
            seen++
          }
        }
      }
      assert.isAbove(seen, 30)
    })
  )

  it("has each call of the official client, and the level of each purpose", () => {
    const calls = textOf("docs/coming-from.md")
    for (const { announcedBy, id } of operations.values()) {
      if (announcedBy === undefined) assert.include(calls, `| \`${id}(`)
    }
    const credentials = textOf("docs/credentials.md")
    assert.strictEqual(credentials, withPurposes(credentials), "run: pnpm docs:purposes")
  })
})
