/**
 * The application of a plan: its progress, its report, and a note of it that outlives a reload of its tab: without
 * names or addresses, only how many rows there are and a digest by which their file is recognised.
 */
import { loadPlan, RunOrigin } from "@roster/workflows"
import { Effect, Schema, Stream } from "effect"
import { AsyncResult, Atom, type AtomRegistry } from "effect/reactivity"
import { askWhile } from "../session/Unsaved.tsx"
import { contactsChanged } from "../session/Changes.ts"
import { isComplete, runEnd } from "../session/RunEnd.ts"
import { runtime, session } from "../session/Session.ts"
import * as Choices from "./ImportChoices.ts"
import { edits, file, lists, reading, rowChoices } from "./ImportFile.ts"
import { connectionOf, corrections, plan, showRows } from "./ImportPlan.ts"
import { bytesOf } from "./thread/BlobBytes.ts"
import type { Planned } from "./thread/ImportCalls.ts"

// The note

/** An import that was going on. */
export const LeftImport = Schema.Struct({
  /** The name of the service or store. */
  target: Schema.String,
  /** Tells the rows of its file from those of others. */
  digest: Schema.String,
  /** The number of rows that it was to apply. */
  rows: Schema.Int
})
export interface LeftImport extends Schema.Schema.Type<typeof LeftImport> {}

/** The storage of a tab. */
export type NoteStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">

const key = "roster.import"
const text = Schema.fromJsonString(LeftImport)
const encode = Schema.encodeSync(text)
const decode = Schema.decodeUnknownOption(text)

/** Notes that an import is going on. */
export const leaveNote = (storage: NoteStorage | undefined, note: LeftImport): void =>
  storage?.setItem(key, encode(note))

/** The note of an import on a target that did not come to its end. */
export const readNote = (storage: NoteStorage | undefined, target: string): LeftImport | undefined => {
  const note = decode(storage?.getItem(key))
  return note._tag === "Some" && note.value.target === target ? note.value : undefined
}

// The application

/** Whether an apply waits. */
export const isPaused = Atom.keepAlive(Atom.make(false))

/** Whether an apply was ended, and waits for the answers to what it sent. */
export const isCancelled = Atom.keepAlive(Atom.make(false))

/** The number of rows that were applied. */
export const applied = Atom.keepAlive(Atom.make(0))

/** Holds the apply before its next request, or lets it go on. */
export const pause = (registry: AtomRegistry.AtomRegistry, isHeld: boolean): void => registry.set(isPaused, isHeld)

/** Ends the apply after the requests that are under way, whose answers are still counted. */
export const cancel = (registry: AtomRegistry.AtomRegistry): void => {
  registry.set(isCancelled, true)
  registry.set(isPaused, false)
}

/** Where the page notes that an import is going on; a test has none. */
export const notes = Atom.keepAlive(Atom.make<NoteStorage | undefined>(globalThis.sessionStorage))

/** What was going on when the page was left. */
export const left = Atom.keepAlive(Atom.make<LeftImport | undefined>(undefined))

/** Forgets what was going on: it came to its end, or is undone. */
export const forgetLeft = (registry: AtomRegistry.AtomRegistry): void => {
  registry.get(notes)?.removeItem(key)
  registry.set(left, undefined)
}

/** Browsers open six connections to a service, of which the page needs some. */
const concurrency = 4

/** Applies the plan, or what is left of it. The report is whole however it ends. */
export const apply = Atom.keepAlive(
  runtime.fn(
    Effect.fnUntraced(function* (made: Planned, get: Atom.FnContext) {
      get.set(isPaused, false)
      get.set(isCancelled, false)
      get.set(applied, 0)
      const about = get(file)?.name
      const plan = yield* loadPlan(bytesOf(made.content))
      leaveNote(get(notes), {
        target: connectionOf(get(session)).target,
        digest: made.digest,
        rows: made.summary.new + made.summary.changed + made.summary.onlyLists
      })
      const { listNames, mapping = {}, resubscribe } = plan.header
      const { defaultStatus = null, onDuplicate, only = null } = get(rowChoices)
      const mode = { defaultStatus, onDuplicate, only }
      const goesOn = Stream.filter(get.stream(isPaused), (isHeld) => !isHeld)
      const applying = plan.applyWith({
        command: "import",
        // The same file, planned again after a reload, goes on in the same run, which is undone as a whole.
        input: { source: made.digest, listNames: [...listNames], resubscribe, mapping, ...mode },
        concurrency,
        proceed: Effect.map(Stream.runHead(goesOn), () => !get.registry.get(isCancelled)),
        onProgress: (rows) => Effect.sync(() => get.set(applied, rows))
      })
      const report = yield* applying.pipe(
        Effect.map(({ report }) => report),
        runEnd,
        Effect.provideService(RunOrigin, about === undefined ? {} : { about })
      )
      if (isComplete(report)) forgetLeft(get.registry)
      return report
    }, Effect.scoped),
    { reactivityKeys: contactsChanged }
  )
)

askWhile((registry) => {
  const applied = registry.get(apply)
  if (applied.waiting) return true
  if (registry.get(file) === undefined || (AsyncResult.isSuccess(applied) && isComplete(applied.value))) return false
  // A file is chosen again at once; what was said of it is not said again so soon.
  return (
    registry.get(edits) !== Choices.noEdits ||
    registry.get(rowChoices) !== Choices.usualRows ||
    registry.get(lists) !== "" ||
    registry.get(corrections).size > 0 ||
    !AsyncResult.isInitial(registry.get(plan))
  )
})

// Beginning again

/** Forgets the plan, and its application. */
export const forgetPlan = (registry: AtomRegistry.AtomRegistry): void => {
  registry.set(plan, Atom.Reset)
  registry.set(apply, Atom.Reset)
  showRows(registry, "new")
}

/** Makes a plan of what is said now. */
export const makePlan = (registry: AtomRegistry.AtomRegistry): void => {
  forgetPlan(registry)
  registry.set(plan, undefined)
}

/** Takes a file, and forgets what was said of another. */
export const choose = (registry: AtomRegistry.AtomRegistry, chosen: File | undefined): void => {
  forgetPlan(registry)
  registry.set(edits, Choices.noEdits)
  registry.set(reading, {})
  registry.set(corrections, new Map())
  registry.set(rowChoices, Choices.usualRows)
  registry.set(file, chosen)
}
