import * as NodeServices from "@effect/platform-node/NodeServices"
import { ContactsService } from "@roster/domain"
import { SqlServices } from "@roster/server"
import * as RunFiles from "@roster/workflows/RunFiles"
import { Effect, Layer } from "effect"

/** What programs need on Node: a store, the log of what they do there in a folder, and files. */
export const services = (filename: string, folder: string) =>
  Layer.unwrap(
    Effect.map(ContactsService, ({ storeId }) => RunFiles.layer({ folder, target: filename, storeId }))
  ).pipe(Layer.provideMerge(SqlServices.layer({ filename })), Layer.provideMerge(NodeServices.layer))
