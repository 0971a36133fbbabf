/** The pages about commands and errors are those that the code gives, and no error is without an entry. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { exits, reasonExits } from "../../packages/cli/src/main/ExitCode.ts"
import * as commands from "../printCommands.ts"
import * as errors from "../printErrors.ts"

/** The classes of errors among the exports of a module and of the modules in it. */
const errorsIn = (module: object): ReadonlyArray<string> =>
  Object.entries(module).flatMap(([name, value]) =>
    typeof value === "function" && value.prototype instanceof Error
      ? [name]
      : Object.prototype.toString.call(value) === "[object Module]"
        ? errorsIn(value)
        : []
  )

const exported = async (name: string): Promise<ReadonlyArray<string>> => {
  const { exports } = Object(JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")))
  const modules = await Promise.all(
    Object.values<string>(exports).map((path) => import(join(process.cwd(), "packages", name, path)))
  )
  return modules.flatMap(errorsIn)
}

describe("the page about errors", () => {
  it("stands in the documentation as the code gives it", () => {
    assert.strictEqual(readFileSync(errors.page, "utf8"), errors.text(), "run: pnpm docs:errors")
  })

  it("has every error that a package exports, and no other", async () => {
    const packages = ["domain", "workflows", "http-client", "server", "connect", "testing"]
    const found = new Set((await Promise.all(packages.map(exported))).flat())
    assert.deepStrictEqual(Object.keys(errors.advice), [...found].sort())
    for (const tag of found) assert.include(errors.text(), `| \`${tag}\` |`)
  })
})

describe("the page about commands", () => {
  it.effect("stands in the documentation as the program prints it", () =>
    Effect.gen(function* () {
      assert.strictEqual(readFileSync(commands.page, "utf8"), yield* commands.text, "run: pnpm docs:commands")
    })
  )

  it("the exit codes of all errors are in the README", () => {
    const readme = readFileSync("README.md", "utf8")
    for (const { exit } of Object.values({ ...exits, ...reasonExits }))
      assert.match(readme, new RegExp(`^\\| ${exit} \\|`, "m"))
  })
})
