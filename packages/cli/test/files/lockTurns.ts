/**
 * A process that takes a lock again and again: `lockTurns.ts <folder> <turns> [killed]`. It prints how often it was not
 * alone, and with `killed` ends by a kill in its last turn.
 */
import { closeSync, openSync, rmSync } from "node:fs"
import { join } from "node:path"
import { takeLock } from "@roster/workflows/RunFiles"

const [folder = "", turns = "0", killed] = process.argv.slice(2)
const inside = join(folder, "inside")

let overlaps = 0
for (let turn = 1; turn <= Number(turns);) {
  const giveBack = takeLock(join(folder, "file.lock"))
  if (giveBack === undefined) continue
  try {
    closeSync(openSync(inside, "wx"))
  } catch {
    overlaps++
  }
  rmSync(inside, { force: true })
  if (turn === Number(turns) && killed !== undefined) process.kill(process.pid, "SIGKILL")
  giveBack()
  turn++
}
process.stdout.write(String(overlaps))
