/** The plan of an import: with the rows that a person has corrected, listed by what they would do, and as a command. */
import type { RowCells } from "@roster/domain/internal"
import { importCommand, type RosterCommand } from "@roster/workflows"
import { Effect, Redacted, Stream, Struct } from "effect"
import { AsyncResult, Atom, type AtomRegistry } from "effect/reactivity"
import { download } from "../kit/Download.ts"
import { pageSize } from "../kit/Pager.tsx"
import { otherKey } from "../session/Connection.ts"
import { type Session, session, targetOf } from "../session/Session.ts"
import { importTexts } from "../texts/ImportTexts.ts"
import {
  beside,
  columns,
  edits,
  file,
  listNames,
  mapping,
  reading,
  resubscribe,
  rowChoices,
  said,
  seen,
  sight,
  type ThreadEnded,
  threadEnded,
  threadRuntime
} from "./ImportFile.ts"
import { choiceProblem, constantProblem, rowProblem } from "./ImportChoices.ts"
import { countsOf } from "./ImportWords.ts"
import type { Reading } from "./thread/FileSight.ts"
import type {
  ImportProblem,
  Planned,
  PlanProgress,
  RowKind,
  RowsFileRequest,
  ShownCause
} from "./thread/ImportCalls.ts"
import * as Thread from "./thread/ImportThread.ts"

/** What the thread needs to have the services of the session itself. */
export const connectionOf = (current: Session | undefined, key = current?.key) => ({
  target: current === undefined ? "memory" : targetOf(current),
  ...(current === undefined || key === undefined
    ? {}
    : { connection: { baseUrl: current.baseUrl, key: Redacted.value(key) } })
})

/** Cells that a person has corrected, by the lines of their rows, and how the file was read that they are of. */
interface Corrected {
  readonly of: Reading
  readonly rows: ReadonlyMap<number, RowCells>
}

const nothing: Corrected["rows"] = new Map<number, RowCells>()
const corrected = Atom.keepAlive(Atom.make<Corrected>({ of: {}, rows: nothing }))

/** The cells that a person has corrected, by the lines of their rows; none once the file is read in another way. */
export const corrections = Atom.writable(
  (get): Corrected["rows"] => {
    const { of, rows } = get(corrected)
    return of === get(reading) ? rows : nothing
  },
  (context, rows: Corrected["rows"]) => context.set(corrected, { of: context.get(reading), rows })
)

/** The corrections that the plan takes in. */
const plannedCorrections = Atom.keepAlive(Atom.make(nothing))

/** The number of rows that were corrected, or taken back, since the plan was made. */
export const unplanned = Atom.readable((get): number => {
  const [now, then] = [get(corrections), get(plannedCorrections)]
  const lines = new Set([...now.keys(), ...then.keys()])
  return [...lines].filter((line) => now.get(line) !== then.get(line)).length
})

/** Why no plan can be made of what is said, in words, or `undefined`. */
export const saidProblem = Atom.readable((get): string | undefined => {
  if (get(seen) === undefined) return undefined
  const of = get(columns)
  return choiceProblem(of) ?? constantProblem(get(edits).constants, of) ?? rowProblem(get(rowChoices))
})

/** Whether a plan can be made: the file is read, and what is said of it is clear. */
export const isReady = Atom.readable((get): boolean => {
  const found = get(sight)
  const isRead = AsyncResult.isSuccess(found) && !found.waiting && found.value.isComplete
  return isRead && get(saidProblem) === undefined
})

/** What was said when the plan was begun. */
const plannedSaid = Atom.keepAlive(Atom.make<ReadonlyArray<unknown>>([]))

/** Whether the plan is of what is said now. */
const isCurrent = Atom.readable((get): boolean => {
  const then = get(plannedSaid)
  return get(said).every((value, at) => value === then[at])
})

/** Makes the plan; gives how far it is, and in the end the plan. It ends when something else is said. */
export const plan = Atom.keepAlive(
  threadRuntime.fn((_: void, get) => {
    const chosen = get(file)
    const current = get(session)
    get.set(plannedCorrections, get(corrections))
    get.set(plannedSaid, get(said))
    const changed = Stream.runHead(get.stream(said, { withoutInitialValue: true }))
    return Stream.unwrap(
      Effect.map(Thread.ImportThread, (client): Stream.Stream<PlanProgress, ImportProblem | ThreadEnded> => {
        if (chosen === undefined) return Stream.empty
        return Stream.mapError(
          client.Plan({
            file: chosen,
            sheet: get(seen)?.reading.sheet,
            mapping: get(mapping),
            listNames: get(listNames),
            resubscribe: get(resubscribe),
            mode: Struct.pick(get(rowChoices), ["only", "defaultStatus"]),
            onDuplicate: get(rowChoices).onDuplicate,
            corrections: get(corrections),
            ...connectionOf(current, get(otherKey) ?? current?.key)
          }),
          threadEnded
        )
      })
    ).pipe(Stream.interruptWhen(changed))
  })
)

