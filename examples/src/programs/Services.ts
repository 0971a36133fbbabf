import * as NodeServices from "@effect/platform-node/NodeServices"
import { SqlServices } from "@roster/server"
import { RunLog } from "@roster/workflows"
import { Layer } from "effect"

/** What programs need on Node: a store, which records their runs, and files. */
export const services = (filename: string) =>
  RunLog.layer.pipe(Layer.provideMerge(SqlServices.layer({ filename })), Layer.provideMerge(NodeServices.layer))
