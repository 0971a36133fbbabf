/**
 * An import as the page goes through it: the file, how it is read, what its columns and words mean, the plan, the apply, its
 * report. All of it stays while one looks at another view, and ends with the page.
 */
import { ImportMapping, ImportMappingText, invalidInput, type RowCells } from "@roster/domain"
import { RunLog, type RunLogFailure, RunOrigin, type RunReport, undoRun } from "@roster/workflows"
import { Data, Effect, type Layer, Redacted, Schema, Stream, Struct } from "effect"
import type { RpcClientError } from "effect/rpc"
import { AsyncResult, Atom, type AtomRegistry } from "effect/reactivity"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { download } from "../kit/Download.ts"
import { pageSize } from "../kit/Pager.tsx"
import { contactsChanged } from "../session/Changes.ts"
import { runtime, type Session, session } from "../session/Session.ts"
import type { FileSight, Reading } from "./thread/FileSight.ts"
import type {
  Applied,
  ImportProblem,
  Planned,
  PlanProgress,
  RowKind,
  RowsFileRequest,
  ShownCause
} from "./thread/ImportCalls.ts"
import * as Choices from "./ImportChoices.ts"
import { countsOf } from "./PlanWords.ts"
import * as Thread from "./thread/ImportThread.ts"
import { leaveNote, type LeftImport, type NoteStorage, removeNote } from "./LeftImport.ts"

interface Threads {
  readonly layer: Layer.Layer<Thread.ImportThread, { readonly message: string }>
}

/** Where files are read. A test does it where it is itself. */
export const threads = Atom.keepAlive(Atom.make<Threads>(Thread))

const threadRuntime = Atom.runtime((get) => get(threads).layer)

/** The thread is gone, with what it knew. */
export class ThreadEnded extends Data.TaggedError("ThreadEnded") {
  override get message(): string {
    return "The browser ended the work on the file, perhaps for want of memory. Nothing was sent. Choose the file again."
  }
}

const threadEnded = (error: ImportProblem | RpcClientError.RpcClientError) =>
  error._tag === "RpcClientError" ? new ThreadEnded() : error

// The file

/** The file, as the person chose it. */
export const file = Atom.keepAlive(Atom.make<File | undefined>(undefined))

/** How the person says that it is read. */
export const reading = Atom.keepAlive(Atom.make<Reading>({}))

/** What the person has changed of columns and words. */
export const edits = Atom.keepAlive(Atom.make<Choices.Edits>(Choices.noEdits))

/** Lists that the contacts are put on, one a line. */
export const lists = Atom.keepAlive(Atom.make(""))

/** Whether people who get no mail may be made ones who do. */
export const resubscribe = Atom.keepAlive(Atom.make(false))

/** What is said of all its rows. */
export const rowChoices = Atom.keepAlive(Atom.make<Choices.RowChoices>(Choices.usualRows))

/** What is in the file, which grows while it is read. */
export const sight = Atom.keepAlive(
  threadRuntime.atom((get) => {
    const chosen = get(file)
    const how = get(reading)
    if (chosen === undefined) return Stream.never
    return Stream.unwrap(
      Effect.map(Thread.ImportThread, (client) =>
        Stream.mapError(client.Look({ file: chosen, reading: how }), threadEnded)
      )
    )
  })
)

/** What is known of the file that was chosen. */
export const seen = Atom.readable((get): FileSight | undefined => {
  const result = get(sight)
  return get(file) !== undefined && AsyncResult.isSuccess(result) ? result.value : undefined
})

const knownCustomFields = Atom.readable((get): ReadonlyArray<string> => {
  return get(AppliedRule.knownFields)?.fields.flatMap(({ isCustom, name }) => (isCustom ? [name] : [])) ?? []
})

/** The columns with what becomes of each. */
export const columns = Atom.readable((get): ReadonlyArray<Choices.ColumnChoice> => {
  const found = get(seen)
  return found === undefined ? [] : Choices.columnChoices(found, get(edits), get(knownCustomFields))
})

