/**
 * The one way a contact is written: read by its address, judged in `domain`, and written. Adds, imports, updates and
 * conditional changes take it on either engine. (docs/decisions/upsert.md)
 */
import {
  type AddMode,
  type Contact,
  type ContactContent,
  isMailedStatus,
  ContactSize,
  type ContactSource,
  type ContactWrite,
  judgeChange
} from "@roster/domain"
import {
  areListsSo,
  ContactFields,
  contactAfter,
  leavesOut,
  listsAfter,
  newContact,
  saidAgain,
  exceedsLists
} from "@roster/domain/internal"
import { Effect, Iterable } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { byEngine, dialect, runEach, textLists } from "../store/SqlDialect.ts"
import { fromSeconds, nullableSeconds } from "../store/StoreClock.ts"
import { eachInSlices, inSlices } from "../threads/Slices.ts"
import { mailOf, noteWritten } from "../credentials/WrittenSums.ts"
import { openRun } from "../runs/RunRecorder.ts"
import { inPieces } from "./BulkWrites.ts"
import { countNewContacts } from "./ContactPagination.ts"
import { contactColumns, contactsByAddress, givenValue, toContact } from "./ContactRow.ts"
import { listsOf, type Places, writeLists } from "./ListMembers.ts"
import { type Listed, recordedChange } from "./RecordedContacts.ts"
import { namingWriter } from "./StatusHistory.ts"

/** The contacts that are read and judged at once: at most 8 MB. */
const readAtOnce = 250

/** What a call does with the contact of an address. */
interface Writing {
  /** The canonical address. */
  readonly identity: string
  /** The address, in the spelling of a new contact. */
  readonly email: string
  /** What the contact has to be, or `null` for none; left out if it may be anything. */
  readonly seen?: ContactContent | null
  /** What to write; left out to delete it. */
  readonly write?: ContactWrite | undefined
}

/** A contact within a call. */
export interface State {
  /** One that the call has made has no id yet. */
  readonly id?: number | undefined
  readonly contact: Contact
  /** The names of its lists, if the call changes lists or a run records it. */
  readonly lists: ReadonlySet<string>
  /** Whether it is so large that it is written alone. */
  readonly isOversized: boolean
  /** The index of the write that made it, by which new contacts are in order. */
  readonly madeBy: number
}

/** A contact that is written, with its canonical address. */
type Written = readonly [identity: string, state: State]

/** What became of a write, or why it is refused. */
type Result = "Done" | "AlreadySo" | "Outdated" | "LeftOut" | "TooLarge" | "TooManyLists"

const noLists: ReadonlySet<string> = new Set()

const customFieldsPlace = contactColumns.indexOf("custom_fields")

const stateOf = (row: ReadonlyArray<unknown>, lists: ReadonlySet<string> = noLists): State => ({
  id: Number(row[0]),
  contact: toContact(row),
  lists,
  madeBy: -1,
  // To merge one with each of 1000 writes would take seconds.
  isOversized: Buffer.byteLength(String(row[customFieldsPlace])) > ContactSize.maximumContactBytes
})

const givenFields = ContactFields.addedFields.filter(({ column }) => column !== "email")

/** The columns that are written, and their values in this order. */
const columns = [...givenFields.map(({ column }) => column), "custom_fields", "date_updated", "status_change_date"]

const valuesOf = (contact: Contact): Array<string | number | null> => {
  const values: Array<string | number | null> = []
  for (const field of givenFields) values.push(givenValue(field, contact) ?? null)
  values.push(JSON.stringify(contact.customFields ?? {}))
  values.push(nullableSeconds(contact.dateUpdated), nullableSeconds(contact.statusChangeDate))
  return values
}

const insertOfEach = `
  INSERT INTO contacts (account, source, date_added, identity, email, ${columns.join(", ")})
  VALUES (?, ?, ?, ?, ?, ${columns.map(() => "?").join(", ")})`

const updateOfEach = `
  UPDATE contacts SET ${columns.map((name) => `${name} = ?`).join(", ")} WHERE account = ? AND id = ?`

const numbers = new Set(["id", "date_updated", "status_change_date"])
for (const { column, kind } of givenFields) if (kind === "date" || kind === "number") numbers.add(column)

