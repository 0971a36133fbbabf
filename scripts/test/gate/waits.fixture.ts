import { spawn } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { it } from "vitest"

it("waits beside a process and a temporary folder until the run is killed", { timeout: 600_000 }, async () => {
  mkdtempSync(join(tmpdir(), "roster-left-"))
  spawn("sleep", ["600"])
  process.stdout.write("waiting\n")
  await new Promise(() => {})
})
