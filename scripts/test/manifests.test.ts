/** A strict package manager gives a package what it declares: so each declares what its sources import. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join } from "node:path"

const imports = /^(?:import|export)\s[^"=;]*?\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm

const packageOf = (specifier: string): string => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/")

const importsOf = (folder: string): ReadonlySet<string> => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file))
  const specifiers = files.flatMap((file) =>
    Array.from(
      // Without doc comments, whose examples import what they show.
      readFileSync(join(folder, file), "utf8")
        .replaceAll(/^ \* .*$/gm, "")
        .matchAll(imports),
      ([, from, alone, later]) => from ?? alone ?? later ?? ""
    )
  )
  return new Set(specifiers.filter((name) => !name.startsWith(".") && !isBuiltin(name)).map(packageOf))
}

const manifestOf = (name: string) => Object(JSON.parse(readFileSync(join("packages", name, "package.json"), "utf8")))

describe("the manifest of", () => {
  it.each(readdirSync("packages"))("%s declares what its sources import", (name) => {
    const { dependencies, devDependencies, peerDependencies } = manifestOf(name)
    // The command line is one bundle, which imports nothing when it is installed.
    const declared = { ...dependencies, ...peerDependencies, ...(name === "cli" ? devDependencies : {}) }
    const imported = importsOf(join("packages", name, "src"))
    assert.isTrue(imported.has("effect"))
    for (const used of imported) assert.property(declared, used)
  })

  it.each(readdirSync("packages"))("%s asks for Effect's packages as peers, so that there is one of each", (name) => {
    const shared = Object.keys({ ...manifestOf(name).dependencies }).filter((used) =>
      /^(?:@effect\/|effect$)/.test(used)
    )
    assert.deepStrictEqual(shared, [])
  })

  it.each(readdirSync("packages"))(
    "%s asks for the peers of the packages of ours that it needs, as they do",
    (name) => {
      const own = manifestOf(name)
      for (const [needed, range] of Object.entries({ ...own.dependencies })) {
        if (!String(range).startsWith("workspace:")) continue
        const { peerDependencies, peerDependenciesMeta = {} } = manifestOf(needed.replace("@roster/", ""))
        assert.deepInclude(own.peerDependencies, peerDependencies)
        assert.deepInclude({ ...own.peerDependenciesMeta }, peerDependenciesMeta)
      }
    }
  )

  it.each(readdirSync("packages"))("%s says what it is about, and what it runs on", (name) => {
    const { engines, keywords } = manifestOf(name)
    assert.isAtLeast(keywords.length, 4)
    // The SQLite of Node is safe since 24.15 (StoreFile), and Effect needs 22.19.
    const needsStore = name === "server" || importsOf(join("packages", name, "src")).has("@roster/server")
    assert.deepStrictEqual(engines, { node: needsStore ? ">=24.15" : ">=22.19" })
  })

  it.skipIf(!existsSync(".git"))("the root alone says where they come from (needs git)", () => {
    const { repository } = Object(JSON.parse(readFileSync("package.json", "utf8")))
    const page = String(repository.url).replace(/^git\+https:\/\/(.*)\.git$/, "$1")
    const invented = "github.com[/:][A-Za-z0-9-]+/roster"
    const naming = execFileSync("git", ["grep", "--files-with-matches", "-E", "-e", page, "-e", invented])
    assert.strictEqual(naming.toString(), "package.json\n")
  })

  it("all of them has one version, and begins with 0.1.0", () => {
    const versions = new Set(readdirSync("packages").map((name) => String(manifestOf(name).version)))
    assert.strictEqual(versions.size, 1)
    // Before the first release, whose changesets are all minor or less, it is 0.0.0.
    const [version] = versions
    if (version !== "0.0.0") return
    const changes = readdirSync(".changeset").filter((file) => file.endsWith(".md"))
    const bumps = changes.flatMap((file) => readFileSync(join(".changeset", file), "utf8").match(/": (\w+)$/gm) ?? [])
    assert.sameMembers([...new Set(bumps)], ['": minor', '": patch'])
  })
})