/** The value of a column of `textLists`. */
const valueOf = (name: string) => `given.${name}${numbers.has(name) ? "::bigint" : ""}`

// Numbered in the order in which they are given, and inserted in one order for all: two that add the same contacts then
// wait for each other in turn, and not both for the other.
const insertOfAll = (names: ReadonlyArray<string>, orLeave: string) => `
  WITH numbered AS MATERIALIZED (SELECT nextval('contacts_id_seq') AS id, given.* FROM ${textLists.rows(names, 4)})
  INSERT INTO contacts (account, source, date_added, id, ${names.join(", ")}) OVERRIDING SYSTEM VALUE
  SELECT $1, $2, $3::bigint, id, ${names.map(valueOf).join(", ")} FROM numbered AS given
  ORDER BY identity COLLATE "C" ${orLeave} RETURNING identity, id`

const orLeave = "ON CONFLICT (account, identity) DO NOTHING"

const updateOfAll = `
  UPDATE contacts SET ${columns.map((name) => `${name} = ${valueOf(name)}`).join(", ")}
  FROM ${textLists.rows(["id", ...columns], 2)} WHERE contacts.account = $1 AND contacts.id = given.id::bigint`

/** Each column of rows as a list. */
const columnsOf = (rows: ReadonlyArray<ReadonlyArray<string | number | null | undefined>>) =>
  rows[0]?.map((_, place) => rows.map((row) => row[place])) ?? []

/** The fields whose changes the history notes, besides the date of a status. */
const notedFields = givenFields.filter(({ column }) => column === "status" || column.startsWith("consent_"))

/** Whether a write gave a status or a consent. */
const isStatusGiven = (before: Contact, after: Contact): boolean =>
  before.statusChangeDate !== after.statusChangeDate ||
  notedFields.some((field) => givenValue(field, before) !== givenValue(field, after))

/** How often a table with this last id has grown by half since it had 1000 rows. */
const growthOf = (id: number): number => Math.max(0, Math.floor(Math.log(id / 1000) / Math.log(1.5)))

interface Call {
  readonly account: string
  readonly source: ContactSource
  /** Seconds. */
  readonly now: number
}

/** Whether another one has made a contact that was to be inserted. */
const isConflict = ({ reason }: SqlError.SqlError): boolean => reason._tag === "UniqueViolation"

/** Inserts contacts, and notes their ids by their addresses, but for those that another one has made since. */
const insertAll = Effect.fnUntraced(function* (
  { account, now, source }: Call,
  made: ReadonlyArray<Written>,
  ids: Map<string, number>
) {
  const sql = yield* SqlClient.SqlClient
  const rowOfNew = ([identity, { contact }]: Written) => [identity, contact.email, ...valuesOf(contact)]
  const inserted = byEngine<Effect.Effect<void, SqlError.SqlError>>(sql, {
    sqlite: () =>
      Effect.gen(function* () {
        const rows = Iterable.map(made, (one) => [account, source, now, ...rowOfNew(one)])
        const inserted = yield* runEach(sql, insertOfEach, rows)
        inserted.forEach((id, place) => ids.set(made[place]?.[0] ?? "", id))
      }),
    postgres: () =>
      Effect.gen(function* () {
        const rows = yield* eachInSlices(made, rowOfNew)
        // A list of nothing but NULL would cost as one of values.
        const names = ["identity", "email", ...columns]
        const given = names.map((_, place) => rows.some((row) => row[place] !== null))
        const lists = columnsOf(rows).filter((_, place) => given[place])
        const insert = (otherwise: string) => {
          const statement = insertOfAll(
            names.filter((_, place) => given[place]),
            otherwise
          )
          return sql.unsafe(statement, [account, source, now, ...textLists.parameters(lists)]).values
        }
        // To leave contacts costs a quarter of an insert. An import hopes that nobody makes one of them right now: the database
        // notes the address of one in its log.
        const inserted =
          source === "FileUpload"
            ? yield* Effect.catchIf(sql.withTransaction(insert("")), isConflict, () => insert(orLeave))
            : yield* insert(orLeave)
        let [first, last] = [Infinity, 0]
        for (const [identity, given] of inserted) {
          const id = Number(given)
          ids.set(String(identity), id)
          first = Math.min(first, id)
          last = Math.max(last, id)
        }
        // A prepared plan of when the table was small would read it whole for each address.
        if (growthOf(last) > growthOf(first - 1)) yield* sql`ANALYZE (SKIP_LOCKED) contacts (account, identity, id)`
      })
  })
  yield* inserted
  yield* countNewContacts(account)
})

