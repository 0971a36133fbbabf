import { describe } from "@effect/vitest"
import { SqlServices } from "@roster/server"
import { Effect, Layer } from "effect"
import { conformance } from "../../src/index.ts"
import { freshDatabase, noPostgres, startPostgres } from "./TestPostgres.ts"

startPostgres()

const layerPostgres = Layer.unwrap(
  Effect.map(freshDatabase, (url) =>
    SqlServices.layerPostgres({ postgres: { url }, allowedSenders: ["*@example.com"] })
  )
)

describe.skipIf(noPostgres !== undefined)(`PostgreSQL${noPostgres === undefined ? "" : ` (${noPostgres})`}`, () => {
  conformance("SQL on PostgreSQL", layerPostgres)
})
