/** What one client costs others, on PostgreSQL. */
import { Effect } from "effect"
import { boundsCases } from "../wire/Bounds.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("on PostgreSQL", () => {
  boundsCases(
    "on PostgreSQL",
    Effect.map(freshDatabase, (url) => ({ postgres: { url } }))
  )
})
