/** Requests that are held open, on PostgreSQL. */
import { Effect } from "effect"
import { heldRequestCases } from "../security/HeldRequests.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("on PostgreSQL", () =>
  heldRequestCases(Effect.map(freshDatabase, (url) => ({ postgres: { url }, allowedSenders: ["*@example.com"] })))
)
