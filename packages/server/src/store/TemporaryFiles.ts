/**
 * The temporary folders of files that are being received, and what is left of them by processes that were killed.
 */
import { Clock, Effect } from "effect"
import { readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isFromDeadProcess, processMark } from "./ProcessMark.ts"

const prefix = "roster-import-"

/** How the folder of an upload begins: it names the process that receives it. */
export const uploadPrefix = prefix + processMark

/** Far longer than any upload takes: a server of Node gives each request five minutes to arrive. */
const uploadMillis = 60 * 60 * 1000

/**
 * Removes the uploads that killed processes left in the temporary folder, as far as they are our own: those of this
 * machine at once, and those of which nothing is known when nobody can be writing them.
 */
export const removeUploads = Effect.map(Clock.currentTimeMillis, (now) => {
  for (const entry of readdirSync(tmpdir(), { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue
    const folder = join(tmpdir(), entry.name)
    try {
      const found = [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) => statSync(path))
      const isOurs = found.every(({ uid }) => uid === process.getuid?.())
      const isOld = found.every(({ mtimeMs }) => mtimeMs < now - uploadMillis)
      if (isOurs && (isOld || isFromDeadProcess(entry.name.slice(prefix.length)))) rmSync(folder, { recursive: true })
    } catch {
      // Somebody else's, or gone in the meantime.
    }
  }
}).pipe(Effect.ignoreCause)
