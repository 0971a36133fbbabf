/** The links of exports, on PostgreSQL. */
import { Effect } from "effect"
import { linkCases } from "../security/Links.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("on PostgreSQL", () => linkCases(Effect.map(freshDatabase, (url) => ({ postgres: { url } }))))