/** The custom fields that contacts have, to choose from. */
export const customFields = knownCustomFields

/** The words of columns whose fields take few values. */
export const words = Atom.readable((get) => Choices.wordChoices(get(columns), get(edits)))

/** Who would receive mail. */
export const mail = Atom.readable((get) => {
  const found = get(seen)
  return found === undefined ? undefined : Choices.mailSum(found, get(words))
})

/** The mapping that says all of it. */
export const mapping = Atom.readable((get): ImportMapping => {
  const found = get(seen)
  return found === undefined
    ? {}
    : { ...Choices.mappingOf(found, get(columns), get(words)), ...Choices.cellsOf(get(rowChoices)) }
})

/** The names of these lists. */
export const listNames = Atom.readable((get): ReadonlyArray<string> => [
  ...new Set(
    get(lists)
      .split("\n")
      .map((name) => name.trim())
      .filter((name) => name !== "")
  )
])

/** Changes what becomes of a column. */
export const setColumn = (edits: Choices.Edits, key: string, field: string | null): Choices.Edits => ({
  ...edits,
  columns: { ...edits.columns, [key]: field }
})

/** Changes what a word stands for; an empty value for nothing. */
export const setWord = (edits: Choices.Edits, field: string, word: string, value: string): Choices.Edits => ({
  ...edits,
  values: { ...edits.values, [field]: { ...edits.values[field], [word]: value } }
})

const decodeMapping = Schema.decodeEffect(ImportMappingText, { onExcessProperty: "error" })

/** A file is no saved mapping. */
export class NoMapping extends Data.TaggedError("NoMapping")<{ readonly issue: string }> {
  override get message(): string {
    return `This is no saved mapping: ${this.issue}. Nothing was changed.`
  }
}

/** Takes over what a saved mapping says. */
export const loadMapping = Atom.fn((text: string, get) =>
  decodeMapping(text).pipe(
    Effect.mapError((error) => {
      const { field, issue } = invalidInput(error, "the file")
      return new NoMapping({ issue: `${field}: ${issue}` })
    }),
    Effect.map((saved) => {
      const { delimiter, encoding, skipLines } = saved
      get.set(reading, {
        ...(encoding === undefined ? {} : { encoding }),
        ...(delimiter === undefined ? {} : { delimiter }),
        ...(skipLines === undefined ? {} : { skipLines })
      })
      get.set(edits, Choices.editsOf(saved))
      get.set(rowChoices, Choices.rowsOf(saved, get(rowChoices)))
      return saved
    })
  )
)

/** A mapping as `--save-mapping` writes it. */
export const mappingText = (mapping: ImportMapping): string =>
  // What was decoded can be encoded.
  `${JSON.stringify(Schema.encodeSync(ImportMapping)(mapping), undefined, 2)}\n`

/** The name of a file that belongs to another: `people.plan.json` to `people.csv`. */
export const beside = (name: string, end: string): string =>
  `${name.replace(/(?:\.(?:csv|txt|tsv|json|ndjson|xlsx|xlsm|gz|zip))+$/i, "")}${end}`

// The plan

/** What the thread needs to have the services of the session itself. */
const connectionOf = (current: Session | undefined) => ({
  target: current?.host?.name ?? current?.baseUrl ?? "memory",
  ...(current === undefined ? {} : { connection: { baseUrl: current.baseUrl, key: Redacted.value(current.key) } })
})

/** Cells that a person has corrected, by the lines of their rows, and how the file was read that they are of. */
interface Corrected {
  readonly of: Reading
  readonly rows: ReadonlyMap<number, RowCells>
}

const nothing: Corrected["rows"] = new Map<number, RowCells>()
const corrected = Atom.keepAlive(Atom.make<Corrected>({ of: {}, rows: nothing }))

/** The cells that a person has corrected, by the lines of their rows; none once the file is read in another way. */
export const corrections = Atom.writable(
  (get): Corrected["rows"] => {
    const { of, rows } = get(corrected)
    return of === get(reading) ? rows : nothing
  },
  (context, rows: Corrected["rows"]) => context.set(corrected, { of: context.get(reading), rows })
)

