/** Requests that are held open, on PostgreSQL. */
import { Effect } from "effect"
import { givenBackCases } from "../security/GivenBack.ts"
import { heldRequestCases } from "../security/HeldRequests.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("on PostgreSQL", () => {
  const store = Effect.map(freshDatabase, (url) => ({ postgres: { url }, allowedSenders: ["*@example.com"] }))
  heldRequestCases(store)
  givenBackCases(store)
})
