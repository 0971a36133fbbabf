/** What callers over the network see of a service on PostgreSQL is what they see of one on a file. */
import { officialClients } from "../official/OfficialScenarios.ts"
import { accessMatrix } from "../security/Matrix.ts"
import { Wire } from "../wire/Wire.ts"
import { describePostgres, servedOnFresh } from "./TestPostgres.ts"

describePostgres("callers over the network", () => {
  officialClients("PostgreSQL", servedOnFresh)
  accessMatrix("PostgreSQL", Wire.layerOf(servedOnFresh))
})
