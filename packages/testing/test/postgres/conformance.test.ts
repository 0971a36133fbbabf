/** The suite on PostgreSQL. What the HTTP layer adds is the same on every engine: the nightly run tries it here too. */
import { describe } from "@effect/vitest"
import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { longRun } from "../../src/simulation/LongRun.ts"
import { describePostgres, layerPostgres, layerServedPostgres } from "./TestPostgres.ts"

describePostgres("PostgreSQL", () => {
  testConformance("SQL on PostgreSQL", conformance.all(), layerPostgres)

  describe.skipIf(!longRun)("(nightly)", () => {
    testConformance("HTTP client, server, SQL on PostgreSQL, over a socket", conformance.all(), layerServedPostgres)
  })
})
