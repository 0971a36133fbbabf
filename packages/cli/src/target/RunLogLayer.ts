/** The log of runs on the service or store of a command, which says how to undo what was recorded. */
import { ContactsService, RunsService } from "@roster/domain"
import { type Run, RunLog, RunOrigin } from "@roster/workflows"
import * as RunFiles from "@roster/workflows/RunFiles"
import { Effect, FileSystem, Layer, Path } from "effect"
import { userInfo } from "node:os"
import { userFolder, userFolderPath } from "../files/UserFolder.ts"
import { Output } from "../terminal/Output.ts"
import { commandHere, ResumeHint } from "../terminal/ResumeHint.ts"
import { type ForWrites, Target } from "./Target.ts"
import * as TargetLayer from "./TargetLayer.ts"

/** What the runs of a command are of: the store that it works on, wherever that is now, which records them if it is one of ours. */
const targetOptions = Effect.gen(function* () {
  const { identity, name } = yield* Target
  const { storeId } = yield* ContactsService
  return { target: identity ?? name, storeId, runs: yield* RunsService }
})

/** The folder of the runs of this user, which is made once a run has to be kept there. What is there already is closed to others. */
const folder = Effect.gen(function* () {
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  const state = yield* userFolderPath("state")
  const isThere = yield* Effect.orElseSucceed(fs.exists(state), () => true)
  return path.join(isThere ? yield* userFolder("state") : state, "runs")
})

/** The storage of the runs of this user, which are on any target that records none itself. */
export const storage = Effect.gen(function* () {
  const kept: RunFiles.RunStorage = yield* RunFiles.storage({ folder: yield* folder })
  return kept
})

/** What a command recorded in a run that it opened. */
interface Recorded {
  readonly run: Run
  isIncomplete: boolean
}

/** The name of the user of this machine, if there is one. */
const userName = Effect.orElseSucceed(
  Effect.try(() => userInfo().username),
  () => undefined
)

/** Says what the runs of a command are of, such as the name of its file. */
export const about = (words: string) => Effect.provideService(RunOrigin, { about: words })

/** The log, and what is said of its runs at the end of a command, however it ends. */
const announcing = Effect.gen(function* () {
  const log = yield* RunLog
  const output = yield* Output
  const tools = yield* Effect.context<Effect.Services<ReturnType<typeof commandHere>>>()
  const opened: Array<Recorded> = []
  const by = yield* userName
  const hint = yield* ResumeHint
  const tell = Effect.gen(function* () {
    for (const { isIncomplete, run } of opened) {
      const hasChanged = yield* run.hasChanged
      if (isIncomplete) {
        const then = hasChanged ? "and an undo would leave the rest" : "so that it cannot be undone"
        yield* output.note(`warning: the record of this run does not have all that it changed, ${then}.`)
      }
      if (!hasChanged) continue
      const command = yield* commandHere(["contacts", "undo", run.header.id])
      hint.undo = { run: run.header.id, command }
      yield* output.note(`To undo it: ${command}`)
    }
  }).pipe(Effect.provideContext(tools))
  yield* Effect.addFinalizer(() => tell)
  const signed = Effect.updateService(RunOrigin, (origin) => (by === undefined ? origin : { ...origin, by }))
  return RunLog.withOpened(log, (opening) =>
    Effect.map(signed(opening), (run): Run => {
      const recorded: Recorded = { run, isIncomplete: false }
      opened.push(recorded)
      return {
        ...run,
        append: (entry, options) =>
          Effect.tap(run.append(entry, options), () =>
            Effect.sync(() => {
              if (entry._tag === "Unknown") recorded.isIncomplete = true
            })
          )
      }
    })
  )
})

/** The runs of the target, and those of this user. */
const ofTarget = Layer.unwrap(
  Effect.gen(function* () {
    return RunFiles.layer({ folder: yield* folder, ...(yield* targetOptions) })
  })
)

/** The log of a command on its target, which announces how to undo its runs; or one that is not kept. */
const layer = (isKept: boolean) =>
  isKept
    ? Layer.provide(Layer.effect(RunLog, announcing), ofTarget)
    : Layer.unwrap(Effect.map(targetOptions, ({ storeId, target }) => RunLog.layerMemory({ storeId, target })))

/** The target of a command that changes something, with the log of its runs. A dry run keeps none. */
export const layerForWrites = ({ isKept, ...forWrites }: ForWrites & { readonly isKept?: boolean | undefined }) =>
  layer(isKept ?? !forWrites.dryRun).pipe(Layer.provideMerge(TargetLayer.layerForWrites(forWrites)))

/** The log of a command that reads runs. */
export const layerForReads = Layer.provideMerge(ofTarget, TargetLayer.layerForReads)
