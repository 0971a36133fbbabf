import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { describePostgres, layerPostgres, layerServedPostgres } from "./TestPostgres.ts"

describePostgres("PostgreSQL", () => {
  testConformance("SQL on PostgreSQL", conformance.all(), layerPostgres)
  testConformance("HTTP client, server, SQL on PostgreSQL, over a socket", conformance.all(), layerServedPostgres)
})
