import { describe } from "@effect/vitest"
import { rulesOnStore } from "../properties/RulesOnStore.ts"
import { layerPostgres, noPostgres, startPostgres } from "./TestPostgres.ts"

startPostgres()

describe.skipIf(noPostgres !== undefined)("PostgreSQL", () => {
  rulesOnStore("a generated rule, asked of PostgreSQL", layerPostgres, { ci: 40, long: 5000 })
})
