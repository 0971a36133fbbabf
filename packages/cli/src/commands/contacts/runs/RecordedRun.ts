/** Runs a command whose changes of contacts are recorded, so that it can be undone. */
import { ContactsService } from "@roster/domain"
import { recordedContacts, type Run, RunLog } from "@roster/workflows"
import { Effect, Exit } from "effect"
import { Output } from "../../../terminal/Output.ts"
import { commandHere } from "../../../terminal/ResumeHint.ts"
import { contactsFile } from "./ContactsFile.ts"

/** Says how to undo a run, and whether an undo would leave some of it. */
export const tellUndo = Effect.fnUntraced(function* (run: string, isIncomplete: boolean) {
  const output = yield* Output
  if (isIncomplete) {
    yield* output.note(
      "warning: the record of this run does not have all that it changed, and an undo would leave the rest."
    )
  }
  yield* output.note(`To undo it: ${yield* commandHere(["contacts", "undo", run])}`)
})

/** The runs that changed contacts, the newest first. The log has rotations of credentials too. */
export const contactRuns = RunLog.use(({ list }) =>
  Effect.map(list, (runs) => runs.filter(({ header }) => header.command !== "rotate"))
)

/** Runs a command with a `ContactsService` that records what it changes. `expected`: about how many contacts. */
export const recorded = Effect.fnUntraced(function* <A, E, R>(
  { command, expected }: { readonly command: string; readonly expected: number },
  use: Effect.Effect<A, E, R>
) {
  const log = yield* RunLog
  const opened = yield* log.open({ command })
  let hasBegun = false
  let isIncomplete = false
  const run: Run = {
    ...opened,
    append: (entry, options) =>
      Effect.suspend(() => {
        hasBegun = true
        isIncomplete ||= entry._tag === "Unknown"
        return opened.append(entry, options)
      })
  }
  const contacts = yield* recordedContacts({ run, expected, snapshot: yield* contactsFile })
  const end = (exit: Exit.Exit<unknown, unknown>) =>
    Effect.suspend(() => {
      if (!hasBegun) return Effect.void
      // The last line after an interruption says how to resume.
      const told = Exit.hasInterrupts(exit) ? Effect.void : tellUndo(run.header.id, isIncomplete)
      return Effect.andThen(Effect.ignore(run.end), told)
    })
  return yield* Effect.onExit(Effect.provideService(use, ContactsService, contacts), end)
}, Effect.scoped)
