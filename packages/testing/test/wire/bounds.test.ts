/** What one client costs others, on a file. */
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { DatabaseSync } from "node:sqlite"
import { boundsCases } from "./Bounds.ts"

boundsCases(
  "on SQLite",
  Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped({ prefix: "roster-bounds-" })).pipe(
    Effect.map((folder) => ({ filename: `${folder}/roster.db` })),
    Effect.provide(NodeServices.layer)
  ),
  ({ filename }) =>
    Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(filename)),
      (store) => Effect.sync(() => store.close())
    ).pipe(
      Effect.tap((store) => Effect.sync(() => store.exec("BEGIN IMMEDIATE"))),
      Effect.map((store) => ({ unlock: Effect.sync(() => store.exec("ROLLBACK")) }))
    )
)
