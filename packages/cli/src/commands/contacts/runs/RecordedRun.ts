/** Runs a command whose changes of contacts are recorded, so that it can be undone. */
import { ContactsService } from "@roster/domain"
import {
  type ContactLookup,
  makeContactLookup,
  makeRecorder,
  recordedContacts,
  type Recorder
} from "@roster/workflows/former"
import { Effect, Exit } from "effect"
import { temporaryProblem } from "../../../files/TemporaryFile.ts"
import { Output } from "../../../terminal/Output.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { commandHere } from "../../../terminal/ResumeHint.ts"
import * as Results from "../../../terminal/Results.ts"
import { targetIdentity } from "../../../target/Target.ts"
import { newRun } from "./RunFiles.ts"

/** Finds contacts as they are, with progress if all of them have to be read. */
export const lookupFor = (expected: number) =>
  withProgress({ doing: "Reading the contacts that are there", unit: "contacts" }, (onProgress) =>
    temporaryProblem("the contacts")(makeContactLookup({ expected, onProgress }))
  )

/** The same for a command that works without: where the key may not read contacts, what it changes is not recorded. */
const lookupIfAllowed = (expected: number) =>
  Effect.catchReason(lookupFor(expected), "ServiceError", "AccessDenied", (_, error) =>
    Effect.succeed<ContactLookup>({ find: () => Effect.fail(error), hasLists: false })
  )

/** The run that a command makes. */
export interface CurrentRun {
  readonly id: string
  readonly recorder: Recorder
  readonly lookup: ContactLookup
}

interface RunOptions {
  readonly command: string
  /** About how many contacts are changed. */
  readonly expected: number
  readonly undoes?: string | undefined
  /** What finds the contacts (default: a new one). */
  readonly lookup?: ContactLookup | undefined
}

/** Begins a run, uses it, and says how to undo it. */
export const withRun = Effect.fnUntraced(function* <A, E, R>(
  { command, expected, undoes, ...given }: RunOptions,
  use: (run: CurrentRun) => Effect.Effect<A, E, R>
) {
  const output = yield* Output
  const target = yield* targetIdentity
  const lookup = given.lookup ?? (yield* lookupIfAllowed(expected))
  const { hasBegun, log, header } = yield* newRun({ command, target, ...Results.omitUndefined({ undoes }) })
  const recorder = makeRecorder(log)
  const end = Effect.fnUntraced(function* (exit: Exit.Exit<unknown, unknown>) {
    if (!(yield* hasBegun)) return
    yield* Effect.ignore(log.append({ _tag: "Ended", ...(yield* recorder.counts) }))
    // The last line after an interruption says how to resume.
    if (Exit.hasInterrupts(exit)) return
    if (yield* recorder.isIncomplete) {
      yield* output.note(
        "warning: the record of this run does not have all that it changed, and an undo would leave the rest."
      )
    }
    yield* output.note(`To undo it: ${yield* commandHere(["contacts", "undo", header.id])}`)
  })
  return yield* Effect.onExit(use({ id: header.id, recorder, lookup }), end)
}, Effect.scoped)

/** Runs a command with a `ContactsService` that records what it changes. */
export const recorded = Effect.fnUntraced(function* <A, E, R>(
  options: RunOptions,
  use: (run: CurrentRun) => Effect.Effect<A, E, R>
) {
  const service = yield* ContactsService
  return yield* withRun(options, (run) =>
    Effect.flatMap(recordedContacts(service, run), (recording) =>
      Effect.provideService(use(run), ContactsService, recording)
    )
  )
})
