import { rulesOnStore } from "../properties/RulesOnStore.ts"
import { describePostgres, layerPostgres } from "./TestPostgres.ts"

describePostgres("PostgreSQL", () => {
  rulesOnStore("a generated rule, asked of PostgreSQL", layerPostgres, { ci: 25, long: 2500 })
})
