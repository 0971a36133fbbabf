/**
 * The runs of the page: what was done, what one of them changed, by pages, and its undo, which is previewed first. All of it
 * is read from the log of runs, so a run of any size is shown without being held.
 */
import {
  listRuns,
  previewUndo,
  runChanges,
  type RunChange,
  RunLog,
  type UndoneContact,
  type UndoReport
} from "@roster/workflows"
import { Effect, Stream } from "effect"
import { Atom } from "effect/reactivity"
import { pageSize } from "../kit/Pager.tsx"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"

/** The runs. They are read again while one looks, since another tab or a command may be at one. */
export const runs = Atom.withRefresh(Atom.withReactivity(contactsChanged)(runtime.atom(listRuns)), "5 seconds")

/** The run that is open, by its id. */
export const opened = Atom.keepAlive(Atom.make<string | undefined>(undefined))

/** The place of the first of its changes that are shown. */
export const first = Atom.keepAlive(Atom.make(0))

/** A page of what a run changed. */
export interface ChangesPage {
  readonly total: number
  readonly changes: ReadonlyArray<RunChange>
}

/** Reads a page of what a run changed. */
export const readChanges = Effect.fnUntraced(function* (id: string, first: number, size: number) {
  const { changes, total } = yield* runChanges(yield* (yield* RunLog).read(id))
  const shown = yield* Stream.runCollect(Stream.take(changes(first), size))
  const read: ChangesPage = { total, changes: shown }
  return read
})

/** What the open run changed. */
export const changes = Atom.withReactivity(contactsChanged)(
  runtime.atom((get) => {
    const id = get(opened)
    const place = get(first)
    const size = get(pageSize)
    return id === undefined ? Effect.never : readChanges(id, place, size)
  })
)

/** Maximum number of contacts that a preview shows of those that others changed, and of the others. */
export const mostPreviewed = 5000

/** What an undo would do. */
export interface UndoPreview {
  readonly run: string
  readonly report: UndoReport
  /** How many contacts others changed, and deleted, since. */
  readonly since: { readonly Changed: number; readonly Deleted: number }
  /** The first contacts, those of which something stays before the others. */
  readonly contacts: ReadonlyArray<UndoneContact>
}

/** How many contacts a preview has come to. */
export const progress = Atom.keepAlive(Atom.make(0))

/** Looks what an undo of a run would do. */
export const lookUndo = runtime.fn((id: string, get) =>
  Effect.gen(function* () {
    const since = { Changed: 0, Deleted: 0 }
    const left: Array<UndoneContact> = []
    const others: Array<UndoneContact> = []
    let done = 0
    get.set(progress, 0)
    const report = yield* previewUndo(id, {
      onContacts: (contacts) =>
        Effect.sync(() => {
          for (const contact of contacts) {
            if (contact.since !== undefined) since[contact.since]++
            const shown = contact.since === undefined && contact.step !== "Unwritable" ? others : left
            if (shown.length < mostPreviewed) shown.push(contact)
          }
          done += contacts.length
          get.set(progress, done)
        })
    })
    const preview: UndoPreview = { run: id, report, since, contacts: [...left, ...others] }
    return preview
  })
)
