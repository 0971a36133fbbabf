/**
 * The session in the README, typed again: what stands there is what a terminal shows.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bin, environmentOf, temporaryFolder } from "../roster.ts"
import { screenOf } from "./screen.ts"
import { hasTerminal, terminalEnvironment } from "./terminal.ts"

interface Step {
  readonly command: string
  readonly shown: string
}

const readme = readFileSync(new URL("../../../../README.md", import.meta.url), "utf8")

const sessions = [...readme.matchAll(/^```console\n(.*?)^```$/gms)].map(([, text = ""]) =>
  text.split(/^\$ /m).flatMap((part): ReadonlyArray<Step> => {
    const [command = "", ...shown] = part.split("\n")
    return command === "" ? [] : [{ command, shown: shown.join("\n") }]
  })
)

/** What is another one each time. */
const settled = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>")
    .replaceAll(/\d+ bytes/g, "<size>")
    .replaceAll(/\d{8}T\d{9}Z-[0-9a-f]{4}/g, "<run>")
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

describe.skipIf(!hasTerminal)("the session in the README", () => {
  it("is there", () => {
    assert.strictEqual(sessions.length, 1)
    assert.isAbove(sessions[0]?.length ?? 0, 5)
  })

  it.live.each(sessions)("shows what stands there", (session) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "bin"))
      writeFileSync(join(folder, "bin", "roster"), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`)
      chmodSync(join(folder, "bin", "roster"), 0o755)
      const env: Record<string, string> = {}
      for (const [index, { command, shown }] of session.entries()) {
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
