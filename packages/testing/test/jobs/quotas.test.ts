/** What one account may keep, on a file. */
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { DatabaseSync } from "node:sqlite"
import { layersOn } from "../../src/layers/ServiceLayers.ts"
import { quotaCases } from "./Quotas.ts"

for (const [name, layerOn] of Object.entries(layersOn)) {
  const filled = Effect.gen(function* () {
    const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "roster-quota-" })
    const filename = `${folder}/roster.db`
    const open = () => new DatabaseSync(filename, { timeout: 5000 })
    return {
      services: layerOn(filename),
      change: (statements: string) =>
        Effect.sync(() => {
          using store = open()
          store.exec(statements)
        }),
      look: (query: string) =>
        Effect.sync(() => {
          using store = open()
          return store.prepare(query).get()
        })
    }
  })
  quotaCases(name, Effect.provide(filled, NodeServices.layer), true)
}