/** The corrections that the plan takes in. */
const plannedCorrections = Atom.keepAlive(Atom.make(nothing))

/** The number of rows that were corrected, or taken back, since the plan was made. */
export const unplanned = Atom.readable((get): number => {
  const [now, then] = [get(corrections), get(plannedCorrections)]
  const lines = new Set([...now.keys(), ...then.keys()])
  return [...lines].filter((line) => now.get(line) !== then.get(line)).length
})

/** Makes the plan; gives how far it is, and in the end the plan. */
export const plan = Atom.keepAlive(
  threadRuntime.fn((_: void, get) => {
    const chosen = get(file)
    const current = get(session)
    get.set(plannedCorrections, get(corrections))
    return Stream.unwrap(
      Effect.map(Thread.ImportThread, (client): Stream.Stream<PlanProgress, ImportProblem | ThreadEnded> => {
        if (chosen === undefined) return Stream.empty
        return Stream.mapError(
          client.Plan({
            file: chosen,
            sheet: get(reading).sheet,
            mapping: get(mapping),
            listNames: get(listNames),
            resubscribe: get(resubscribe),
            mode: Struct.pick(get(rowChoices), ["only", "defaultStatus"]),
            onDuplicate: get(rowChoices).onDuplicate,
            corrections: get(corrections),
            ...connectionOf(current)
          }),
          threadEnded
        )
      })
    )
  })
)

/** The plan, once it is made. */
export const planned = Atom.readable((get): Planned | undefined => {
  const result = get(plan)
  return AsyncResult.isSuccess(result) && result.value._tag === "Planned" ? result.value.planned : undefined
})

/** The rows of the plan that are shown. */
export const shownKind = Atom.keepAlive(Atom.make<RowKind>("new"))

/** Of the rejected rows, those of the cause that is shown; all without one. */
export const shownCause = Atom.keepAlive(Atom.make<ShownCause | undefined>(undefined))

/** The page of them that is shown. */
export const shownPage = Atom.keepAlive(Atom.make(0))

/** The rows of the plan that are shown. */
export const rows = threadRuntime.atom((get) => {
  const made = get(planned)
  const kind = get(shownKind)
  const offset = get(shownPage) * pageSize
  const cause = kind === "rejected" ? get(shownCause) : undefined
  if (made === undefined) return Effect.never
  return Thread.ImportThread.use((client) => client.Rows({ plan: made.id, kind, cause, offset, limit: pageSize })).pipe(
    Effect.mapError(threadEnded)
  )
})

/** The rejected rows of the plan that have a slip, with the slip put right. */
export const proposals = threadRuntime.atom((get) => {
  const made = get(planned)
  if (made === undefined) return Effect.never
  return Thread.ImportThread.use((client) => client.Proposals({ plan: made.id })).pipe(Effect.mapError(threadEnded))
})

/** The number of rows that can be shown so. */
export const shownTotal = Atom.readable((get): number => {
  const made = get(planned)
  const kind = get(shownKind)
  const shown = get(shownCause)
  if (made === undefined) return 0
  if (kind !== "rejected" || shown === undefined) return countsOf(made)[kind]
  return made.summary.causes?.find(({ cause, column }) => cause === shown.cause && column === shown.column)?.count ?? 0
})

/** Shows rows of a kind from the first; of the rejected ones those of a cause, or all. */
export const showRows = (registry: AtomRegistry.AtomRegistry, kind: RowKind, cause?: ShownCause): void => {
  registry.set(shownPage, 0)
  registry.set(shownKind, kind)
  registry.set(shownCause, cause)
}

/** The file of rejected or repeated rows. */
export const rowsFileOf = (request: RowsFileRequest) =>
  Thread.ImportThread.use((client) => client.RowsFile(request)).pipe(Effect.mapError(threadEnded))

