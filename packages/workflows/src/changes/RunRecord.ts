/** The record of a run: what a command changed, so that it can be undone. (docs/decisions/undo.md) */
import type { StoreFailure } from "@roster/domain"
import { type Effect, Schema } from "effect"
import { ContactState, FieldChanges, isMetadata } from "../runs/ContactState.ts"

/** Maximum number of contacts that a preview, a refusal or a report names. */
export const maximumNamedContacts = 20

/** The command that began a run, its target and its time. */
export const RunHeader = Schema.Struct({
  id: Schema.String,
  /** The command, such as `import`. */
  command: Schema.String,
  /** The name of the service or store. */
  target: Schema.String,
  /** When it began, as ISO 8601. */
  began: Schema.String,
  /** The run that this one undoes. */
  undoes: Schema.optionalKey(Schema.String)
})
export interface RunHeader extends Schema.Schema.Type<typeof RunHeader> {}

const Changed = Schema.Struct({
  email: Schema.String,
  fields: FieldChanges,
  /** The digest of what it became, without dates and activity. */
  after: Schema.String,
  /** Its id in its store, which another contact of the same address does not have. */
  id: Schema.optionalKey(Schema.Finite)
})
/** A contact whose fields a run changed. */
export type Changed = typeof Changed.Type

/** A line of a record, written before its changes are. What is absent is empty. */
export const RunEntry = Schema.TaggedUnion({
  Changes: {
    /** The addresses of new contacts, each with the digest of what it became. */
    created: Schema.optionalKey(Schema.Array(Schema.Tuple([Schema.String, Schema.String]))),
    changed: Schema.optionalKey(Schema.Array(Changed)),
    deleted: Schema.optionalKey(Schema.Array(ContactState))
  },
  /** A change whose contacts are not known, such as a file that the service imported itself. */
  Unknown: { what: Schema.String },
  /** The end of the run. */
  Ended: { created: Schema.Int, changed: Schema.Int, deleted: Schema.Int }
})
export type RunEntry = typeof RunEntry.Type

/** The changes of one call. */
export type RunChanges = Extract<RunEntry, { readonly _tag: "Changes" }>

/** The storage of a record. A line that `append` returned from survives a power failure. */
export interface RunLog {
  readonly append: (entry: RunEntry) => Effect.Effect<void, StoreFailure>
}

/** How many contacts a run created, changed (not only in their dates) and deleted. */
export interface RunCounts {
  readonly created: number
  readonly changed: number
  readonly deleted: number
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
