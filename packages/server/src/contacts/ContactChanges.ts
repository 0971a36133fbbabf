/**
 * Conditional changes on SQL: contacts are locked, compared with what was seen of them, and written or deleted in one
 * transaction. `judgeChange` says what a change does, as on every layer. (docs/decisions/changes.md)
 */
import {
  canonicalEmail,
  type ChangeAnswerRecord,
  type ChangeOptions,
  type Contact,
  type ContactChange,
  ContactSize,
  contentAfter,
  encodeChanges,
  judgeChange
} from "@roster/domain"
import { Effect, identity, Iterable } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { dialect } from "../store/SqlDialect.ts"
import { inTransaction, sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { fromSeconds, nowSeconds } from "../store/Timestamps.ts"
import { inSlices, yieldToEventLoop } from "../threads/Slices.ts"
import { answerBytesOf, countNewContacts } from "./ContactPagination.ts"
import { contactColumns, toColumns, toContact } from "./ContactRow.generated.ts"
import { maximumShared } from "./ContactRepository.ts"
import { contactsByAddress } from "./ContactRow.ts"
import { addToLists, ensureLists, findList } from "./ContactUpsert.ts"
import { checkChangeCount, checkChanges, mergedRefusal, writtenOf } from "./ContactValidation.ts"
import { insertNew, updatedColumns, writeAll } from "./PostgresUpsert.ts"

/** The contacts that are read and compared at once. */
const readAtOnce = 100

const source = "ContactApi"
const customFieldsPlace = contactColumns.indexOf("custom_fields")

/** A contact of an outdated change. */
export interface FoundContact {
  /** Its canonical address. */
  readonly identity: string
  /** Left out if the answer has too many bytes before it. */
  readonly contact: Contact | undefined
  /** The names of its lists in alphabetical order; `undefined` until they are read. */
  lists: ReadonlyArray<string> | undefined
}

/** What became of a change. */
export interface JudgedChange extends Pick<ChangeAnswerRecord, "result"> {
  /** About its bytes in an answer. */
  bytes: number
  /** The contact of an outdated change, `null` if there is none; left out if the caller may not view contacts. */
  found?: FoundContact | null
}

/** A contact within a call. One that the call has made has no id. */
interface State {
  readonly values: ReadonlyArray<unknown>
  readonly contact: Contact
  /** The names of its lists; `undefined` if no change of it names a list. */
  readonly lists: ReadonlySet<string> | undefined
  /** The index of the change that made it, by which new contacts are in order. */
  readonly madeBy?: number | undefined
}

/** A contact before and after the changes of a call. */
interface Outcome {
  readonly identity: string
  readonly before: State | undefined
  readonly after: State | undefined
}

interface Numbered {
  readonly change: ContactChange
  readonly index: number
}

const noLists: ReadonlySet<string> = new Set()

/** About the bytes of an answer without a contact. */
const answerBytes = 24

const giveLists = (one: JudgedChange, names: ReadonlySet<string>): void => {
  if (one.found == null) return
  one.found.lists = [...names].sort()
  for (const name of names) one.bytes += Buffer.byteLength(name) + 3
}

const idOf = ({ values: [id] }: State): number => Number(id)

const isNew = ({ madeBy }: State): boolean => madeBy !== undefined

const namesLists = ({ change: { write } }: Numbered): boolean =>
  [write?.addToLists, write?.removeFromLists].some((names) => names !== undefined && names.length > 0)

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
const written = ({ change, index }: Numbered, state: State | undefined, now: number): State => {
  const { email, write = {} } = change
  const { addToLists = [], removeFromLists = [] } = write
  const date = fromSeconds(now)
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
  const lists = new Set([...(state?.lists ?? []), ...addToLists])
  for (const name of removeFromLists) lists.delete(name)
  const hasUnknownLists = state !== undefined && state.lists === undefined
  const madeBy = state === undefined ? index : state.madeBy
  return { values, contact: toContact(values), lists: hasUnknownLists ? undefined : lists, madeBy }
}

/** Whether a contact may become another, by the bounds of `ContactSize`. One that exceeds them is changed alone. */
const mayBecome = (before: State | undefined, after: State, isAlone: boolean): boolean => {
  const texts = ContactSize.textsOf(after.contact)
  return (
    ContactSize.surelyFits(String(after.values[customFieldsPlace]), texts) ||
    ContactSize.mayBecome(isAlone && before !== undefined ? ContactSize.textsOf(before.contact) : { texts: [] }, texts)
  )
}

const areListsSo = ({ write }: ContactChange, lists = noLists): boolean =>
  (write?.addToLists ?? []).every((name) => lists.has(name)) &&
  !(write?.removeFromLists ?? []).some((name) => lists.has(name))

type Address = readonly [identity: string, own: ReadonlyArray<Numbered>]

/** The changes of each address, in the order in which all callers lock contacts. */
const byAddress = function* (changes: ReadonlyArray<ContactChange>): Generator<void, ReadonlyArray<Address>> {
  const addresses = new Map<string, Array<Numbered>>()
  for (const [index, change] of changes.entries()) {
    const identity = canonicalEmail(change.email)
    const own = addresses.get(identity)
    if (own === undefined) addresses.set(identity, [{ change, index }])
    else own.push({ change, index })
    yield
  }
  return [...addresses].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Inserts new contacts and writes changed ones; gives the ids of the new ones, but of those that others made meanwhile. */
const write = Effect.fnUntraced(function* (account: string, now: number, outcomes: ReadonlyArray<Outcome>) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOfIds, merge, runEach } = dialect(sql)
  const gone = outcomes.flatMap(({ after, before }) =>
    before !== undefined && (after === undefined || isNew(after)) ? [idOf(before)] : []
  )
  if (gone.length > 0) yield* sql`DELETE FROM contacts WHERE account = ${account} AND ${isOneOfIds(gone)}`
  const rows = outcomes.flatMap(({ after, identity }) => (after === undefined ? [] : [{ identity, after }]))
  const made = rows
    .filter(({ after }) => isNew(after))
    .sort(({ after: a }, { after: b }) => (a.madeBy ?? 0) - (b.madeBy ?? 0))
  const changed = rows.filter(({ after }) => !isNew(after))
  const ids = new Map(changed.map(({ after, identity }) => [identity, idOf(after)]))
  if (merge === undefined) {
    const given = made.map(({ after, identity }) => [identity, after.values] as const)
    const inserted = given.length === 0 ? [] : yield* insertNew({ account, source, now }, given)
    for (const [identity, id] of inserted) ids.set(String(identity), Number(id))
    if (changed.length > 0)
      yield* writeAll(
        account,
        changed.map(({ after }) => after.values),
        now
      )
    return ids
  }
  const [, ...columns] = contactColumns
  const all = ["account", "identity", ...columns]
  const replaced = [...updatedColumns, "date_updated"].map((column) => `${column} = excluded.${column}`)
  const [statement] = sql`
    INSERT INTO contacts ${sql.insert(Object.fromEntries(all.map((column) => [column, column])))}
    ON CONFLICT (account, identity) DO UPDATE SET ${sql.literal(replaced.join(", "))} RETURNING identity, id`.compile()
  const parameters = [...made, ...changed].map(({ after, identity }) => [account, identity, ...after.values.slice(1)])
  yield* runEach(statement, parameters, ([identity, id]) => ids.set(String(identity), Number(id)))
  if (made.length > 0) yield* countNewContacts(account)
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
  const [added, removed] = [new Map<string, Array<number>>(), new Map<string, Array<number>>()]
  const note = (to: typeof added, names: ReadonlySet<string>, others: ReadonlySet<string>, id: number) => {
    for (const name of names) {
      if (others.has(name)) continue
      const members = to.get(name)
      if (members === undefined) to.set(name, [id])
      else members.push(id)
    }
  }
  for (const { after, before, identity } of outcomes) {
    const id = ids.get(identity)
    if (after?.lists === undefined || id === undefined) continue
    const earlier = isNew(after) ? noLists : (before?.lists ?? noLists)
    note(added, after.lists, earlier, id)
    note(removed, earlier, after.lists, id)
  }
  for (const [name, members] of [...added].sort()) yield* addToLists(yield* ensureLists(account, [name]), members)
  for (const [name, members] of removed) {
    const list = yield* findList(account, name)
    if (list === undefined) continue
    yield* sql`DELETE FROM list_members WHERE list_id = ${list} AND ${isOneOfIds(members, "contact_id")}`
  }
})

