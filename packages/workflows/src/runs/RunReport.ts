/**
 * What an upload, an apply or an undo did: one report for all of them. Each row has one outcome, which is counted where it is
 * known, so that the counts add up however the run ends.
 */
import { type Contact, ImportWarning, isMailedStatus, KeptStatusRow, TaggedError } from "@roster/domain"
import { Effect, Schema } from "effect"
import { NamedRejection, RejectionCause } from "./Rejections.ts"
import { type RunHeader } from "./RecordedRun.ts"
import { RunLog } from "./RunLog.ts"

/** Maximum number of contacts that a preview, a refusal or a report names. */
export const maximumNamedContacts = 20

/** A contact that others changed, so that the run left it, or some of its fields. */
export const OutdatedContact = Schema.Struct({
  /** The line of its row, if it has one. */
  line: Schema.optionalKey(Schema.Int),
  /** The address of the contact. */
  email: Schema.String
})
export interface OutdatedContact extends Schema.Schema.Type<typeof OutdatedContact> {}

/** The people who receive mail by a plan or a run, and did not before. */
export const NewRecipients = Schema.Struct({
  /** How many they are. */
  people: Schema.Int,
  /** How many of them are new contacts. */
  added: Schema.Int
})
export interface NewRecipients extends Schema.Schema.Type<typeof NewRecipients> {}

type Mailed = Pick<Contact, "status"> | null | undefined

/** Whether a change gives mail to a person. Of a contact whose service tells no status, nobody knows. */
export const isNewRecipient = (before: Mailed, after: Mailed): boolean =>
  isMailedStatus(after?.status) && (before == null || (before.status !== undefined && !isMailedStatus(before.status)))

/** Counts the people to whom changes give mail. */
export const makeRecipientCounter = () => {
  const counts = { people: 0, added: 0 }
  return {
    add: (isNew: boolean, count = 1): void => {
      counts.people += count
      if (isNew) counts.added += count
    },
    counts: (): NewRecipients => ({ ...counts })
  }
}

/**
 * The counts and lists of a report, and their JSON: read = done + leftOut + outdated + rejected + duplicates + notSent + unknown,
 * and done = new + changed + deleted + alreadySo + unknownWhetherNew.
 */
export const RunOutcome = Schema.Struct({
  /** The rows, or the contacts of an undo. */
  read: Schema.Int,
  /** Those that are as they should be now. */
  done: Schema.Int,
  /** Contacts that the run created. */
  new: Schema.Int,
  /** Contacts that the run changed. */
  changed: Schema.Int,
  /** Contacts that the run deleted. */
  deleted: Schema.Int,
  /** Those that already were as they should be, as far as the service shows it. */
  alreadySo: Schema.Int,
  /** Those of which nobody knows what they changed: the key may not read, or nothing is recorded. */
  unknownWhetherNew: Schema.Int,
  /** Rows that the mode of the import leaves out, such as those of existing contacts, and contacts that an undo is not of. */
  leftOut: Schema.Int,
  /** Contacts that others changed. Nothing was written to them; an undo may have changed their other fields back. */
  outdated: Schema.Int,
  /** The first of them. */
  outdatedContacts: Schema.Array(OutdatedContact),
  /** Rows that our own check or the service refused. */
  rejected: Schema.Int,
  /** The first of them, up to 10,000, in the order of the file. */
  rejectedRows: Schema.Array(NamedRejection),
  /** Why rows were rejected, the causes of most rows first. Rows of a plan that the service refused are not grouped. */
  causes: Schema.Array(RejectionCause),
  /** What is odd in the rows that were not rejected, if the survey looked for it. */
  warnings: Schema.Array(ImportWarning),
  /** Rows that are merged into a later one with their address. */
  duplicates: Schema.Int,
  /** The first of them, up to 20, each with the line of the row that it is merged into. */
  duplicateRows: Schema.Array(Schema.Struct({ line: Schema.Int, winner: Schema.Int })),
  /** Rows whose contacts kept their status, since the row would have resubscribed them. */
  statusesKept: Schema.Int,
  /** Up to 10,000 of them, in the order of the file; of a plan the first 20. */
  keptStatuses: Schema.Array(Schema.Struct({ ...KeptStatusRow.fields, email: Schema.String })),
  /** Rows that were not sent because the run stopped before them. */
  notSent: Schema.Int,
  /** Rows that were sent and have no answer. */
  unknown: Schema.Int,
  /** Who receives mail now and did not before; absent where nobody knows what was there before. */
  newRecipients: Schema.optionalKey(NewRecipients)
})

/** The outcome of a run. */
export interface RunReport extends Schema.Schema.Type<typeof RunOutcome> {
  /** The id of the run in the log; `undefined` for one that recorded nothing. */
  readonly run: string | undefined
}

/** The plan or the run is for another store or account. */
export class OtherTarget extends TaggedError<OtherTarget>()("OtherTarget", {
  /** The name of what it is for. */
  other: Schema.String,
  /** The name of this service or store. */
  current: Schema.String
}) {
  override get message(): string {
    return this.other === this.current
      ? `It is for another store or account than that at ${this.current} now.`
      : `It is for ${this.other}, and this is ${this.current}.`
  }
}

/** Refuses what was recorded of other contacts than those of the log. */
export const checkTarget = Effect.fnUntraced(function* ({ target, name = target }: Pick<RunHeader, "target" | "name">) {
  const here = yield* (yield* RunLog).target
  if (!here.isNamed(target)) return yield* new OtherTarget({ other: name, current: here.name })
})

/** What a write of a run did to its contact, as a report counts it. */
export type RunEffect = "new" | "changed" | "deleted" | "alreadySo" | "unknownWhetherNew"

/** The number of contacts by what a run did to them. */
export type RunEffects = Readonly<Record<RunEffect, number>>

/** Counts what writes did, from numbers of before. */
export const makeEffectCounter = (before: Partial<RunEffects> = {}) => {
  const effects = { new: 0, changed: 0, deleted: 0, alreadySo: 0, unknownWhetherNew: 0, ...before }
  return {
    add: (effect: RunEffect, count = 1): void => {
      effects[effect] += count
    },
    /** What was done, and how much that is together. */
    counts: (): RunEffects & Pick<RunReport, "done"> => ({
      ...effects,
      done: Object.values(effects).reduce((sum, count) => sum + count, 0)
    })
  }
}

/** The report of a run that did nothing. */
export const emptyReport: RunReport = {
  ...makeEffectCounter().counts(),
  run: undefined,
  read: 0,
  leftOut: 0,
  outdated: 0,
  outdatedContacts: [],
  rejected: 0,
  rejectedRows: [],
  causes: [],
  warnings: [],
  duplicates: 0,
  duplicateRows: [],
  statusesKept: 0,
  keptStatuses: [],
  notSent: 0,
  unknown: 0
}
