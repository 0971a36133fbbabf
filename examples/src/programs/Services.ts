import * as NodeServices from "@effect/platform-node/NodeServices"
import { SqlServices } from "@roster/server"
import * as RunFiles from "@roster/workflows/RunFiles"
import { Layer } from "effect"

/** What programs need on Node: a store, the log of what they do there in a folder, and files. */
export const services = (filename: string, folder: string) =>
  Layer.mergeAll(SqlServices.layer({ filename }), RunFiles.layer({ folder, target: filename })).pipe(
    Layer.provideMerge(NodeServices.layer)
  )