interface ChangeContactsOptions extends ChangeOptions {
  /** Whether the changes come from a request, whose body was decoded and bounded (default: false). */
  readonly isDecoded?: boolean
  /** The bytes of contacts after which those of further outdated changes are left out (default: all are given). */
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
  const { account, key } = yield* Caller
  const mayView = key === undefined || key.mayViewContacts === true
  yield* isDecoded ? checkChangeCount(changes) : encodeChanges(changes)
  yield* checkChanges(changes)
  const addresses = yield* inSlices(() => byAddress(changes))
  const work = Effect.gen(function* () {
    const now = yield* nowSeconds
    const judged = changes.map((): JudgedChange => ({ result: "Outdated", bytes: answerBytes }))
    const unread = new Map<number, Array<JudgedChange>>()
    let bytes = 0
    /** Notes what became of a change of a contact. */
    const note = ({ index }: Numbered, result: JudgedChange["result"], identity: string, state: State | undefined) => {
      const one: JudgedChange = { result, bytes: answerBytes }
      judged[index] = one
      if (result !== "Outdated" || !mayView) return
      one.found = null
      if (state === undefined) return
      bytes += one.bytes = answerBytesOf(state.values)
      one.found = { identity, contact: bytes > mostBytes ? undefined : state.contact, lists: undefined }
      if (state.lists !== undefined) return giveLists(one, state.lists)
      const others = unread.get(idOf(state))
      if (others === undefined) unread.set(idOf(state), [one])
      else others.push(one)
    }
    const judge = function* (
      some: ReadonlyArray<Address>,
      stateOf: (identity: string) => State | undefined
    ): Generator<void, ReadonlyArray<Outcome>> {
      const outcomes: Array<Outcome> = []
      for (const [identity, own] of some) {
        const before = stateOf(identity)
        let after = before
        for (const numbered of own) {
          const { change } = numbered
          const { result } = judgeChange(after?.contact ?? null, change, areListsSo(change, after?.lists))
          note(numbered, result, identity, after)
          yield
          if (result !== "Done") continue
          const next = change.write === undefined ? undefined : written(numbered, after, now)
          if (next !== undefined && !mayBecome(after, next, changes.length === 1)) {
            refused.push(numbered)
            break
          }
          after = next
        }
        if (after !== before) outcomes.push({ identity, before, after })
      }
      return outcomes
    }
    const refused: Array<Numbered> = []
    let open = addresses
    while (open.length > 0) {
      const outcomes: Array<Outcome> = []
      for (const some of Iterable.chunksOf(open, readAtOnce)) {
        const rows = yield* contactsByAddress(
          account,
          some.map(([identity]) => identity),
          !dryRun
        )
        const withLists = some.flatMap(([identity, own]) => {
          const row = rows.get(identity)
          return row !== undefined && own.some(namesLists) ? [Number(row[0])] : []
        })
        const lists = withLists.length === 0 ? undefined : yield* listsOf(withLists)
        const stateOf = (identity: string): State | undefined => {
          const values = rows.get(identity)
          return values && { values, contact: toContact(values), lists: lists?.get(Number(values[0])) }
        }
        outcomes.push(...(yield* inSlices(() => judge(some, stateOf))))
      }
      const [first] = refused.sort((a, b) => a.index - b.index)
      if (first !== undefined) {
        return yield* mergedRefusal(writtenOf(first.change), `[${first.index}].Write.`)
      }
      if (dryRun) break
      const ids = yield* write(account, now, outcomes)
      yield* writeLists(account, outcomes, ids)
      // On PostgreSQL another one may have made a contact after it was looked for, and what is there now is judged.
      const raced = new Set(
        outcomes.flatMap(({ after, identity }) => (after !== undefined && !ids.has(identity) ? [identity] : []))
      )
      open = open.filter(([identity]) => raced.has(identity))
    }
    if (unread.size > 0) {
      for (const [id, names] of yield* listsOf([...unread.keys()])) {
        for (const one of unread.get(id) ?? []) giveLists(one, names)
      }
    }
    return yield* answer(judged)
  })
  if (dryRun) return yield* work
  return yield* inTransaction(sql, work).pipe(changes.length <= maximumShared ? sharingCommit : identity)
})
