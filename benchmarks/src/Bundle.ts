/**
 * Trials as single files, bundled as the command line is: what is measured is what is shipped, and the references get the
 * same favour.
 */
import { Effect } from "effect"
import { basename, dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"

const root = resolve(fileURLToPath(import.meta.url), "../..")
const made = new Map<string, Promise<string>>()

const bundleFile = async (source: string): Promise<string> => {
  const file = join(root, ".built", dirname(relative(root, source)), `${basename(source, ".ts")}.mjs`)
  await build({
    input: source,
    platform: "node",
    logLevel: "silent",
    output: { file, format: "esm", codeSplitting: false }
  })
  return file
}

/** Bundles a source file, once a run, and gives the path of the result. */
export const bundle = (source: string): Effect.Effect<string> =>
  Effect.promise(() => {
    const known = made.get(source) ?? bundleFile(source)
    made.set(source, known)
    return known
  })
