/** The examples in the doc comments of functions that take options are these files, which run. */
import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { ContactsService, CredentialsService } from "@roster/domain"
import { EmbeddedHttpClient, layerMemory } from "@roster/server"
import { RunLog } from "@roster/workflows"
import { Effect, Layer } from "effect"
import { globSync, readdirSync, readFileSync } from "node:fs"
import { basename } from "node:path"

const folder = new URL("../src/functions/", import.meta.url)
const packages = new URL("../../packages/", import.meta.url).pathname
const names = readdirSync(folder).map((file) => file.replace(/\.ts$/, ""))

/** What a namespace exports has the name of its file too. */
const nameOf = (file: string, name: string): string =>
  /^(?:layer|layerMemory|layerWithStore|make)$/.test(name) ? `${basename(file, ".ts")}.${name}` : name

/** The examples of doc comments, by the name of the function. */
const shown = new Map(
  globSync("{domain,workflows,api,http-client,server,connect}/src/**/*.ts", { cwd: packages }).flatMap((file) =>
    Array.from(
      readFileSync(`${packages}${file}`, "utf8").matchAll(
        /^ \* ```ts\n((?: \*[^\n]*\n)*?) \* ```\n \*\/\nexport (?:const|function) (\w+)/gm
      ),
      ([, code = "", name = ""]) => [nameOf(file, name), code.replaceAll(/^ \* ?/gm, "")] as const
    )
  )
)

const services = Layer.mergeAll(
  Layer.provideMerge(RunLog.layer, layerMemory()),
  NodeServices.layer,
  EmbeddedHttpClient.layer({ filename: ":memory:" })
)

/** What the examples find. */
const seed = Effect.gen(function* () {
  yield* ContactsService.use((contacts) => contacts.add([{ email: "ada@example.com", customFields: { city: "Bonn" } }]))
  const { apiKeys, smtp } = yield* CredentialsService
  yield* apiKeys.create({ name: "nightly", for: ["contacts:read"] })
  yield* smtp.create({ name: "mailer@example.com" })
})

type Needs = Layer.Success<typeof services>

describe("an example", () => {
  it("stands in a doc comment as it runs, in at most 12 lines", () => {
    assert.deepStrictEqual([...shown.keys()].sort(), names.sort())
    for (const name of names) {
      const code = readFileSync(new URL(`${name}.ts`, folder), "utf8")
      assert.strictEqual(shown.get(name), code, name)
      assert.isAtMost(code.trimEnd().split("\n").length, 12, name)
    }
  })

  it.live.each(names)("%s runs", (name) =>
    Effect.gen(function* () {
      // Every file of the folder exports this.
      const { example } = (yield* Effect.promise(() => import(new URL(`${name}.ts`, folder).href))) as {
        readonly example: Effect.Effect<unknown, unknown, Needs>
      }
      yield* seed
      yield* example
    }).pipe(Effect.scoped, Effect.provide(services))
  )
})
