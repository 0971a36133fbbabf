/** Writes of the page: each is a run in the log, so that it can be undone, and asks for what it changed again. */
import type { ContactsService } from "@roster/domain"
import { recordedContacts, RunLog, RunOrigin, undoRun } from "@roster/workflows"
import { Effect } from "effect"
import { people } from "../kit/Counts.ts"
import { contactsChanged } from "./Changes.ts"
import { runtime } from "./Session.ts"

/** Runs writes that are recorded as one run of some contacts, and gives its id. */
export const asRun = Effect.fnUntraced(function* <A, E, R>(
  command: string,
  emails: ReadonlyArray<string>,
  write: (contacts: ContactsService["Service"]) => Effect.Effect<A, E, R>
) {
  const about = emails.length === 1 ? emails.join("") : people(emails.length)
  const opening = (yield* RunLog).open({ command, resume: false })
  const run = yield* Effect.provideService(opening, RunOrigin, { about })
  const recording = yield* recordedContacts({ run })
  const value = yield* Effect.ensuring(write(recording), Effect.ignore(run.end))
  return { run: run.header.id, value }
}, Effect.scoped)

/** Undoes a run, by its id. */
export const undo = runtime.fn((run: string) => undoRun(run), { reactivityKeys: contactsChanged })
