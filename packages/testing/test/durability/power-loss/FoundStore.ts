/** Checks a store after a crash: whether SQLite finds it intact, and its content. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Schema } from "effect"
import type { FoundFiles } from "./PowerLoss.ts"
import { contactLine } from "./WrittenPlan.ts"

/** The content of a store, as the plan prints it, or what is wrong with it. */
export type Found = { readonly content: string } | { readonly fault: string }

/** Puts files into an empty folder, each under the last part of its path. */
export const putFiles = (folder: string, files: FoundFiles): void => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  for (const [path, content] of files) writeFileSync(join(folder, path.slice(path.lastIndexOf("/") + 1)), content)
}

const Lines = Schema.Array(Schema.Struct({ email: Schema.String, mark: Schema.NullOr(Schema.String) }))
const Answers = Schema.Array(Schema.Struct({ answer: Schema.String }))

/** Opens a database file, which SQLite recovers, and reads it. */
export const lookAt = (filename: string): Found => {
  try {
    using database = new DatabaseSync(filename, { timeout: 0 })
    const answers = Schema.decodeUnknownSync(Answers)(
      database.prepare("SELECT integrity_check AS answer FROM pragma_integrity_check").all()
    )
    const faults = answers.filter(({ answer }) => answer !== "ok")
    if (faults.length > 0) return { fault: faults.map(({ answer }) => answer).join("; ") }
    if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'contacts'").get() === undefined) {
      return { content: "" }
    }
    const rows = Schema.decodeUnknownSync(Lines)(
      database.prepare("SELECT email, json_extract(custom_fields, '$.mark') AS mark FROM contacts").all()
    )
    return {
      content: rows
        .map(({ email, mark }) => contactLine(email, mark))
        .sort()
        .join("\n")
    }
  } catch (cause) {
    return { fault: String(cause) }
  }
}

/** Checks the stores that many crashes leave; equal ones only once. */
export const makeLook = (folder: string) => {
  const known = new Map<string, Found>()
  return {
    /** File names have to end like those of the store, `roster.db`. */
    look: (files: FoundFiles): Found => {
      const hash = createHash("sha256")
      for (const [path, content] of [...files].sort(([one], [other]) => (one < other ? -1 : 1))) {
        hash.update(`${path} ${content.length}\n`).update(content)
      }
      const key = hash.digest("hex")
      const before = known.get(key)
      if (before !== undefined) return before
      putFiles(folder, files)
      const found = lookAt(join(folder, "roster.db"))
      known.set(key, found)
      return found
    },
    /** The number of distinct stores. */
    distinct: () => known.size
  }
}
