/** The planned writer as one file: from its sources each start would load 1500 modules, which costs more than its writes. */
import { Effect } from "effect"
import { mkdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"

const source = fileURLToPath(new URL("./power-loss/PlannedWriter.ts", import.meta.url))
const folder = fileURLToPath(new URL("../../../../node_modules/.cache/planned-writer", import.meta.url))

const bundle = async (): Promise<string> => {
  const { output } = await build({
    input: source,
    platform: "node",
    logLevel: "silent",
    write: false,
    output: { format: "esm", codeSplitting: false }
  })
  const file = join(folder, "writer.mjs")
  const written = join(folder, `${process.pid}.mjs`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(written, output[0].code)
  // Other workers may be running the file of the same name.
  renameSync(written, file)
  return file
}

let made: Promise<string> | undefined

/** The path of the file, which is made once in a worker. */
export const plannedWriterFile = Effect.promise(() => (made ??= bundle()))
