/** What an upload, an apply or an undo did: one report for all of them, whose counts add up whatever happens. */
import type { KeptStatusRow, RejectedRow, ServiceError } from "@roster/domain"
import { Schema } from "effect"
import type { RunCounts } from "./RunEntry.ts"

/** Maximum number of contacts that a preview, a refusal or a report names. */
export const maximumNamedContacts = 20

/** A contact that others changed, so that the run left it, or some of its fields. */
export interface OutdatedContact {
  /** The line of its row, if it has one. */
  readonly line?: number
  /** The address of the contact. */
  readonly email: string
  /** The fields that stay, of an undo. */
  readonly fields?: ReadonlyArray<string>
}

/**
 * The outcome of a run: read = done + outdated + rejected + duplicates + notSent + unknown, and done = new + changed +
 * deleted + alreadySo + unknownWhetherNew.
 */
export interface RunReport {
  /** The id of the run in the log; `undefined` for one that recorded nothing. */
  readonly run: string | undefined
  /** The rows, or the contacts of an undo. */
  readonly read: number
  /** Those that are as they should be now. */
  readonly done: number
  /** How many of them an earlier process did. */
  readonly doneEarlier: number
  /** Contacts that the run created. */
  readonly new: number
  /** Contacts that the run changed. */
  readonly changed: number
  /** Contacts that the run deleted. */
  readonly deleted: number
  /** Those that already were as they should be, as far as the service shows it. */
  readonly alreadySo: number
  /** Those of which nobody knows what they changed: the key may not read, or nothing is recorded. */
  readonly unknownWhetherNew: number
  /** Contacts that others changed. Nothing was written to them; an undo may have changed their other fields back. */
  readonly outdated: number
  /** The first of them. */
  readonly outdatedContacts: ReadonlyArray<OutdatedContact>
  /** Rows that our own check or the service refused. */
  readonly rejected: number
  /** The first of them, up to 10,000, in the order of the file. */
  readonly rejectedRows: ReadonlyArray<Omit<RejectedRow, "cells">>
  /** Rows whose address a later row has too. Of the rows with one address, only the last one is sent. */
  readonly duplicates: number
  /** Rows whose contacts kept their status, since the row would have resubscribed them. */
  readonly statusesKept: number
  /** Up to 10,000 of them, in the order of the file. */
  readonly keptStatuses: ReadonlyArray<KeptStatusRow>
  /** Rows that were not sent because the run stopped before them. */
  readonly notSent: number
  /** Rows that were sent and have no answer. */
  readonly unknown: number
  /** The error that stopped the run, if any. */
  readonly stoppedBy: ServiceError | undefined
}

/** The plan or the run is for another service or store. */
export class OtherTarget extends Schema.TaggedError<OtherTarget>()("OtherTarget", {
  /** The name of what it is for. */
  other: Schema.String,
  /** The name of this service or store. */
  current: Schema.String
}) {
  override get message(): string {
    return `It is for ${this.other}, and this is ${this.current}.`
  }
}

/** What is counted of a report. */
export type RunTally = Omit<RunReport, "new" | "changed" | "deleted" | "alreadySo" | "unknownWhetherNew">

/** A tally of nothing. */
export const emptyTally: RunTally = {
  run: undefined,
  read: 0,
  done: 0,
  doneEarlier: 0,
  outdated: 0,
  outdatedContacts: [],
  rejected: 0,
  rejectedRows: [],
  duplicates: 0,
  statusesKept: 0,
  keptStatuses: [],
  notSent: 0,
  unknown: 0,
  stoppedBy: undefined
}

/** The report of a run. `isKnown`: the record has everything that it changed. */
export const reportOf = (tally: RunTally, { changed, created, deleted }: RunCounts, isKnown: boolean): RunReport => {
  // What is recorded and has no answer is none of what is done.
  const isNew = Math.min(created, tally.done)
  const isChanged = Math.min(changed, tally.done - isNew)
  const isDeleted = Math.min(deleted, tally.done - isNew - isChanged)
  const rest = tally.done - isNew - isChanged - isDeleted
  return {
    ...tally,
    new: isNew,
    changed: isChanged,
    deleted: isDeleted,
    alreadySo: isKnown ? rest : 0,
    unknownWhetherNew: isKnown ? 0 : rest
  }
}
