/** The log of the runs of this user, on the service or store of a command, which says how to undo what it recorded. */
import { ContactsService } from "@roster/domain"
import { type Run, RunLog, RunOrigin } from "@roster/workflows"
import * as RunFiles from "@roster/workflows/RunFiles"
import { Effect, Layer } from "effect"
import { userInfo } from "node:os"
import { stateFolder } from "../files/UserFolder.ts"
import { Output } from "../terminal/Output.ts"
import { commandHere, ResumeHint } from "../terminal/ResumeHint.ts"
import { type ForWrites, Target } from "./Target.ts"
import * as TargetLayer from "./TargetLayer.ts"

/** What the runs of a command are of: the store that it works on, wherever that is now. */
const targetOptions = Effect.gen(function* () {
  const { identity, name } = yield* Target
  const { storeId } = yield* ContactsService
  return { target: identity ?? name, storeId }
})

/** The storage of that log, whose runs are on any target. */
export const storage = Effect.gen(function* () {
  const kept: RunFiles.RunStorage = yield* RunFiles.storage({ folder: yield* stateFolder("runs") })
  return kept
})

/** What a command recorded in a run that it opened. */
interface Recorded {
  readonly run: Run
  /** The number of contacts; those who were only put on lists are in no count of the run. */
  made: number
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
    // An undo also takes the run that it undoes.
    const undone = new Set(opened.map(({ run }) => run.header.undoes))
    for (const { isIncomplete, made, run } of opened.filter(({ run: { header } }) => !undone.has(header.id))) {
      const { changed, created, deleted } = yield* run.counts
      const hasChanged = created + changed + deleted + made > 0
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
  const watched = RunLog.of({
    ...log,
    open: (options) =>
      Effect.map(signed(log.open(options)), (run) => {
        const recorded: Recorded = { run, made: 0, isIncomplete: false }
        opened.push(recorded)
        return {
          ...run,
          append: (entry, options) =>
            Effect.tap(run.append(entry, options), () =>
              Effect.sync(() => {
                if (entry._tag === "Unknown") recorded.isIncomplete = true
                if (entry._tag === "NotMade") recorded.made -= entry.emails.length
                if (entry._tag !== "Changes") return
                for (const contacts of [entry.created, entry.changed, entry.deleted]) {
                  recorded.made += contacts?.length ?? 0
                }
              })
            )
        }
      })
  })
  return watched
})

/** The log of a command on its target: it keeps its runs in the state folder and announces how to undo them, or neither. */
const layer = (isKept: boolean) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const on = yield* targetOptions
      if (!isKept) return RunLog.layerMemory(on)
      return Layer.provide(
        Layer.effect(RunLog, announcing),
        RunFiles.layer({ folder: yield* stateFolder("runs"), ...on })
      )
    })
  )

/** The target of a command that changes something, with the log of its runs. A dry run keeps none. */
export const layerForWrites = ({ isKept, ...forWrites }: ForWrites & { readonly isKept?: boolean | undefined }) =>
  layer(isKept ?? !forWrites.dryRun).pipe(Layer.provideMerge(TargetLayer.layerForWrites(forWrites)))

/** The log of a command that reads runs, whatever their target. */
export const layerOfAll = Layer.unwrap(
  Effect.map(stateFolder("runs"), (folder) => RunFiles.layer({ folder, target: "" }))
)
