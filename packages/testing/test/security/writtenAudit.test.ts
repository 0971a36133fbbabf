import { NodeServices } from "@effect/platform-node"
import { describe } from "@effect/vitest"
import { SqlServices } from "@roster/server"
import { Effect, FileSystem, Path } from "effect"
import { writtenAuditCases } from "./WrittenAudit.ts"

describe("the audit trail of contacts on SQLite", () =>
  writtenAuditCases(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const filename = (yield* Path.Path).join(yield* Effect.orDie(fs.makeTempDirectoryScoped()), "roster.db")
      return () => SqlServices.layerWithStore({ filename })
    }).pipe(Effect.provide(NodeServices.layer))
  ))
