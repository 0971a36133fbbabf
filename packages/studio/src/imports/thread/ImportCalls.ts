/** What the page asks of the thread that reads files: what is in one, what importing it would do, and its rows. */
import type { AddMode, ImportMapping, OnDuplicate } from "@roster/domain"
import type { RowCells } from "@roster/domain/internal"
import type { PlanSummary, UploadSurvey } from "@roster/workflows"
import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { Transferable } from "effect/workers"
import type { FileSight, Reading } from "./FileSight.ts"

/** Why a file cannot be read, or its import not be planned, in the words of the domain. */
export class ImportProblem extends Schema.TaggedError<ImportProblem>()("ImportProblem", {
  message: Schema.String
}) {}

/** What the thread says of an error, which does not go between threads as it is. */
export const problemOf = ({ message }: { readonly message: string }) => new ImportProblem({ message })

/** A value that goes to the thread, or comes from it, unchecked: the two ends of a call are one program. */
const plain = <A>() =>
  Transferable.schema(
    Schema.declare((value): value is A => value !== undefined),
    () => []
  )

/** What opens the services, in the thread as on the page. */
export interface Connection {
  readonly baseUrl: string
  readonly key: string
}

/** What is to be planned. */
export interface PlanRequest {
  readonly file: Blob
  /** The sheet of a workbook, by its name or number (default: the first). */
  readonly sheet?: string | undefined
  readonly mapping: ImportMapping
  readonly listNames: ReadonlyArray<string>
  readonly resubscribe: boolean
  /** Which contacts are written to, and the status of new ones. */
  readonly mode: AddMode
  /** Which row of an address is imported. */
  readonly onDuplicate: OnDuplicate
  /** The cells of rows that a person has corrected, by their lines. */
  readonly corrections: ReadonlyMap<number, RowCells>
  /** The name of the service or store. */
  readonly target: string
  /** Absent in tests, whose thread has services of its own. */
  readonly connection?: Connection | undefined
}

/** A plan that was made. The thread keeps it, to list its rows, until it makes another. */
export interface Planned {
  readonly id: string
  readonly summary: PlanSummary
  /** The file of the plan, which `roster contacts apply` reads too. */
  readonly content: Blob
  /** Tells the rows of the file from those of others. */
  readonly digest: string
  /** The header of the file. */
  readonly header: UploadSurvey["header"]
  /** The number of rows whose contacts keep their status and that the plan can list. */
  readonly kept: number
}

/** How far a plan is. */
export type PlanProgress =
  | { readonly _tag: "Reading"; readonly rows: number }
  | { readonly _tag: "Planning"; readonly rows: number; readonly total: number }
  | { readonly _tag: "Planned"; readonly planned: Planned }

/** The kinds of rows of a plan. */
export type RowKind = "new" | "changed" | "alreadySo" | "rejected" | "duplicates" | "kept" | "leftOut"

/** A row of a plan, as it is shown. */
export interface ShownRow {
  readonly line: number
  readonly email: string
  /** Old and new values by the names of fields; the old ones of a new contact are `null`. */
  readonly fields: ReadonlyArray<readonly [name: string, old: string | null, now: string | null]>
  /** The fields of which only the form changes. */
  readonly onlyForm?: ReadonlyArray<string>
  /** Why the row is not imported. */
  readonly reason?: string
  /** The status that the contact keeps in place of that of the row. */
  readonly keptStatus?: string
  /** The address that would do. */
  readonly suggestion?: string
  /** The cells of a rejected row, which a person can correct. */
  readonly cells?: RowCells
  /** Those cells with a slip put right. */
  readonly proposal?: RowCells
}

/** Rows that are rejected for one cause. */
export interface ShownCause {
  readonly cause: string
  readonly column: string | undefined
}

/** A rejected row, and the same with a slip put right. */
export interface ProposedCorrection {
  readonly line: number
  readonly before: RowCells
  readonly after: RowCells
}

/** Asks for rows of the plan that was made last. */
export interface RowsRequest {
  readonly plan: string
  readonly kind: RowKind
  /** Of the rejected rows those of one cause (default: all). */
  readonly cause?: ShownCause | undefined
  readonly offset: number
  readonly limit: number
}

/** Asks for a file of rows that are not imported. */
export interface RowsFileRequest {
  readonly plan: string
  readonly of: "rejected" | "duplicates"
}

/** The calls. */
export const ImportCalls = RpcGroup.make(
  Rpc.make("Look", {
    payload: plain<{ readonly file: Blob; readonly reading: Reading }>(),
    success: plain<FileSight>(),
    error: ImportProblem,
    stream: true
  }),
  Rpc.make("Plan", {
    payload: plain<PlanRequest>(),
    success: plain<PlanProgress>(),
    error: ImportProblem,
    stream: true
  }),
  Rpc.make("Rows", { payload: plain<RowsRequest>(), success: plain<ReadonlyArray<ShownRow>>(), error: ImportProblem }),
  Rpc.make("Proposals", {
    payload: plain<{ readonly plan: string }>(),
    success: plain<ReadonlyArray<ProposedCorrection>>(),
    error: ImportProblem
  }),
  Rpc.make("RowsFile", { payload: plain<RowsFileRequest>(), success: plain<Blob>(), error: ImportProblem })
)
