import { Effect } from "effect"
import { officialClients } from "./OfficialScenarios.ts"

officialClients("SQLite", Effect.succeed({}))
