import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { UserDirectories } from "effect/persistence"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { everyCommand } from "../../src/main/CommandTree.ts"
import { cacheFolder } from "../../src/main/CompileCache.ts"
import { helpFile, type HelpPages } from "../../src/main/StaticHelp.ts"
import { runHere } from "../inProcess.ts"
import { bin, ended, makeRoster, start, temporaryFolder } from "../roster.ts"

const pages: HelpPages = JSON.parse(readFileSync(join(dirname(bin), "roster", helpFile), "utf8"))

describe("help that is written into the bundle", () => {
  it.live("is that of every command, as the program prints it", () =>
    Effect.gen(function* () {
      const root = yield* everyCommand
      const commands = root.subcommands.flatMap((group) => group.commands)
      const below = commands.flatMap(({ name, subcommands }) =>
        subcommands.flatMap((group) => group.commands.map((command) => `${name} ${command.name}`))
      )
      const names = ["", ...commands.map(({ name }) => name), ...below]
      assert.sameMembers(Object.keys(pages), names)
      for (const path of names) {
        const page = pages[path]
        const words = path === "" ? [] : path.split(" ")
        const { code, stdout } = yield* runHere([...words, "--quiet", "--help"])
        assert.deepStrictEqual([code, stdout], [0, page], path)
      }
    })
  )

  it.live("is, without arguments, an overview and three commands to begin with", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRoster
      const first = yield* run([])
      assert.deepStrictEqual([first.code, first.stderr], [0, ""])
      // The program itself says the same, as where its pages are missing.
      assert.deepStrictEqual(first, yield* run(["--quiet"]))
      const [, begin = ""] = first.stdout.split("To begin with:\n\n")
      const commands = begin.split("\n\n", 1)[0]?.split("\n") ?? []
      assert.lengthOf(commands, 3)
      const [importing, listing, serving] = commands.map((line) => / {2}roster (.*?) {2,}/.exec(line)?.[1] ?? "")
      // They work as they stand.
      writeFileSync(join(folder, "contacts.csv"), "Email,Status\nada@example.com,Active\nbob@example.com,Bounced\n")
      const words = (line = "") => Array.from(line.matchAll(/"([^"]+)"|\S+/g), ([word, quoted]) => quoted ?? word)
      assert.strictEqual((yield* run(words(importing))).code, 0)
      const { stdout } = yield* run(words(listing))
      assert.include(stdout, "ada@example.com")
      assert.notInclude(stdout, "bob@example.com")
      assert.include(words(serving), "serve")
      assert.include((yield* run([...words(serving), "--help"])).stdout, "--key-file")
    })
  )

  it.live("does not stand in for aliases, unknown commands or the version", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      assert.match((yield* run(["contacts", "ls", "--help"])).stdout, /List contacts/)
      for (const name of ["nothing", "constructor"]) {
        assert.deepStrictEqual(yield* run([name, "--help"]), yield* run([name, "--quiet", "--help"]))
      }
      assert.deepStrictEqual(yield* run(["--version"]), yield* run(["--quiet", "--version"]))
    })
  )
})

describe("compiled code", () => {
  const version = (folder: string, env: Record<string, string>) =>
    Effect.promise(() => ended(start(folder, ["--quiet", "--version"], { NODE_COMPILE_CACHE: "", ...env })))

  it.each(["linux", "darwin"] as const)("lies where the caches of a user of %s lie", (platform) => {
    for (const env of [{ HOME: "/home/ann" }, { HOME: "/home/ann", XDG_CACHE_HOME: "/var/cache/ann" }]) {
      const expected = Effect.provideService(
        UserDirectories.make({ platform }).cache("roster"),
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({ env })
      )
      assert.strictEqual(cacheFolder(env, platform), Effect.runSync(expected))
    }
  })

  it.live("is kept for its user alone, and where others could change it none is", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const cache = join(folder, ".cache", "roster")
      const first = yield* version(folder, {})
      assert.strictEqual(first.code, 0, first.stderr)
      assert.strictEqual(statSync(cache).mode & 0o777, 0o700)
      assert.isNotEmpty(readdirSync(cache))

      const shared = join(folder, "shared", "roster")
      mkdirSync(shared, { recursive: true })
      chmodSync(shared, 0o777)
      assert.deepStrictEqual(yield* version(folder, { XDG_CACHE_HOME: dirname(shared) }), first)
      assert.deepStrictEqual(readdirSync(shared), [])

      assert.deepStrictEqual(yield* version(folder, { HOME: join(folder, "none") }), first)
      assert.isFalse(existsSync(join(folder, "none")))
    })
  )

  it.live.skipIf(process.getuid?.() !== 0)("is kept in no folder of another user (needs root)", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const first = yield* version(folder, {})
      assert.strictEqual(first.code, 0, first.stderr)
      const home = join(folder, "other")
      mkdirSync(home)
      chownSync(home, 12_345, 12_345)
      assert.deepStrictEqual(yield* version(folder, { HOME: home }), first)
      assert.deepStrictEqual(readdirSync(home), [])
    })
  )
})