/** Whether the plan of what is said now is being made. */
export const isPlanning = Atom.readable((get): boolean => {
  const result = get(plan)
  const isMade = AsyncResult.isSuccess(result) && result.value._tag === "Planned"
  return result.waiting && !isMade && get(isCurrent)
})

/** The plan of what is said now, once it is made. */
export const planned = Atom.readable((get): Planned | undefined => {
  const result = get(plan)
  return AsyncResult.isSuccess(result) && result.value._tag === "Planned" && get(isCurrent)
    ? result.value.planned
    : undefined
})

/** The rows of the plan that are shown. */
export const shownKind = Atom.keepAlive(Atom.make<RowKind>("new"))

/** Of the rejected rows, those of the cause that is shown; all without one. */
export const shownCause = Atom.keepAlive(Atom.make<ShownCause | undefined>(undefined))

/** The place of the first of them that are shown. */
export const shownFirst = Atom.keepAlive(Atom.make(0))

/** The rows of the plan that are shown. */
export const rows = threadRuntime.atom((get) => {
  const made = get(planned)
  const kind = get(shownKind)
  const offset = get(shownFirst)
  const limit = get(pageSize)
  const cause = kind === "rejected" ? get(shownCause) : undefined
  if (made === undefined) return Effect.never
  return Thread.ImportThread.use((client) => client.Rows({ plan: made.id, kind, cause, offset, limit })).pipe(
    Effect.mapError(threadEnded)
  )
})

/** The rejected rows of the plan that have a slip, with the slip put right. */
export const proposals = threadRuntime.atom((get) => {
  const made = get(planned)
  if (made === undefined) return Effect.never
  return Thread.ImportThread.use((client) => client.Proposals({ plan: made.id })).pipe(Effect.mapError(threadEnded))
})

/** The number of rows that can be shown so. */
export const shownTotal = Atom.readable((get): number => {
  const made = get(planned)
  const kind = get(shownKind)
  const shown = get(shownCause)
  if (made === undefined) return 0
  if (kind !== "rejected" || shown === undefined) return countsOf(made)[kind]
  return made.summary.causes?.find(({ cause, column }) => cause === shown.cause && column === shown.column)?.count ?? 0
})

/** Shows rows of a kind from the first; of the rejected ones those of a cause, or all. */
export const showRows = (registry: AtomRegistry.AtomRegistry, kind: RowKind, cause?: ShownCause): void => {
  registry.set(shownFirst, 0)
  registry.set(shownKind, kind)
  registry.set(shownCause, cause)
}

/** The file of rejected or repeated rows. */
export const rowsFileOf = (request: RowsFileRequest) =>
  Thread.ImportThread.use((client) => client.RowsFile(request)).pipe(Effect.mapError(threadEnded))

/** Saves the rejected or repeated rows as a file. */
export const saveRows = threadRuntime.fn((request: RowsFileRequest, get) => {
  const isJson = request.of === "rejected" && get(planned)?.header?.format !== undefined
  const name = `${get(file)?.name ?? "contacts"}.${request.of}.${isJson ? "ndjson" : "csv"}`
  return Effect.map(rowsFileOf(request), (content) => download(name, content))
})

/** Why the plan is not applied, in words, though it could be. */
export const refusal = Atom.readable((get): string | undefined => {
  if (get(unplanned) > 0) return importTexts.correctedSince
  return get(rowChoices).failsOnWarning &&
    get(planned)?.summary.warnings?.some(({ code }) => code !== "DefaultStatus") === true
    ? importTexts.isOdd
    : undefined
})

/** The commands that do the same: the one that makes the plan, unless rows are corrected, and the one that applies it. */
export const commands = Atom.readable((get): ReadonlyArray<RosterCommand> => {
  const name = get(file)?.name
  if (name === undefined) return []
  const { defaultStatus, failsOnWarning, onDuplicate, only } = get(rowChoices)
  const plan = beside(name, ".plan.json")
  const apply: RosterCommand = { program: "contacts apply", given: [plan], values: { skipChanged: true } }
  if (get(corrections).size > 0) return [apply]
  const importing = importCommand(name, {
    sheet: get(seen)?.reading.sheet,
    mapping: Object.keys(get(mapping)).length > 0 ? beside(name, ".mapping.json") : undefined,
    listNames: get(listNames),
    newField: get(edits).newFields.length > 0 ? true : undefined,
    resubscribe: get(resubscribe),
    only,
    defaultStatus,
    onDuplicate,
    failOnWarning: failsOnWarning,
    plan
  })
  return [importing, apply]
})
