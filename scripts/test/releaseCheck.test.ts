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

describe("what builds a release", () => {
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
