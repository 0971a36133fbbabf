import { describe } from "@effect/vitest"
import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { layerPostgres, layerServedPostgres, noPostgres, startPostgres } from "./TestPostgres.ts"

startPostgres()

describe.skipIf(noPostgres !== undefined)(`PostgreSQL${noPostgres === undefined ? "" : ` (${noPostgres})`}`, () => {
  testConformance("SQL on PostgreSQL", conformance.all(), layerPostgres)
  testConformance("HTTP client, server, SQL on PostgreSQL, over a socket", conformance.all(), layerServedPostgres)
})
