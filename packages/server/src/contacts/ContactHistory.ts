/**
 * The history of a contact, out of the changes of runs and the rows of statuses and consents. No index leads from an address to
 * the changes of runs, which are many in a row of text: a page looks through so many rows and says where it ended.
 * (docs/decisions/history.md)
 */
import {
  canonicalEmail,
  type ContactHistory,
  ContactNotFound,
  type FieldChanges,
  type HistoryEntry,
  type HistoryPage,
  type RecordedChange
} from "@roster/domain"
import { ContactFields, formatWireDate, historyCursor, readHistoryPage } from "@roster/domain/internal"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { changesOf, maximumInRow, pageBytes } from "../runs/ChangeRows.ts"
import { type RunRow, runsOf } from "../runs/RunRow.ts"
import { defaultPage } from "../store/Rows.ts"
import { byEngine } from "../store/SqlDialect.ts"
import { fromSeconds, storeClock } from "../store/StoreClock.ts"
import { yieldToEventLoop } from "../threads/Slices.ts"

/** The rows of changes, of up to 64 KiB, that a page looks through, and those of one statement. */
const rowsOfPage = 2048
const rowsAtOnce = 64

/** The runs that are looked at together. */
const runsAtOnce = 64

type Run = Pick<RunRow, "number" | "id" | "command" | "about" | "undoes" | "key_name" | "began" | "lease">

const runColumns = "number, id, command, about, undoes, key_name, began, lease"

/** What the rows of statuses and consents have the fields of, by their columns. */
const noted = new Map(
  ContactFields.allFields
    .filter(({ column }) => column === "status" || column.startsWith("consent_"))
    .map(({ column, kind, path }) => [column, { kind, path }] as const)
)
const notedPaths = new Set(Array.from(noted.values(), ({ path }) => path))

interface StatusRow {
  readonly number: number
  readonly field: string
  readonly was: string | null
  readonly becomes: string | null
  readonly time: number
  readonly key_name: string | null
  readonly run: string | null
  readonly command: string | null
  readonly about: string | null
  readonly undoes: string | null
}

type RunText = Pick<Run, "about" | "undoes"> & { readonly command: string | null }

const ofRun = ({ about, command, undoes }: RunText) => ({
  ...(command === null ? {} : { command }),
  ...(about === null ? {} : { about }),
  ...(undoes === null ? {} : { undoes })
})

const valueOf = (kind: string, text: string | null): string | null =>
  text === null || kind !== "date" ? text : formatWireDate(fromSeconds(Number(text)))

/** The rows that one write made: of one time, key and run, each of another field. */
const writesOf = (rows: ReadonlyArray<StatusRow>) => {
  const writes: Array<{ last: StatusRow; readonly fields: Record<string, FieldChanges[string]> }> = []
  for (const row of rows) {
    const { kind, path } = noted.get(row.field) ?? { kind: "text", path: row.field }
    const write = writes.at(-1)
    const change = [valueOf(kind, row.was), valueOf(kind, row.becomes)] as const
    const isSame =
      write !== undefined &&
      Number(write.last.time) === Number(row.time) &&
      write.last.key_name === row.key_name &&
      write.last.run === row.run &&
      !Object.hasOwn(write.fields, path)
    if (isSame) {
      write.last = row
      write.fields[path] = change
    } else writes.push({ last: row, fields: { [path]: change } })
  }
  return writes
}

/** What the rows of changes have in them, in lower case, that are of an address. */
const needleOf = (identity: string): string => {
  const plain = /^[ -~]*/.exec(identity)?.[0] ?? ""
  // The domain of an international address has two spellings, and its letters have two forms.
  const isWhole = plain === identity && !/[@.]xn--/.test(identity)
  const known = isWhole ? identity : plain.slice(0, plain.indexOf("@") + 1 || undefined)
  return `"email":${JSON.stringify(known)}`.slice(0, isWhole ? undefined : -1).toLowerCase()
}

/** The changes of fields of which no other rows tell. */
const otherFields = (fields: FieldChanges): FieldChanges =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => !notedPaths.has(field)))

