/**
 * Conditional changes on SQL: contacts are compared with what was seen of them, and written or deleted in one transaction.
 * (docs/decisions/changes.md)
 */
import {
  AccessDenied,
  canonicalEmail,
  type ChangeAnswerRecord,
  type ChangeOptions,
  type ContactChange,
  type InvalidInput,
  ServiceError
} from "@roster/domain"
import { checkChangedPlaces, encodeChanges, toldStatusDate, mergedRefusal, listsRefusal } from "@roster/domain/internal"
import { Effect, identity } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Caller, mayViewContacts } from "../credentials/Caller.ts"
import { asCallerAt } from "../credentials/CallerCheck.ts"
import { sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { storeClock } from "../store/StoreClock.ts"
import { answerBytesOf } from "./ContactPagination.ts"
import { maximumShared } from "./ContactRepository.ts"
import { checkChangeCount, checkChanges, orRefusal, writtenOf } from "./ContactValidation.ts"
import { type State, writeContacts } from "./ContactWrites.ts"
import { lockForLists } from "./ListMembers.ts"

/** What became of a change. */
export interface JudgedChange {
  /** The canonical address of its contact. */
  readonly identity: string
  /** The answer, without the contact of an outdated change if there are too many bytes before it. */
  readonly answer: ChangeAnswerRecord
  /** About the bytes of the whole answer. */
  readonly bytes: number
}

/** About the bytes of an answer without a contact. */
const answerBytes = 64

interface ChangeContactsOptions extends ChangeOptions {
  /** Whether the changes come from a request, whose body was decoded and bounded (default: false). */
  readonly isDecoded?: boolean
  /** The bytes of answers after which the contacts of further ones are left out (default: all are given). */
  readonly mostBytes?: number
}

/**
 * Changes contacts, each only if it still is as it was seen, and gives what `answer` makes of what became of the changes,
 * which is a part of the transaction.
 */
export const changeContacts = Effect.fnUntraced(function* <A, R>(
  changes: ReadonlyArray<ContactChange>,
  { dryRun = false, isDecoded = false, mostBytes = Infinity }: ChangeContactsOptions,
  answer: (judged: ReadonlyArray<JudgedChange>) => Effect.Effect<A, SqlError.SqlError, R>
) {
  const sql = yield* SqlClient.SqlClient
  const caller = yield* Caller
  const { account } = caller
  // What became of a change tells what was there.
  if (!mayViewContacts(caller)) {
    return yield* new ServiceError({
      operation: "contactsChangesPost",
      reason: new AccessDenied({ required: "ViewContacts" })
    })
  }
  yield* isDecoded ? Effect.andThen(checkChangeCount(changes), checkChangedPlaces(changes)) : encodeChanges(changes)
  yield* checkChanges(changes)
  const writes = changes.map((change) => ({ ...change, identity: canonicalEmail(change.email) }))
  const work = Effect.fnUntraced(function* (now: number) {
    const named = changes.flatMap(({ write }) => write?.addToLists ?? [])
    if (!dryRun) yield* lockForLists(account, named)
    let bytes = 0
    const outdated = (state: State | undefined) => {
      const contact = state?.contact ?? null
      const lists = [...(state?.lists ?? [])].sort()
      let own = contact === null ? answerBytes : answerBytesOf(contact)
      for (const name of lists) own += Buffer.byteLength(name)
      bytes += own
      const shown = contact !== null && bytes > mostBytes ? {} : { contact }
      return { answer: { result: "Outdated", ...shown, lists }, bytes: own } as const
    }
    const { answers } = yield* writeContacts({
      account,
      source: "ContactApi",
      now,
      writes,
      isAlone: changes.length === 1,
      hasLists: true,
      dryRun,
      read: (result, state, change, index): JudgedChange | InvalidInput => {
        const path = `[${index}].write.`
        if (result === "TooManyLists") return listsRefusal(`${path}addToLists`)
        if (result === "TooLarge" || result === "LeftOut") return mergedRefusal(writtenOf(change), path)
        const statusChangeDate = toldStatusDate(change, state?.contact)
        const dated = statusChangeDate == null ? {} : { statusChangeDate }
        return {
          identity: change.identity,
          ...(result === "Outdated" ? outdated(state) : { answer: { result, ...dated }, bytes: answerBytes })
        }
      }
    })
    return yield* answer(yield* orRefusal(answers))
  })
  if (dryRun) return yield* work(yield* storeClock(sql).seconds)
  return yield* asCallerAt(sql, "contactsChangesPost", work).pipe(
    changes.length <= maximumShared ? sharingCommit : identity
  )
})
