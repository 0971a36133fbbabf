/** On what and with what was measured. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { cpus, release, totalmem } from "node:os"
import { DatabaseSync } from "node:sqlite"

const require = createRequire(import.meta.url)

/** Not every package lets its package.json be imported. */
const versionOf = (name: string): string => {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return `${name} ${String(JSON.parse(readFileSync(`${folder}/${name}/package.json`, "utf8")).version)}`
    } catch {
      continue
    }
  }
  return name
}

const sqliteVersion = (): string =>
  String(new DatabaseSync(":memory:").prepare("SELECT sqlite_version() AS version").get()?.["version"])

/** The machine and the versions, in one paragraph. */
export const describeMachine = (): string => {
  const [cpu] = cpus()
  const packages = ["effect", "undici", "fastify", "csv-parse", "@elasticemail/elasticemail-client"]
  return [
    `${cpus().length} × ${cpu?.model ?? "CPU"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release().split("-")[0]}.`,
    `Node ${process.versions.node}, SQLite ${sqliteVersion()}, ${packages.map(versionOf).join(", ")}.`
  ].join(" ")
}
