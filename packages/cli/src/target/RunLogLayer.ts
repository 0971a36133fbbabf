/** The log of the runs of this user, on the service or store of a command. */
import * as RunFiles from "@roster/workflows/RunFiles"
import { Effect, Layer } from "effect"
import { stateFolder } from "../files/UserFolder.ts"
import { targetIdentity } from "./Target.ts"

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    return RunFiles.layer({ folder: yield* stateFolder("runs"), target: yield* targetIdentity })
  })
)
