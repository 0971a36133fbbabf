/** The entries of a run. What is absent is empty. */
import { ContactState, FieldChanges, type Named, StatusDate } from "@roster/domain"
import { ContactStates } from "@roster/domain/internal"
import { Schema } from "effect"

const Changed = Schema.Struct({
  /** The address of the contact. */
  email: Schema.String,
  /** What each changed field was before and is after. */
  fields: FieldChanges,
  /** The digest of what it became. */
  after: Schema.String,
  /** Its id in its store, in records of version 1. */
  id: Schema.optionalKey(Schema.Finite)
})
/** A contact whose fields a run changed. */
export type Changed = typeof Changed.Type

/** An entry of a run. */
export const RunEntry = Schema.TaggedUnion({
  /** What the next write changes, on the disk before it is sent. */
  Changes: {
    /** When the write was about to be sent, in milliseconds since 1970. */
    at: Schema.optionalKey(Schema.Int),
    /** The addresses of new contacts, each with the digest of what it became. */
    created: Schema.optionalKey(Schema.Array(Schema.Tuple([Schema.String, Schema.String]))),
    /** The digests of the fields of each of `created`, in their order (`ContactStates.partsOf`). */
    parts: Schema.optionalKey(Schema.Array(Schema.String)),
    /** The changed contacts, each with its fields before and after. */
    changed: Schema.optionalKey(Schema.Array(Changed)),
    /** The deleted contacts, as they were. */
    deleted: Schema.optionalKey(Schema.Array(ContactState))
  },
  /** The times of the statuses that writes gave, and of those of contacts that got no mail and were deleted. */
  StatusesGiven: { dates: Schema.Array(Schema.Struct({ email: Schema.String, ...StatusDate.fields })) },
  /** Changes of the entries before that were not made, since others had changed the contacts. */
  NotMade: { emails: Schema.Array(Schema.String) },
  /** The outcome of rows, in records of earlier versions: nothing goes on by it. */
  Answered: {},
  /** A change whose contacts are not known, such as a file that the service imported itself. */
  Unknown: { what: Schema.String },
  /** How far a program of other steps is, such as a rotation: the last one counts. It holds no secret. */
  Step: { state: Schema.Json },
  /** The end of the run. */
  Ended: { created: Schema.Int, changed: Schema.Int, deleted: Schema.Int }
})
export type RunEntry = Named<typeof RunEntry.Type>

/** An entry that is appended. The end is written by `Run.end` alone. */
export type AppendedEntry = Exclude<RunEntry, { readonly _tag: "Ended" }>

/** How many contacts a run created, changed (not only in their dates) and deleted. */
export interface RunCounts {
  /** The number of contacts that the run created. */
  readonly created: number
  /** The number of contacts that the run changed, not only in their dates. */
  readonly changed: number
  /** The number of contacts that the run deleted. */
  readonly deleted: number
}

/** The counts of a run that has changed nothing. */
export const noCounts: RunCounts = { created: 0, changed: 0, deleted: 0 }

/** How many of the last writes of a process may have no answer, or be found not made. */
export const maximumUnderWay = 64

/** The entry of a write. */
export type Changes = Extract<RunEntry, { readonly _tag: "Changes" }>

/** The addresses of an entry by what it does with them. Of what changes in dates alone nothing is counted. */
const addressesOf = ({ changed = [], created = [], deleted = [] }: Changes) => ({
  created: created.map(([email]) => email),
  changed: changed
    .filter(({ fields }) => !Object.keys(fields).every(ContactStates.isMetadata))
    .map(({ email }) => email),
  deleted: deleted.map(ContactStates.emailOf)
})

/** Counts the changes of the entries of a run, which are given in their order. */
export const makeRunCounter = () => {
  let counts = noCounts
  let made = 0
  const recent: Array<Changes> = []
  const add = (
    by: ReturnType<typeof addressesOf>,
    sign: 1 | -1,
    isCounted: (email: string) => boolean = () => true
  ) => {
    const sum = (kind: keyof RunCounts) => counts[kind] + sign * by[kind].filter(isCounted).length
    counts = { created: sum("created"), changed: sum("changed"), deleted: sum("deleted") }
  }
  return {
    counts: () => counts,
    /** Whether anything was changed, of which the counts leave out lists. */
    hasChanged: () => made > 0 || counts.created + counts.changed + counts.deleted > 0,
    add: (entry: RunEntry): void => {
      switch (entry._tag) {
        case "Changes": {
          add(addressesOf(entry), 1)
          made += (entry.created?.length ?? 0) + (entry.changed?.length ?? 0) + (entry.deleted?.length ?? 0)
          if (recent.unshift(entry) > maximumUnderWay) recent.pop()
          return
        }
        case "NotMade": {
          const left = new Set(entry.emails)
          made -= entry.emails.length
          // Of several writes to a contact only the last can have found it changed by others.
          for (const changes of recent) add(addressesOf(changes), -1, (email) => left.delete(email))
          return
        }
        case "Ended": {
          counts = { created: entry.created, changed: entry.changed, deleted: entry.deleted }
        }
      }
    }
  }
}