/** A page of the history of the contact of an address. */
export const readHistory = Effect.fnUntraced(function* (account: string, email: string, page: HistoryPage) {
  const sql = yield* SqlClient.SqlClient
  const { limit = defaultPage } = page
  const at = { ...(yield* readHistoryPage(page)) }
  const identity = canonicalEmail(email)
  const now = yield* storeClock(sql).seconds
  const [there] = yield* sql<{ readonly date_added: number; readonly source: string }>`
    SELECT date_added, source FROM contacts WHERE account = ${account} AND identity = ${identity}`
  const added = there === undefined ? undefined : Number(there.date_added)
  const source = there === undefined ? {} : { source: there.source }

  const entries: Array<HistoryEntry> = []
  let bytes = 0
  const isFull = () => entries.length >= limit || bytes >= pageBytes
  const add = (entry: HistoryEntry) => {
    entries.push(entry)
    bytes += JSON.stringify(entry.fields).length
  }

  // As many as make a page, each of a status and three parts of a consent.
  const rows = yield* sql<StatusRow>`
    SELECT noted.*, runs.command, runs.about, runs.undoes FROM (
      SELECT number, field, was, becomes, time, key_name, run FROM status_changes
      WHERE account = ${account} AND identity = ${identity} AND (time, number) < (${at.time}, ${at.status})
      ORDER BY time DESC, number DESC LIMIT ${noted.size * (limit + 1)}
    ) AS noted LEFT JOIN runs ON runs.account = ${account} AND runs.id = noted.run AND runs.goes > ${now}
    ORDER BY noted.time DESC, noted.number DESC`
  const writes = writesOf(rows)
  let write = 0

  /** The first run that may have added the contact that is there. */
  const [adding] =
    added === undefined || at.isAdded
      ? []
      : yield* sql<{ readonly number: number | null }>`
          SELECT min(number) AS number FROM ${runsOf(sql, account, now)} AND began <= ${added} AND lease >= ${added}`
  const firstRun = adding?.number == null ? undefined : Number(adding.number)

  /** Adds what comes before the changes of a run that began at a time. */
  const addUpTo = (run: number, began: number) => {
    while (!isFull()) {
      const next = writes[write]
      const isDue = !at.isAdded && added !== undefined && (firstRun === undefined ? began <= added : run < firstRun)
      if (isDue && (next === undefined || Number(next.last.time) < added)) {
        at.isAdded = true
        add({ date: fromSeconds(added), effect: "Created", fields: {}, key: null, run: null, ...source })
      } else if (next !== undefined && Number(next.last.time) >= began) {
        const { fields, last } = next
        write++
        at.time = Number(last.time)
        at.status = Number(last.number)
        add({
          date: fromSeconds(at.time),
          effect: "Changed",
          fields,
          key: last.key_name,
          run: last.run,
          ...ofRun(last)
        })
      } else return
    }
  }

  const addChange = (run: Run, { effect, fields: all }: RecordedChange) => {
    const fields = effect === "Changed" ? otherFields(all) : all
    if (effect === "Changed" && Object.keys(fields).length === 0) return
    const [began, lease] = [Number(run.began), Number(run.lease)]
    const isAdding = effect === "Created" && !at.isAdded && added !== undefined && began <= added && added <= lease
    if (isAdding) at.isAdded = true
    add({
      date: fromSeconds(isAdding ? added : began),
      effect,
      fields,
      key: run.key_name,
      run: run.id,
      ...ofRun(run),
      ...(isAdding ? source : {})
    })
  }

  const needle = needleOf(identity)
  const isOfAddress = byEngine(sql, {
    sqlite: () => sql`instr(lower(content), ${needle}) > 0`,
    // Of letters that are not ASCII the search asks nothing.
    postgres: () => sql`strpos(lower(content COLLATE "C"), ${needle}) > 0`
  })
  /** The rows below a row of these runs. */
  const rowsBelow = (runs: ReadonlyArray<Run>, run: number, row: number) =>
    sql`
      SELECT run, number, CASE WHEN ${isOfAddress} THEN content END FROM (
        SELECT run, number, content FROM run_changes
        WHERE (run, number) < (${run}, ${row}) AND run >= ${Number(runs.at(-1)?.number)}
          AND +run IN (${sql.literal(runs.map(({ number }) => Number(number)).join())})
        ORDER BY run DESC, number DESC LIMIT ${rowsAtOnce}
      ) AS below ORDER BY run DESC, number DESC`.values

  const resumed = { run: at.run, change: at.change }
  /** Adds the changes of a row, the last one first. */
  const addRow = (run: Run, upTo: number, content: unknown) => {
    const changes = changesOf([upTo, content])
    for (const change of changes.toReversed()) {
      const isOnPageBefore = Number(run.number) === resumed.run && change.number >= resumed.change
      if (isOnPageBefore || change.email === null || canonicalEmail(change.email) !== identity) continue
      addUpTo(Number(run.number), Number(run.began))
      if (isFull()) return
      addChange(run, change)
      at.run = Number(run.number)
      at.change = change.number
    }
    at.change = upTo - changes.length + 1
  }

  const runsUpTo = (number: number) =>
    sql<Run>`
      SELECT ${sql.literal(runColumns)} FROM ${runsOf(sql, account, now)} AND number <= ${number} AND changes > 0
      ORDER BY number DESC LIMIT ${runsAtOnce}`
  let [run, row] = [at.run, at.change + maximumInRow]
  let runs = yield* runsUpTo(run)
  let read = 0
  while (runs.length > 0 && !isFull() && read < rowsOfPage) {
    const byNumber = new Map(runs.map((one) => [Number(one.number), one]))
    const found = yield* rowsBelow(runs, run, row)
    read += found.length
    for (const [number, upTo, content] of found) {
      const one = byNumber.get(Number(number))
      if (one !== undefined && content !== null) addRow(one, Number(upTo), content)
      if (isFull()) break
      ;[run, row] = [Number(number), Number(upTo)]
      at.run = run
      if (content === null) at.change = row
    }
    if (found.length < rowsAtOnce && !isFull()) {
      at.run = Number(runs.at(-1)?.number)
      at.change = 0
      ;[run, row] = [at.run - 1, Number.MAX_SAFE_INTEGER]
      runs = yield* runsUpTo(run)
    }
    yield* yieldToEventLoop
  }
  if (runs.length === 0) addUpTo(0, -1)
  const isLast = runs.length === 0 && !isFull()
  if (entries.length === 0 && there === undefined && isLast && page.cursor === undefined) {
    return yield* new ContactNotFound({ email })
  }
  const history: ContactHistory = { exists: there !== undefined, entries, next: isLast ? null : historyCursor(at) }
  return history
})
