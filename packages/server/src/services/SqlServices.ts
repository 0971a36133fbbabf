/** All services on one store, for direct use by an application that keeps its own contacts, and for tests. */
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { memory } from "../store/sqlite/StoreFile.ts"
import type { StoreError } from "../store/sqlite/StoreError.ts"
import type { PostgresStoreOptions, StoreOptions } from "../store/StoreOptions.ts"
import { layerForHttp, layerPostgresForHttp, type Services } from "./HttpServices.ts"

export type { StoreError } from "../store/sqlite/StoreError.ts"
export type { Services } from "./HttpServices.ts"

/** Provides the services on PostgreSQL and the database under them, with its tables migrated. */
export const layerPostgres = (options: PostgresStoreOptions): Layer.Layer<Services | SqlClient.SqlClient, StoreError> =>
  layerPostgresForHttp(options)

/**
 * Provides the services and the database under them, with its tables migrated.
 *
 * ```ts
 * import { SqlServices } from "@roster/server"
 * import { Effect } from "effect"
 * import { SqlClient } from "effect/sql"
 *
 * const services = SqlServices.layerWithStore({ filename: ":memory:" })
 *
 * export const example = SqlClient.SqlClient.use((sql) => sql`SELECT count(*) FROM contacts`).pipe(
 *   Effect.provide(services)
 * )
 * ```
 */
export const layerWithStore = (options: StoreOptions): Layer.Layer<Services | SqlClient.SqlClient, StoreError> =>
  layerForHttp(options)

/**
 * Provides the services on a database file.
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { SqlServices } from "@roster/server"
 * import { Effect } from "effect"
 *
 * const services = SqlServices.layer({ filename: ":memory:", allowedSenders: ["*@example.com"] })
 *
 * export const example = ContactsService.use((contacts) => contacts.list()).pipe(Effect.provide(services))
 * ```
 */
export const layer = (options: StoreOptions): Layer.Layer<Services, StoreError> => layerWithStore(options)

/**
 * Provides the services on an empty store in memory that is gone with the layer, for tests. Imports and exports have ended
 * when the call returns, so a test neither waits nor polls for them, also under a `TestClock`.
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { layerMemory } from "@roster/server"
 * import { Effect } from "effect"
 *
 * const services = layerMemory({ allowedSenders: ["*@example.com"] })
 *
 * export const example = ContactsService.use((contacts) => contacts.list()).pipe(Effect.provide(services))
 * ```
 */
export const layerMemory = (options?: Omit<StoreOptions, "filename">): Layer.Layer<Services> =>
  layerForHttp({ ...options, filename: memory }, true).pipe(Layer.orDie)
