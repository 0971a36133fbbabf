/** The log of the runs of this user, on the service or store of a command. */
import { RunLog } from "@roster/workflows"
import * as RunFiles from "@roster/workflows/RunFiles"
import { Effect, FileSystem, Layer, Path } from "effect"
import { stateFolder, userFolderPath } from "../files/UserFolder.ts"
import { type ForWrites, targetIdentity } from "./Target.ts"
import * as TargetLayer from "./TargetLayer.ts"

const layerOn = (target: string) =>
  Layer.unwrap(Effect.map(stateFolder("runs"), (folder) => RunFiles.layer({ folder, target })))

/** The log in the state folder. */
const layer = Layer.unwrap(Effect.map(targetIdentity, layerOn))

/** The same for a command that only reads it, on whatever target its runs were. */
export const layerOfAll = layerOn("")

/** The log of a command that leaves nothing in the state folder. */
const layerUnkept = Layer.unwrap(Effect.map(targetIdentity, (target) => RunLog.layerMemory({ target })))

/** The log in the state folder if it is there, for a command that goes on by it and keeps nothing. */
const layerIfThere = Layer.unwrap(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const isThere = yield* fs.exists(path.join(yield* userFolderPath("state"), "runs"))
    return isThere ? layer : layerUnkept
  }).pipe(Effect.catchTag("PlatformError", () => Effect.succeed(layerUnkept)))
)

/** The target of a command that changes something, with the log of its runs. A dry run keeps none. */
export const layerForWrites = ({ dryRun, isKept = !dryRun }: ForWrites & { readonly isKept?: boolean | undefined }) =>
  (isKept ? layer : layerUnkept).pipe(Layer.provideMerge(TargetLayer.layerForWrites({ dryRun })))

/** The same for a command that an earlier one may have begun. */
export const layerToGoOn = ({ dryRun }: ForWrites) =>
  (dryRun ? layerIfThere : layer).pipe(Layer.provideMerge(TargetLayer.layerForWrites({ dryRun })))
