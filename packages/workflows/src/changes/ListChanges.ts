/** Lists that a write would make, and the deletion of one as a run, so that it can be undone. (docs/decisions/lists.md) */
import { type InvalidInput, type ListNotFound, ListsService, type RunTaken, type ServiceError } from "@roster/domain"
import { quoted, slipOf } from "@roster/domain/DidYouMean"
import { FieldNames, fnRedacted } from "@roster/domain/internal"
import { Effect } from "effect"
import { recordUnknown } from "../runs/RecordedChanges.ts"
import type { RunLogFailure } from "../runs/RecordedRun.ts"
import { RunLog } from "../runs/RunLog.ts"

/** A list that there is none of yet, and the one whose name it misses by one letter or by two swapped ones. */
export interface NewList {
  /** Its name, as it is given. */
  readonly name: string
  /** The list that may be meant; `undefined` if none is so near. */
  readonly near: string | undefined
}

/** Those of some names that no known list has: a write with one of them makes it. */
export const newListsAmong = (names: ReadonlyArray<string>, known: Iterable<string>): ReadonlyArray<NewList> => {
  const spellings = new Map(Array.from(known, (name) => [FieldNames.foldName(name), name]))
  return names
    .filter((name) => !spellings.has(FieldNames.foldName(name.trim())))
    .map((name) => ({ name, near: slipOf(name, spellings.values()) }))
}

/** What is said of a new list whose name is nearly that of another list. */
export const newListWords = ({ name, near }: NewList): string =>
  `there is no list ${quoted(name)}${near === undefined ? "" : `; did you mean ${quoted(near)}?`}`

/** A list that was deleted. */
export interface DeletedList {
  /** The run, for `undoRun`, which makes the list again and puts its contacts on it. */
  readonly run: string
  /** The number of contacts that were on it; `undefined` at a service that does not tell, where no undo brings them back. */
  readonly contacts: number | undefined
}

/**
 * Deletes a list as a run. The contacts on it stay, and are taken off it.
 *
 * ```ts
 * import { ListsService } from "@roster/domain"
 * import { deleteListAsRun, undoRun } from "@roster/workflows"
 * import { Effect } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   yield* ListsService.use((lists) => lists.create({ listName: "newsletter", emails: ["ada@example.com"] }))
 *   const { contacts, run } = yield* deleteListAsRun("newsletter")
 *   return contacts === 0 ? undefined : yield* undoRun(run)
 * })
 * ```
 */
export const deleteListAsRun = fnRedacted("deleteListAsRun")(function* (
  name: string
): Effect.fn.Return<
  DeletedList,
  ListNotFound | InvalidInput | RunTaken | RunLogFailure | ServiceError,
  ListsService | RunLog
> {
  const lists = yield* ListsService
  const log = yield* RunLog
  const { id, takesEntries } = yield* Effect.scoped(
    Effect.gen(function* () {
      const run = yield* log.open({ command: "lists delete" })
      yield* recordUnknown(run, "who was on the list that was deleted")
      yield* Effect.ensuring(run.write(lists.delete(name)), Effect.ignore(run.end))
      return { id: run.header.id, takesEntries: run.takesEntries }
    })
  )
  if (takesEntries) return { run: id, contacts: undefined }
  const { counts } = yield* log
    .read(id)
    .pipe(Effect.catchTag("RunNotFound", () => Effect.succeed({ counts: noCounts })))
  return { run: id, contacts: counts.changed }
})

/** A run that changed nothing leaves nothing in the log. */
const noCounts = { changed: 0 }