/** Saves the rejected or repeated rows as a file. */
export const saveRows = threadRuntime.fn((request: RowsFileRequest, get) => {
  const isJson = request.of === "rejected" && get(planned)?.header?.format !== undefined
  const name = `${get(file)?.name ?? "contacts"}.${request.of}.${isJson ? "ndjson" : "csv"}`
  return Effect.map(rowsFileOf(request), (content) => download(name, content))
})

/** Why the plan is not applied, in words, though it could be. */
export const refusal = Atom.readable((get): string | undefined => {
  if (get(unplanned) > 0) return "Rows were corrected since this plan. Plan again, so that it takes them in."
  return get(rowChoices).failsOnWarning && get(planned)?.summary.warnings !== undefined
    ? "Something looks odd in the rows, as the plan says, and then nothing is to be imported."
    : undefined
})

/** The commands that do the same: the one that makes the plan, unless rows are corrected, and the one that applies it. */
export const commands = Atom.readable((get): ReadonlyArray<ReadonlyArray<string>> => {
  const name = get(file)?.name
  if (name === undefined) return []
  const { defaultStatus, failsOnWarning, onDuplicate, only } = get(rowChoices)
  const { sheet } = get(reading)
  const plan = beside(name, ".plan.json")
  const isMapped = Object.keys(get(mapping)).length > 0
  const apply = ["contacts", "apply", plan, "--skip-changed"]
  if (get(corrections).size > 0) return [apply]
  return [
    [
      "contacts",
      "import",
      name,
      ...(sheet === undefined ? [] : ["--sheet", sheet]),
      ...(isMapped ? ["--mapping", beside(name, ".mapping.json")] : []),
      ...get(listNames).flatMap((list) => ["--list", list]),
      ...(get(resubscribe) ? ["--resubscribe"] : []),
      ...(only === undefined ? [] : [`--only-${only}`]),
      ...(defaultStatus === undefined ? [] : ["--default-status", defaultStatus]),
      ...(onDuplicate === "last" ? [] : ["--on-duplicate", onDuplicate]),
      ...(failsOnWarning ? ["--fail-on-warning"] : []),
      "--plan",
      plan
    ],
    apply
  ]
})

// The apply

/** The run of an apply that began, which can be undone as far as it is recorded. */
export const appliedRun = Atom.keepAlive(Atom.make<string | undefined>(undefined))

/** The thread is gone while it applied a plan. */
export class ApplyEnded extends Data.TaggedError("ApplyEnded") {
  override get message(): string {
    return (
      "The browser ended the import before its end, perhaps for want of memory. Some of its rows are stored, and it is not " +
      "known which. Choose the file again and plan it: the plan shows what is left. What is stored can be undone."
    )
  }
}

/** Whether an apply waits. */
export const isPaused = Atom.keepAlive(Atom.make(false))

/** Whether an apply was ended, and waits for the answers to what it sent. */
export const isCancelled = Atom.keepAlive(Atom.make(false))

/** The number of rows that were applied. */
export const applied = Atom.keepAlive(Atom.make(0))

/** Tells the thread that an apply waits, goes on or ends. */
export const hold = threadRuntime.fn((how: { readonly isHeld: boolean; readonly isCancelled: boolean }) =>
  Effect.flatMap(Thread.ImportThread, (client) => client.Hold(how))
)

/** Holds the apply before its next request, or lets it go on. */
export const pause = (registry: AtomRegistry.AtomRegistry, isHeld: boolean): void => {
  registry.set(hold, { isHeld, isCancelled: false })
  registry.set(isPaused, isHeld)
}

/** Ends the apply after the requests that are under way, whose answers are still counted. */
export const cancel = (registry: AtomRegistry.AtomRegistry): void => {
  registry.set(hold, { isHeld: false, isCancelled: true })
  registry.set(isPaused, false)
  registry.set(isCancelled, true)
}

/** While rows are sent, the browser asks before it leaves the page. */
const askBeforeLeaving = Effect.acquireRelease(
  Effect.sync(() => {
    const ask = (event: Event): void => event.preventDefault()
    // Tests have no page.
    globalThis.addEventListener?.("beforeunload", ask)
    return ask
  }),
  (ask) => Effect.sync(() => globalThis.removeEventListener?.("beforeunload", ask))
)

