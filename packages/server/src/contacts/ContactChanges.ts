/**
 * Conditional changes on SQL: contacts are locked, compared with what was seen of them, and written or deleted in one
 * transaction. `judgeChange` says what a change does, as on every layer. (docs/decisions/changes.md)
 */
import {
  areListsSo,
  AccessDenied,
  canonicalEmail,
  type ChangeAnswerRecord,
  type ChangeOptions,
  checkChangedPlaces,
  type Contact,
  type ContactChange,
  ContactSize,
  contentAfter,
  encodeChanges,
  judgeChange,
  listsAfter,
  maximumListsOfContact,
  ServiceError
} from "@roster/domain"
import { type DateTime, Effect, identity, Iterable } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Caller, mayViewContacts } from "../credentials/Caller.ts"
import { asCaller } from "../credentials/CallerCheck.ts"
import { dialect } from "../store/SqlDialect.ts"
import { sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { fromSeconds, storeClock } from "../store/StoreClock.ts"
import { inSlices, yieldToEventLoop } from "../threads/Slices.ts"
import { answerBytesOf, countNewContacts } from "./ContactPagination.ts"
import { contactColumns, toColumns, toContact } from "./ContactRow.generated.ts"
import { maximumShared } from "./ContactRepository.ts"
import { contactsByAddress } from "./ContactRow.ts"
import { deletedInPieces } from "./ContactDeletion.ts"
import { addToLists, ensureLists, findList, lockForLists } from "./ContactUpsert.ts"
import { checkChangeCount, checkChanges, listsRefusal, mergedRefusal, writtenOf } from "./ContactValidation.ts"
import { insertNew, updatedColumns, writeAll } from "./ContactMerge.ts"

/** The contacts that are read and compared at once. */
const readAtOnce = 100

const source = "ContactApi"
const customFieldsPlace = contactColumns.indexOf("custom_fields")

/** What became of a change. */
export interface JudgedChange {
  /** The canonical address of its contact. */
  readonly identity: string
  /** The answer, without the contact of an outdated change if there are too many bytes before it. */
  readonly answer: ChangeAnswerRecord
  /** About the bytes of the whole answer. */
  readonly bytes: number
}

/** A contact within a call. */
interface State {
  /** As the columns have it; one that the call has made has no id. */
  readonly values: ReadonlyArray<unknown>
  readonly contact: Contact
  /** The names of its lists, if a change names one or the caller may view them. */
  readonly lists: ReadonlySet<string>
  /** The index of the change that made it, by which new contacts are in order. */
  readonly madeBy?: number | undefined
}

/** A contact before and after the changes of a call. */
interface Outcome {
  readonly identity: string
  readonly before: State | undefined
  readonly after: State | undefined
}

const noLists: ReadonlySet<string> = new Set()

/** About the bytes of an answer without a contact. */
const answerBytes = 24

const idOf = ({ values: [id] }: State): number => Number(id)

const isNew = ({ madeBy }: State): boolean => madeBy !== undefined

/** The names of the lists of contacts by their ids. */
export const listsOf = Effect.fnUntraced(function* (ids: ReadonlyArray<number>) {
  const sql = yield* SqlClient.SqlClient
  const names = new Map(ids.map((id) => [id, new Set<string>()]))
  for (const some of Iterable.chunksOf(ids, readAtOnce)) {
    const rows = yield* sql`
      SELECT contact_id, name FROM list_members JOIN lists ON lists.id = list_id
      WHERE ${dialect(sql).isOneOfIds(some, "contact_id")}`.values
    for (const [id, name] of rows) names.get(Number(id))?.add(String(name))
    yield* yieldToEventLoop
  }
  return names
})

const nothing = { firstName: undefined, lastName: undefined, customFields: undefined, consent: undefined }

/** The contact that a write makes of another one, or of none. Everything but its content stays. */
const written = (
  { email, write = {} }: ContactChange,
  index: number,
  state: State | undefined,
  date: DateTime.Utc
): State => {
  const content = contentAfter(state?.contact ?? null, write)
  const made =
    state === undefined
      ? { email: email.trim(), source, dateAdded: date, ...content }
      : {
          ...state.contact,
          ...nothing,
          ...content,
          dateUpdated: date,
          statusChangeDate: content.status === state.contact.status ? state.contact.statusChangeDate : date
        }
  const values = [state?.values[0], ...Object.values(toColumns(made))]
  const lists = new Set(listsAfter(state?.lists ?? [], write))
  return { values, contact: toContact(values), lists, madeBy: state === undefined ? index : state.madeBy }
}

/** Whether a contact may become another, by the bounds of `ContactSize`. One that exceeds them is changed alone. */
const mayBecome = (before: State | undefined, after: State, isAlone: boolean): boolean => {
  const texts = ContactSize.textsOf(after.contact)
  return (
    ContactSize.surelyFits(String(after.values[customFieldsPlace]), texts) ||
    ContactSize.mayBecome(isAlone && before !== undefined ? ContactSize.textsOf(before.contact) : { texts: [] }, texts)
  )
}

/** Whether a contact would be on more lists than one can be, and than it is. */
const isBeyondLists = (before: State | undefined, after: State): boolean =>
  after.lists.size > maximumListsOfContact && after.lists.size > (before?.lists.size ?? 0)

/** Deletes, inserts and writes contacts; gives the ids of those that are there, but of new ones that others made meanwhile. */
const write = Effect.fnUntraced(function* (account: string, now: number, outcomes: ReadonlyArray<Outcome>) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOfIds, merge, runEach } = dialect(sql)
  const gone = outcomes.flatMap(({ after, before }) =>
    before !== undefined && (after === undefined || isNew(after)) ? [idOf(before)] : []
  )
  yield* deletedInPieces(gone, (some) => sql`DELETE FROM contacts WHERE account = ${account} AND ${isOneOfIds(some)}`)
  const rows = outcomes.flatMap(({ after, identity }) => (after === undefined ? [] : [{ identity, ...after }]))
  rows.sort((a, b) => (a.madeBy ?? 0) - (b.madeBy ?? 0))
  const [made, changed] = [rows.filter(isNew), rows.filter((row) => !isNew(row))]
  const ids = new Map(changed.map((row) => [row.identity, idOf(row)]))
  const note = ([identity, id]: ReadonlyArray<unknown>) => ids.set(String(identity), Number(id))
  if (merge === undefined) {
    const given = made.map(({ identity, values }) => [identity, values] as const)
    if (made.length > 0) (yield* insertNew({ account, source, now }, given)).forEach(note)
    const values = changed.map((row) => row.values)
    if (changed.length > 0) yield* writeAll(account, values, now)
    return ids
  }
  const all = ["account", "identity", ...contactColumns.slice(1)]
  const replaced = [...updatedColumns, "date_updated"].map((column) => `${column} = excluded.${column}`)
  const [statement] = sql`
    INSERT INTO contacts ${sql.insert(Object.fromEntries(all.map((column) => [column, column])))}
    ON CONFLICT (account, identity) DO UPDATE SET ${sql.literal(replaced.join(", "))} RETURNING identity, id`.compile()
  const parameters = rows.map(({ identity, values }) => [account, identity, ...values.slice(1)])
  yield* runEach(statement, parameters, note)
  yield* countNewContacts(account)
  return ids
})

