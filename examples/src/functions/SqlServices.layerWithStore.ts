import { SqlServices } from "@roster/server"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const services = SqlServices.layerWithStore({ filename: ":memory:" })

export const example = SqlClient.SqlClient.use((sql) => sql`SELECT count(*) FROM contacts`).pipe(
  Effect.provide(services)
)
