import { describe } from "@effect/vitest"
import { conformance } from "../../src/index.ts"
import { layerPostgres, noPostgres, startPostgres } from "./TestPostgres.ts"

startPostgres()

describe.skipIf(noPostgres !== undefined)(`PostgreSQL${noPostgres === undefined ? "" : ` (${noPostgres})`}`, () => {
  conformance("SQL on PostgreSQL", layerPostgres)
})
