/**
 * The packages as they are published.
 */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const packages = fileURLToPath(new URL("../../", import.meta.url))

/** The pnpm that runs the tests. */
const path = process.env["npm_execpath"] ?? ""

export const hasPnpm = /pnpm/.test(path) && existsSync(path)

/** Runs pnpm in a folder; where it fails, what it said is in the error. */
export const pnpm = (cwd: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}): string => {
  const [command, first] = /\.[cm]?js$/.test(path) ? [process.execPath, [path]] : [path, []]
  return execFileSync(command, [...first, ...args], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 300_000
  })
}

/** Packs packages into a folder. */
export const pack = (names: ReadonlyArray<string>, folder: string): void => {
  const filters = names.map((name) => `--filter=@roster/${name}`)
  pnpm(packages, [...filters, "pack", "--pack-destination", folder])
}
