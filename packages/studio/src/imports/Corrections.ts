/** Rejected rows that a person corrects: the one that is open, what an import would make of it, and what was kept or proposed. */
import { makeRowCheck, type RowCells, type RowCheck } from "@roster/domain/internal"
import { Result } from "effect"
import { AsyncResult, Atom, type AtomRegistry } from "effect/reactivity"
import * as ImportFile from "./ImportFile.ts"
import * as ImportPlan from "./ImportPlan.ts"
import type { ProposedCorrection, ShownRow } from "./thread/ImportCalls.ts"

/** A row that is being corrected. */
export interface OpenRow {
  /** The plan that rejects it. */
  readonly plan: string
  readonly line: number
  /** The cells as the file has them. */
  readonly before: RowCells
  /** The cells as they are now. */
  readonly cells: RowCells
}

const opened = Atom.keepAlive(Atom.make<OpenRow | undefined>(undefined))

/** The row of the plan that is being corrected. */
export const openRow = Atom.writable(
  (get): OpenRow | undefined => {
    const row = get(opened)
    return row?.plan === get(ImportPlan.planned)?.id ? row : undefined
  },
  (context, row: OpenRow | undefined) => context.set(opened, row)
)

/** Opens a rejected row: as it was corrected, as it is proposed, or as it is. */
export const open = (registry: AtomRegistry.AtomRegistry, { cells = [], line, proposal }: ShownRow): void =>
  registry.set(openRow, {
    plan: registry.get(ImportPlan.planned)?.id ?? "",
    line,
    before: cells,
    cells: registry.get(ImportPlan.corrections).get(line) ?? proposal ?? cells
  })

/** Writes into a cell of the row that is open. */
export const write = (registry: AtomRegistry.AtomRegistry, at: number, text: string): void => {
  const row = registry.get(openRow)
  if (row !== undefined) registry.set(openRow, { ...row, cells: row.cells.with(at, text) })
}

/** Takes a cell out of the row that is open, and moves the later ones to the left. */
export const removeCell = (registry: AtomRegistry.AtomRegistry, at: number): void => {
  const row = registry.get(openRow)
  if (row !== undefined) registry.set(openRow, { ...row, cells: row.cells.toSpliced(at, 1) })
}

/** The headings of the file of the plan. */
export const headings = Atom.readable((get): RowCells => get(ImportPlan.planned)?.header?.cells ?? [])

const check = Atom.readable((get): RowCheck | undefined => {
  const header = get(ImportPlan.planned)?.header
  return header === undefined ? undefined : makeRowCheck(header, get(ImportFile.mapping))
})

/** What an import would make of the row that is open. */
export interface Found {
  /** The address of the contact; `undefined` while there is none. */
  readonly email?: string
  /** Why there is none. */
  readonly problem?: string
}

/** What an import would make of the row that is open, at once. */
export const found = Atom.readable((get): Found => {
  const row = get(openRow)
  const read = row === undefined ? undefined : get(check)?.read(row.cells)
  if (read === undefined) return {}
  return Result.isSuccess(read) ? { email: read.success.email } : { problem: read.failure.reason }
})

const change = (
  registry: AtomRegistry.AtomRegistry,
  rows: Iterable<readonly [line: number, cells: RowCells | undefined]>
): void => {
  const changed = new Map(registry.get(ImportPlan.corrections))
  for (const [line, cells] of rows) {
    if (cells === undefined) changed.delete(line)
    else changed.set(line, cells)
  }
  registry.set(ImportPlan.corrections, new Map([...changed].toSorted(([one], [other]) => one - other)))
}

/** Keeps the row that is open as it is now, and closes it. */
export const keep = (registry: AtomRegistry.AtomRegistry): void => {
  const row = registry.get(openRow)
  if (row === undefined || registry.get(found).email === undefined) return
  change(registry, [[row.line, row.cells]])
  registry.set(openRow, undefined)
}

/** Leaves a row as the file has it. */
export const takeBack = (registry: AtomRegistry.AtomRegistry, line: number): void =>
  change(registry, [[line, undefined]])

/** The proposals for rows that are not corrected yet. */
export const proposed = Atom.readable((get): ReadonlyArray<ProposedCorrection> => {
  const kept = get(ImportPlan.corrections)
  return AsyncResult.getOrElse(get(ImportPlan.proposals), () => []).filter(({ line }) => !kept.has(line))
})

/** Corrects rows as it is proposed. */
export const accept = (registry: AtomRegistry.AtomRegistry, rows: ReadonlyArray<ProposedCorrection>): void =>
  change(
    registry,
    rows.map(({ after, line }) => [line, after] as const)
  )

/** The cells that differ, each with what stood there; of a row that lost a cell, all behind it. */
export const differences = (
  { after, before }: Pick<ProposedCorrection, "after" | "before">,
  names: RowCells
): ReadonlyArray<readonly [name: string, before: string, after: string]> =>
  before.length === after.length
    ? after.flatMap((cell, at) => (cell === before[at] ? [] : [[names[at] ?? "", before[at] ?? "", cell] as const]))
    : [["", before.join(" | "), after.join(" | ")]]
