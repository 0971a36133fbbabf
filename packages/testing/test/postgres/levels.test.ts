/** What keys learn of contacts, on PostgreSQL. */
import { Effect } from "effect"
import { levelCases } from "../security/Levels.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("on PostgreSQL", () => levelCases(Effect.map(freshDatabase, (url) => ({ postgres: { url } }))))
