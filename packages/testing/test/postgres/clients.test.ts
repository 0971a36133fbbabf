/** What callers over the network see of a service on PostgreSQL is what they see of one on a file. */
import { describe } from "@effect/vitest"
import { longRun } from "../../src/simulation/LongRun.ts"
import { officialClients } from "../official/OfficialScenarios.ts"
import { accessMatrix } from "../security/Matrix.ts"
import { Wire } from "../wire/Wire.ts"
import { describePostgres, servedOnFresh } from "./TestPostgres.ts"

describePostgres("callers over the network", () => {
  officialClients("PostgreSQL", servedOnFresh)

  // Which level opens what is decided before any store is asked.
  describe.skipIf(!longRun)("(nightly)", () => accessMatrix("PostgreSQL", Wire.layerOf(servedOnFresh)))
})
