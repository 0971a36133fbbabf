/**
 * Refuses to publish while the root's package.json names no address of the repository, which `.pnpmfile.mjs` adds to each
 * package: `pnpm release` runs it first.
 */
import { readFileSync } from "node:fs"

const { repository } = Object(JSON.parse(readFileSync("package.json", "utf8")))
const url = Object(repository).url ?? "missing"
const host = URL.parse(url)?.hostname ?? ""

if (host === "" || host.endsWith(".invalid")) {
  process.stderr.write(
    `Nothing was published: package.json names no address of the repository yet (\`repository.url\` is ` +
      `${url}). Put the real one there.\n`
  )
  process.exitCode = 1
}
