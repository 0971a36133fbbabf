/** A new store could not be made, or is not made. As a defect it ends the command past all error handlers, as where a store is opened first. */
import type { SqlServices } from "@roster/server"
import { Data, type Effect } from "effect"
import type { NoStore, storeFile } from "./EmbeddedStore.ts"

export class StoreNotMade extends Data.TaggedError("StoreNotMade")<{
  readonly error: SqlServices.StoreError | NoStore | Effect.Error<ReturnType<typeof storeFile>>
}> {}