/** Puts contacts on lists and takes them off, by what they were on before. */
const writeLists = Effect.fnUntraced(function* (
  account: string,
  outcomes: ReadonlyArray<Outcome>,
  ids: ReadonlyMap<string, number>
) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOfIds } = dialect(sql)
  type Lists = (outcome: Outcome) => ReadonlySet<string>
  /** The contacts that are on a list in one of two states alone, by the list. */
  const newOn = (state: Lists, other: Lists) => {
    const pairs = outcomes.flatMap((outcome) => {
      const id = ids.get(outcome.identity)
      const others = other(outcome)
      return id === undefined ? [] : [...state(outcome)].flatMap((name) => (others.has(name) ? [] : [{ name, id }]))
    })
    return [...Map.groupBy(pairs, ({ name }) => name)].map(([name, of]) => [name, of.map(({ id }) => id)] as const)
  }
  const before: Lists = (one) => (one.after?.madeBy === undefined ? (one.before?.lists ?? noLists) : noLists)
  const after: Lists = (one) => one.after?.lists ?? noLists
  for (const [name, members] of newOn(after, before).sort(([a], [b]) => (a < b ? -1 : 1))) {
    yield* addToLists(account, yield* ensureLists(account, [name], "addToLists"), members)
  }
  for (const [name, members] of newOn(before, after)) {
    const list = yield* findList(account, name)
    yield* sql`DELETE FROM list_members WHERE list_id = ${list ?? 0} AND ${isOneOfIds(members, "contact_id")}`
    yield* yieldToEventLoop
  }
})

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
  // In the order in which all callers lock contacts.
  const numbered = changes.map((change, index) => ({ change, index }))
  const addresses = [...Map.groupBy(numbered, ({ change }) => canonicalEmail(change.email))].sort(([a], [b]) =>
    a < b ? -1 : 1
  )
  const work = Effect.gen(function* () {
    const now = yield* storeClock(sql).seconds
    const judged: Array<JudgedChange> = []
    let bytes = 0
    let refused = Infinity
    let isFull = false
    const judgedAs = (identity: string, result: ChangeAnswerRecord["result"], state?: State): JudgedChange => {
      if (result !== "Outdated") return { identity, answer: { result }, bytes: answerBytes }
      const lists = [...(state?.lists ?? [])].sort()
      let own = state === undefined ? answerBytes : answerBytesOf(state.values)
      for (const name of lists) own += Buffer.byteLength(name)
      bytes += own
      const isLeft = state !== undefined && bytes > mostBytes
      return { identity, answer: { result, ...(isLeft ? {} : { contact: state?.contact ?? null }), lists }, bytes: own }
    }
    /** Judges the changes of some contacts, each in their order. */
    const judge = function* (
      some: ReadonlyArray<(typeof addresses)[number]>,
      stateOf: (identity: string) => State | undefined
    ): Generator<void, ReadonlyArray<Outcome>> {
      const outcomes: Array<Outcome> = []
      for (const [identity, own] of some) {
        const before = stateOf(identity)
        let after = before
        for (const { change, index } of own) {
          const { result } = judgeChange(
            after?.contact ?? null,
            change,
            areListsSo(after?.lists ?? noLists, change.write)
          )
          judged[index] = judgedAs(identity, result, after)
          yield
          if (result !== "Done") continue
          const next = change.write && written(change, index, after, fromSeconds(now))
          const isBeyond = next !== undefined && isBeyondLists(after, next)
          if (next !== undefined && (isBeyond || !mayBecome(after, next, changes.length === 1))) {
            if (index < refused) [refused, isFull] = [index, isBeyond]
            break
          }
          after = next
        }
        if (after !== before) outcomes.push({ identity, before, after })
      }
      return outcomes
    }
    const named = changes.flatMap(({ write }) => write?.addToLists ?? [])
    if (!dryRun) yield* lockForLists(account, named)
    let open = addresses
    while (open.length > 0) {
      const outcomes: Array<Outcome> = []
      for (const some of Iterable.chunksOf(open, readAtOnce)) {
        const identities = some.map(([identity]) => identity)
        const rows = yield* contactsByAddress(account, identities, !dryRun)
        const lists = yield* listsOf(Array.from(rows.values(), ([id]) => Number(id)))
        const stateOf = (identity: string): State | undefined => {
          const values = rows.get(identity)
          return values && { values, contact: toContact(values), lists: lists.get(Number(values[0])) ?? noLists }
        }
        outcomes.push(...(yield* inSlices(() => judge(some, stateOf))))
      }
      const first = changes[refused]
      if (first !== undefined) {
        const path = `[${refused}].write.`
        return yield* isFull ? listsRefusal(`${path}addToLists`) : mergedRefusal(writtenOf(first), path)
      }
      if (dryRun) break
      const ids = yield* write(account, now, outcomes)
      yield* writeLists(account, outcomes, ids)
      // On PostgreSQL another one may have made a contact after it was looked for, and what is there now is judged.
      const raced = outcomes.filter(({ after, identity }) => after !== undefined && !ids.has(identity))
      open = open.filter(([identity]) => raced.some((outcome) => outcome.identity === identity))
    }
    return yield* answer(judged)
  })
  if (dryRun) return yield* work
  return yield* asCaller(sql, "contactsChangesPost", work).pipe(
    changes.length <= maximumShared ? sharingCommit : identity
  )
})
