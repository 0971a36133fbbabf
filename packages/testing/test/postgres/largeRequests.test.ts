/** Large requests and answers on PostgreSQL. */
import { Effect } from "effect"
import { largeRequestCases } from "../wire/LargeRequests.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("on PostgreSQL", () => {
  largeRequestCases(
    "large requests and answers",
    Effect.map(freshDatabase, (url) => ({ postgres: { url } }))
  )
})
