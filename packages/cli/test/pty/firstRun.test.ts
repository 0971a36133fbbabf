/**
 * The sessions in the documentation, typed again: what stands there is what a terminal shows.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bin, environmentOf, temporaryFolder } from "../roster.ts"
import { screenOf } from "./screen.ts"
import { hasTerminal, terminalEnvironment } from "./terminal.ts"

interface Step {
  readonly command: string
  readonly shown: string
}

const checkout = new URL("../../../../", import.meta.url)

const pages = ["README.md", ...readdirSync(new URL("docs", checkout)).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md")
)

const stepsOf = (text: string): ReadonlyArray<Step> =>
  text.split(/^\$ /m).flatMap((part) => {
    const [command = "", ...shown] = part.split("\n")
    return command === "" ? [] : [{ command, shown: shown.join("\n") }]
  })

const sessions = pages.flatMap((page) =>
  Array.from(readFileSync(new URL(page, checkout), "utf8").matchAll(/^```console\n(.*?)^```$/gms), ([, text = ""]) => ({
    page,
    steps: stepsOf(text)
  }))
)

/** What is another one each time. */
const settled = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "<time>")
    .replaceAll(/\d+ bytes/g, "<size>")
    .replaceAll(/\d{8}T\d{6}Z-[0-9a-f]{8}/g, "<run>")
    .replaceAll("\ufeff", "")
    .trimEnd()

const type = async (folder: string, command: string, env: Readonly<Record<string, string>>): Promise<string> => {
  const child = spawn("script", ["-qefc", `stty cols 100; ${command}`, "/dev/null"], {
    cwd: folder,
    env: {
      ...environmentOf(folder),
      ...terminalEnvironment,
      PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
      ...env
    },
    stdio: ["ignore", "pipe", "ignore"]
  })
  const parts: Array<Buffer> = []
  child.stdout.on("data", (part: Buffer) => parts.push(part))
  await once(child, "close")
  return screenOf(Buffer.concat(parts).toString())
}

describe.skipIf(!hasTerminal)("the session (needs script) in", () => {
  it("the guides is there", () => {
    assert.deepStrictEqual(
      sessions.map(({ page }) => page),
      ["docs/command-line.md", "docs/credentials.md", "docs/rules.md"]
    )
    assert.isAbove(sessions[0]?.steps.length ?? 0, 5)
  })

  it.live.each(sessions)("$page shows what stands there", ({ steps }) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "bin"))
      writeFileSync(join(folder, "bin", "roster"), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`)
      chmodSync(join(folder, "bin", "roster"), 0o755)
      const env: Record<string, string> = {}
      for (const [index, { command, shown }] of steps.entries()) {
        const [, name, value] = /^export (\w+)=(.*)$/.exec(command) ?? []
        if (name !== undefined) {
          env[name] = value ?? ""
          continue
        }
        // The file that the session begins with.
        const [, file] = /^cat (\S+)$/.exec(command) ?? []
        if (index === 1 && file !== undefined) writeFileSync(join(folder, file), shown)
        const seen = yield* Effect.promise(() => type(folder, command, env))
        assert.strictEqual(settled(seen), settled(shown), command)
      }
    })
  )
})
