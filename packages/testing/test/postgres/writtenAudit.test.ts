import { SqlServices } from "@roster/server"
import { Effect } from "effect"
import { writtenAuditCases } from "../security/WrittenAudit.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("the audit trail of contacts on PostgreSQL", () =>
  writtenAuditCases(Effect.map(freshDatabase, (url) => () => SqlServices.layerPostgres({ postgres: { url } })))
)
