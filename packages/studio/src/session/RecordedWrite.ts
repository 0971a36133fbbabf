/** Writes of the page: each is a run in the log, so that it can be undone, and asks for what it changed again. */
import { changeAsRun, RunOrigin, undoRun } from "@roster/workflows"
import { Effect } from "effect"
import { people } from "../kit/Counts.ts"
import { contactsChanged } from "./Changes.ts"
import { runtime } from "./Session.ts"

/** Says of the runs of an effect which contacts they are of. */
export const about = (emails: ReadonlyArray<string>) =>
  Effect.provideService(RunOrigin, { about: emails.length === 1 ? emails.join("") : people(emails.length) })

/** Makes one change of one contact as a run. */
export const asRun = (...[change, options]: Parameters<typeof changeAsRun>) =>
  about([change.email])(changeAsRun(change, options))

/** Undoes a run, by its id. */
export const undo = runtime.fn((run: string) => undoRun(run), { reactivityKeys: contactsChanged })