const updateAll = Effect.fnUntraced(function* (account: string, states: ReadonlyArray<State>) {
  const sql = yield* SqlClient.SqlClient
  yield* byEngine<Effect.Effect<unknown, SqlError.SqlError>>(sql, {
    sqlite: () => {
      const rows = Iterable.map(states, ({ contact, id }) => [...valuesOf(contact), account, id])
      return runEach(sql, updateOfEach, rows)
    },
    postgres: () =>
      Effect.gen(function* () {
        const rows = yield* eachInSlices(states, ({ contact, id }) => [id, ...valuesOf(contact)])
        yield* sql.unsafe(updateOfAll, [account, ...textLists.parameters(columnsOf(rows))]).values
      })
  })
})

/**
 * Writes and deletes contacts, each address in the order of its writes. Gives what `read` makes of each right after its
 * turn: what became of it, and the contact as it then is; and the ids of the contacts that are written by their addresses.
 * A write that is refused leaves its contact as it was. Runs in a transaction.
 */
export const writeContacts = Effect.fnUntraced(function* <A>(
  options: Call &
    AddMode & {
      readonly writes: ReadonlyArray<Writing>
      readonly read: (result: Result, state: State | undefined, of: Writing, index: number) => A
      /** Whether a contact beyond the bounds may be written, as long as it gets no larger (default: false). */
      readonly isAlone?: boolean
      /** Whether contacts are put on lists and taken off by the writes (default: false). */
      readonly hasLists?: boolean
      /** The lists on which the caller puts all contacts that are written, which a run records (default: none). */
      readonly listNames?: ReadonlyArray<string>
      readonly dryRun?: boolean
    }
) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOfIds } = dialect(sql)
  const {
    account,
    defaultStatus,
    dryRun,
    hasLists = false,
    isAlone = false,
    listNames = [],
    now,
    only,
    read,
    source,
    writes
  } = options
  const date = fromSeconds(now)

  const judge = (
    state: State | undefined,
    { email, seen, write: given }: Writing,
    index: number
  ): readonly [Result, State | undefined] => {
    // One that this call has made is still a new one.
    if (leavesOut({ only }, state?.id !== undefined)) return ["LeftOut", state]
    const isGivenDefault = state === undefined && given !== undefined && given.status === undefined
    const write = isGivenDefault && defaultStatus !== undefined ? { ...given, status: defaultStatus } : given
    const again =
      state === undefined || write === undefined ? undefined : saidAgain(state.contact, { email, write, source, date })
    if (seen !== undefined) {
      const areSo = areListsSo(state?.lists ?? noLists, write)
      const { result } = judgeChange(state?.contact ?? null, { seen, write }, areSo)
      if (result === "AlreadySo" && state !== undefined && again !== undefined)
        return [result, { ...state, contact: again }]
      if (result !== "Done") return [result, state]
    }
    if (write === undefined) return ["Done", undefined]
    const written = { email, write, source, date }
    const lists = hasLists ? new Set(listsAfter(state?.lists ?? [], write)) : noLists
    if (exceedsLists(state?.lists.size ?? 0, lists.size)) return ["TooManyLists", state]
    if (state === undefined) return ["Done", { contact: newContact(written), lists, isOversized: false, madeBy: index }]
    const contact = state.isOversized && !isAlone ? undefined : contactAfter(again ?? state.contact, written)
    return contact === undefined ? ["TooLarge", state] : ["Done", { ...state, contact, lists }]
  }

  const run = dryRun === true ? undefined : yield* openRun
  /** What the call changes, by the canonical address of each contact. */
  const transitions = new Map<string, readonly [index: number, before: Listed | undefined, after: Listed | undefined]>()
  const note = (identity: string, index: number, before: State | undefined, after: State | undefined) => {
    const lists = hasLists ? after?.lists : listsAfter(before?.lists ?? [], { addToLists: listNames })
    transitions.set(identity, [index, before, after && { contact: after.contact, lists: lists ?? [] }])
  }
  const written = { created: 0, changed: 0, deleted: 0, gained: 0, lost: 0 }
  const answers: Array<A> = []
  const ids = new Map<string, number>()
  let open = Map.groupBy(writes.keys(), (index) => writes[index]?.identity ?? "")
  while (open.size > 0) {
    const made: Array<Written> = []
    const places: Array<Places> = []
    // In the order in which all callers lock contacts.
    for (const some of Iterable.chunksOf([...open.keys()].sort(), readAtOnce)) {
      const rows = yield* contactsByAddress(account, some, dryRun ? "plain" : "locked")
      const lists =
        hasLists || run !== undefined ? yield* listsOf(Array.from(rows.values(), ([id]) => Number(id))) : undefined
      const gone: Array<number> = []
      const changed: Array<State> = []
      /** Whether the history notes a change of one of them. */
      let isNoted = false
      yield* inSlices(function* () {
        for (const identity of some) {
          const row = rows.get(identity)
          const before = row && stateOf(row, lists?.get(Number(row[0])))
          let after = before
          for (const index of open.get(identity) ?? []) {
            const one = writes[index]
            if (one === undefined) continue
            const [result, next] = judge(after, one, index)
            after = next
            answers[index] = read(result, after, one, index)
            yield
          }
          // Another one may have made the contact since it was looked for.
          transitions.delete(identity)
          if (after === before) continue
          if (run !== undefined) note(identity, open.get(identity)?.[0] ?? 0, before, after)
          if (before?.id !== undefined && after?.id === undefined) {
            gone.push(before.id)
            // One that is made again is a change.
            if (after === undefined) written.deleted++
          }
          if (after === undefined) continue
          if (after.id === undefined) made.push([identity, after])
          else {
            ids.set(identity, after.id)
            if (hasLists) places.push({ id: after.id, before: before?.lists ?? noLists, after: after.lists })
            if (after.contact === before?.contact) continue
            changed.push(after)
            const mail = mailOf(before?.contact.status, after.contact.status)
            written.changed++
            written.gained += mail.gained
            written.lost += mail.lost
            isNoted ||= before === undefined || isStatusGiven(before.contact, after.contact)
          }
        }
      })
      if (dryRun === true) continue
      if (gone.length > 0)
        yield* inPieces(gone, (ids) => sql`DELETE FROM contacts WHERE account = ${account} AND ${isOneOfIds(ids)}`)
      if (changed.length > 0) {
        const update = updateAll(account, changed)
        yield* isNoted ? namingWriter(update, run?.id) : update
      }
    }
    if (dryRun === true) break
    made.sort(([, a], [, b]) => a.madeBy - b.madeBy)
    if (made.length > 0) {
      const insert = insertAll(options, made, ids)
      yield* made.some(([, { contact }]) => !isMailedStatus(contact.status)) ? namingWriter(insert, run?.id) : insert
    }
    // On PostgreSQL another one may have made a contact since it was looked for, and what is there now is judged.
    const raced = made.filter(([identity]) => !ids.has(identity))
    written.created += made.length - raced.length
    for (const [identity, { lists }] of hasLists ? made : []) {
      const id = ids.get(identity)
      if (id !== undefined) places.push({ id, before: noLists, after: lists })
    }
    if (hasLists) yield* writeLists(account, places)
    open = new Map(raced.map(([identity]) => [identity, open.get(identity) ?? []]))
  }
  if (run !== undefined) {
    // In the order in which the caller names the contacts.
    const inOrder = [...transitions.values()].sort(([one], [other]) => one - other)
    const changes = yield* eachInSlices(inOrder, ([, before, after]) => recordedChange(before, after) ?? [])
    yield* run.record(changes.flat())
  }
  if (dryRun !== true) yield* noteWritten(written)
  return { answers, ids, written }
})
