/** Nothing is published that says it comes from nowhere. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

/** Checks a checkout whose package.json has this `repository`. */
const check = (repository: unknown) => {
  const folder = mkdtempSync(join(tmpdir(), "roster-release-"))
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ repository }))
    return spawnSync(process.execPath, [resolve("scripts/releaseCheck.ts")], { cwd: folder, encoding: "utf8" })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("a release", () => {
  it.each([
    [{ type: "git", url: "git+https://example.invalid/contacts.git" }, "git+https://example.invalid/contacts.git"],
    [{ type: "git" }, "missing"],
    [undefined, "missing"]
  ])("is refused where the repository is %o", (repository, shown) => {
    const { status, stderr } = check(repository)
    assert.strictEqual(
      stderr,
      `Nothing was published: package.json names no address of the repository yet (\`repository.url\` is ` +
        `${shown}). Put the real one there.\n`
    )
    assert.strictEqual(status, 1)
  })

  it("goes on where the repository has an address", () => {
    const { status, stderr } = check({ type: "git", url: "git+https://git.example.com/contacts.git" })
    assert.deepStrictEqual([status, stderr], [0, ""])
  })

  it("begins with this check", () => {
    const { scripts } = Object(JSON.parse(readFileSync("package.json", "utf8")))
    assert.match(scripts.release, /^node scripts\/releaseCheck\.ts && /)
  })
})

/** The jobs of the workflow of a release, each as its text. */
const jobs = new Map(
  readFileSync(".github/workflows/release.yml", "utf8")
    .split(/^(?= {2}[a-z]+:$)/m)
    .map((text) => [/^ {2}([a-z]+):/.exec(text)?.[1] ?? "", text])
)

describe("what builds a release", () => {
  it("runs nothing of the repository or of npm where it may write or publish, but for the pull request", () => {
    const mayWrite = [...jobs].filter(([, text]) => /^ +[a-z-]+: write$/m.test(text))
    assert.deepStrictEqual(
      mayWrite.map(([name]) => name),
      ["versions", "publish", "tag"]
    )
    for (const [name, text] of mayWrite) {
      if (name !== "versions") assert.notMatch(text, /actions\/checkout|pnpm|npx|npm (?:ci|install)/, name)
    }
    // Nor does anything that tests run touch what is packed.
    assert.notMatch(jobs.get("pack") ?? "", /pnpm@\S+ test$/m)
  })

  it("names actions and images by their digests", () => {
    const workflows = readdirSync(".github/workflows").map((name) => readFileSync(`.github/workflows/${name}`, "utf8"))
    const named = [
      ...workflows.flatMap((text) => Array.from(text.matchAll(/uses: (.*)/g), ([, action = ""]) => action)),
      ...Array.from(readFileSync("Dockerfile", "utf8").matchAll(/^FROM (.*)/gm), ([, image = ""]) => image)
    ]
    assert.isAbove(named.length, 10)
    assert.deepStrictEqual(
      named.filter((name) => !/@[0-9a-f]{40} # v|@sha256:[0-9a-f]{64}/.test(name)),
      []
    )
  })
})
