/** The record of a run: what a command changed, so that it can be undone. (docs/decisions/undo.md) */
import type { StoreFailure } from "@roster/domain"
import type { Effect } from "effect"
import { isMetadata } from "./ContactState.ts"
import type { RunCounts, RunEntry } from "../runs/RunEntry.ts"

/** Maximum number of contacts that a preview, a refusal or a report names. */
export const maximumNamedContacts = 20

/** The changes of one call. */
export type RunChanges = Extract<RunEntry, { readonly _tag: "Changes" }>

/** The storage of a record. A line that `append` returned from survives a power failure. */
export interface RecordLog {
  readonly append: (entry: RunEntry) => Effect.Effect<void, StoreFailure>
}

/** The counts of a run that has changed nothing. */
export const noCounts: RunCounts = { created: 0, changed: 0, deleted: 0 }

/** The counts of an entry. */
export const countsOf = (entry: RunEntry): RunCounts =>
  entry._tag === "Changes"
    ? {
        created: entry.created?.length ?? 0,
        changed: entry.changed?.filter(({ fields }) => !Object.keys(fields).every(isMetadata)).length ?? 0,
        deleted: entry.deleted?.length ?? 0
      }
    : noCounts

/** The sum of counts. */
export const sumOf = (one: RunCounts, other: RunCounts): RunCounts => ({
  created: one.created + other.created,
  changed: one.changed + other.changed,
  deleted: one.deleted + other.deleted
})
