/** Runs a command whose changes of contacts are recorded, so that it can be undone. */
import { ContactsService } from "@roster/domain"
import { recordedContacts, type RunInfo, RunLog } from "@roster/workflows"
import { Effect, Stream } from "effect"
import { contactsFile } from "./ContactsFile.ts"

/** The runs that changed contacts, the newest first. The log has rotations of credentials too. */
export const contactRuns = RunLog.use(({ list }) =>
  Effect.map(list, (runs) => runs.filter(({ header }) => header.command !== "rotate"))
)

/** Whether a run changed contacts or lists, or is at work, or did what its record does not have. */
export const mayHaveChanged = Effect.fnUntraced(
  function* ({ counts: { changed, created, deleted }, header }: RunInfo) {
    if (created + changed + deleted > 0) return true
    const { read } = yield* RunLog
    let isUnknown = false
    // The counts leave out those who were only put on lists.
    let made = 0
    yield* Stream.runForEach((yield* read(header.id)).entries, (entry) =>
      Effect.sync(() => {
        if (entry._tag === "Unknown") isUnknown = true
        if (entry._tag === "NotMade") made -= entry.emails.length
        if (entry._tag !== "Changes") return
        for (const contacts of [entry.created, entry.changed, entry.deleted]) made += contacts?.length ?? 0
      })
    )
    return isUnknown || made > 0
  },
  Effect.catchTag("RunTaken", () => Effect.succeed(true))
)

/** Runs a command with a `ContactsService` that records what it changes. `expected`: about how many contacts. */
export const recorded = Effect.fnUntraced(function* <A, E, R>(
  { command, expected }: { readonly command: string; readonly expected: number },
  use: Effect.Effect<A, E, R>
) {
  const log = yield* RunLog
  const run = yield* log.open({ command })
  const contacts = yield* recordedContacts({ run, expected, snapshot: yield* contactsFile })
  return yield* Effect.ensuring(Effect.provideService(use, ContactsService, contacts), Effect.ignore(run.end))
}, Effect.scoped)
