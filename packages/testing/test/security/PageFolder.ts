/** A folder with a built page that is none, and files in and around it that nobody may get. */
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export const html = '<!doctype html><script type="module" src="assets/main.1a2b3c.js"></script>'
export const script = `document.title = "${"Roster ".repeat(200)}"`

export const pageFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const parent = yield* fs.makeTempDirectoryScoped({ prefix: "roster-page-" })
  const folder = join(parent, "studio")
  mkdirSync(join(folder, "assets"), { recursive: true })
  writeFileSync(join(parent, "outside.js"), "secret")
  writeFileSync(join(folder, "index.html"), html)
  writeFileSync(join(folder, "assets/main.1a2b3c.js"), script)
  writeFileSync(join(folder, "assets/notes.txt"), "secret")
  return folder
}).pipe(Effect.provide(NodeServices.layer))
