/** What one client costs others, on a file. */
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { boundsCases } from "./Bounds.ts"

boundsCases(
  "on SQLite",
  Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped({ prefix: "roster-bounds-" })).pipe(
    Effect.map((folder) => ({ filename: `${folder}/roster.db` })),
    Effect.provide(NodeServices.layer)
  )
)