/** Where the page notes that an import is going on; a test has none. */
export const notes = Atom.keepAlive(Atom.make<NoteStorage | undefined>(globalThis.sessionStorage))

/** What was going on when the page was left. */
export const left = Atom.keepAlive(Atom.make<LeftImport | undefined>(undefined))

const client = Atom.keepAlive(threadRuntime.atom(Thread.ImportThread.use(Effect.succeed)))

/** Applies the plan, or what is left of it. The report is whole however it ends. */
export const apply = Atom.keepAlive(
  runtime.fn(
    Effect.fnUntraced(function* (made: Planned, get: Atom.FnContext) {
      get.set(isPaused, false)
      get.set(isCancelled, false)
      get.set(applied, 0)
      get.set(appliedRun, undefined)
      yield* askBeforeLeaving
      const thread = yield* get.result(client)
      const storage = get(notes)
      const log = yield* RunLog
      const about = get(file)?.name
      const total = made.summary.new + made.summary.changed
      leaveNote(storage, { target: log.target, digest: made.digest, rows: total })
      const run = yield* Effect.provideService(
        log.open({ command: "import", input: { plan: made.id } }),
        RunOrigin,
        about === undefined ? {} : { about }
      )
      get.set(appliedRun, run.header.id)
      const write = Effect.fnUntraced(function* (number: number, entry: Effect.Effect<void, RunLogFailure>) {
        const failure = yield* Effect.as(entry, undefined).pipe(
          Effect.catchTag("RunLogFailure", (error) => Effect.succeed(error))
        )
        yield* thread.Written({ number, problem: failure?.detail })
      })
      let report: Applied | undefined
      const events = thread.Apply({ plan: made.id, ...connectionOf(get(session)) })
      yield* Stream.runForEach(events, (event) => {
        if (event._tag === "Append") {
          return write(event.number, run.append(event.entry, { isDurable: event.isDurable }))
        }
        if (event._tag === "End") return write(event.number, run.end)
        if (event._tag === "Done") get.set(applied, event.rows)
        else report = { ...event.report, run: event.report.run === undefined ? undefined : run.header.id }
        return Effect.void
      }).pipe(Effect.catchTag("RpcClientError", () => Effect.fail(new ApplyEnded())))
      // An apply that does not fail ends with its report.
      if (report === undefined) return yield* new ApplyEnded()
      if (isWhole(report)) {
        removeNote(storage)
        get.set(left, undefined)
      }
      return report
    }, Effect.scoped),
    { reactivityKeys: contactsChanged }
  )
)

/** Whether an apply came to its end: every row has an answer. */
export const isWhole = ({ notSent, unknown }: Pick<RunReport, "notSent" | "unknown">): boolean =>
  notSent + unknown === 0

/** Undoes what was applied. */
export const undone = Atom.keepAlive(
  runtime.fn(
    Effect.fnUntraced(function* (run: string, get) {
      const report = yield* undoRun(run)
      if (isWhole(report)) {
        removeNote(get(notes))
        get.set(left, undefined)
      }
      return report
    }),
    { reactivityKeys: contactsChanged }
  )
)

// Beginning again

/** Forgets the plan, since something that it rests on changes. */
export const replan = (registry: AtomRegistry.AtomRegistry): void => {
  registry.set(plan, Atom.Reset)
  registry.set(apply, Atom.Reset)
  registry.set(undone, Atom.Reset)
  showRows(registry, "new")
}

/** Takes a file, and forgets what was said of another. */
export const choose = (registry: AtomRegistry.AtomRegistry, chosen: File | undefined): void => {
  replan(registry)
  registry.set(edits, Choices.noEdits)
  registry.set(reading, {})
  registry.set(corrections, nothing)
  registry.set(rowChoices, Choices.usualRows)
  registry.set(file, chosen)
}
