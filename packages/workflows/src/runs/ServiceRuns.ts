/** Runs that the service records itself, in the transaction of each write, as the log of runs has them. (docs/decisions/runs.md) */
import {
  type BegunRun,
  canonicalEmail,
  maximumChangesPerPage,
  maximumRunText,
  NamedRun,
  type RecordedChange,
  type RunNotFound,
  type RunRecord,
  type RunsService,
  RunTaken,
  ServiceError
} from "@roster/domain"
import { ContactStates, randomId, withoutOwnKey } from "@roster/domain/internal"
import { Cause, DateTime, Effect, Exit, Option, type Scope, Stream } from "effect"
import type { Changed, RunEntry } from "./RunEntry.ts"
import {
  type OpenRun,
  type RecordedRun,
  recordedTarget,
  type Run,
  type RunHeader,
  type RunInfo,
  RunLogFailure,
  RunOrigin,
  type RunTarget,
  textOf
} from "./RecordedRun.ts"

type Service = RunsService["Service"]

/** How long the end of a program waits for the service to give its run back. */
const longestLeave = "5 seconds"

const gone = () => new RunLogFailure({ detail: "the service no longer keeps the run" })

/** The changes of a run up to the last one of a record, from the first on or from the last back. */
const changesOf = (
  runs: Service,
  { changes: last, id }: RunRecord,
  { after = 0, isBackwards = false }: { readonly after?: number; readonly isBackwards?: boolean } = {}
): Stream.Stream<ReadonlyArray<RecordedChange>, RunLogFailure | ServiceError> =>
  Stream.paginate(isBackwards ? last + 1 : after, (at) =>
    (isBackwards ? at <= 1 : at >= last)
      ? Effect.succeed([[], Option.none<number>()] as const)
      : runs.changes(id, { limit: maximumChangesPerPage, ...(isBackwards ? { before: at } : { after: at }) }).pipe(
          Effect.catchTags({ RunNotFound: () => Effect.fail(gone()), InvalidInput: Effect.die }),
          Effect.flatMap((page) => {
            const next = page.at(-1)?.number
            // What is left out would not be undone.
            if (next === undefined) return Effect.fail(gone())
            return Effect.succeed([[page.filter(({ number }) => number <= last)], Option.some(next)] as const)
          })
        )
  )

/** The changes as entries, in which each contact is once. What was erased is in none. */
const entriesOf = (changes: ReadonlyArray<RecordedChange>): ReadonlyArray<RunEntry> => {
  const entries: Array<RunEntry> = []
  let seen = new Set<string>()
  let created: Array<readonly [string, string]> = []
  let parts: Array<string> = []
  let changed: Array<Changed> = []
  let deleted: Array<ContactStates.ContactState> = []
  let dates: Array<Extract<RunEntry, { readonly _tag: "StatusesGiven" }>["dates"][number]> = []
  const end = () => {
    if (seen.size > 0) entries.push({ _tag: "Changes", created, parts, changed, deleted })
    if (dates.length > 0) entries.push({ _tag: "StatusesGiven", dates })
    seen = new Set()
    created = []
    parts = []
    changed = []
    deleted = []
    dates = []
  }
  for (const { after, effect, email, fields, parts: ofFields, statusDate } of changes) {
    if (email === null) continue
    const key = canonicalEmail(email)
    if (seen.has(key)) end()
    seen.add(key)
    if (effect === "Created") {
      created.push([email, after ?? ""])
      parts.push(ofFields ?? "")
    } else if (effect === "Changed") changed.push({ email, fields, after: after ?? "" })
    else {
      const before = Object.entries(fields).flatMap(([field, [value]]) => (value === null ? [] : [[field, value]]))
      deleted.push({ ...Object.fromEntries(before), Email: email })
    }
    if (statusDate !== undefined) dates.push({ email: key, ...statusDate })
  }
  end()
  return entries
}

const forwards = (runs: Service, record: RunRecord) =>
  Stream.flattenIterable(Stream.map(changesOf(runs, record), entriesOf))

const backwards = (runs: Service, record: RunRecord) =>
  changesOf(runs, record, { isBackwards: true }).pipe(
    Stream.map((page) => entriesOf(page.toReversed()).toReversed()),
    Stream.flattenIterable
  )

/** What a run is of, as far as the service takes it: a rule or a path can be longer. */
const aboutOf = (words: string | undefined): { readonly about?: string } => {
  const about = words?.replaceAll("\0", "").slice(0, maximumRunText).toWellFormed() ?? ""
  return about === "" ? {} : { about }
}

const mayBeWritten = (error: unknown): boolean => error instanceof ServiceError && error.mayHaveHappened

const headerOf = (here: RunTarget, { about, began, command, id, input, key, undoes }: RunRecord): RunHeader => ({
  id,
  command,
  ...recordedTarget(here),
  began: DateTime.formatIso(began),
  ...(input === undefined ? {} : { input }),
  ...(undoes === undefined ? {} : { undoes }),
  ...(about === undefined ? {} : { about }),
  ...(key === null ? {} : { by: key })
})

const infoOf = (here: RunTarget, record: RunRecord): RunInfo => ({
  header: headerOf(here, record),
  counts: { created: record.created, changed: record.changed, deleted: record.deleted },
  isEnded: record.ended !== null,
  isTaken: record.isTaken
})

/** The runs of a service that records them. */
export const makeServiceRuns = (runs: Service, target: Effect.Effect<RunTarget, ServiceError>) => {
  /** A run that this scope is at work on. If it does not end, it is left, so that it can go on at once. */
  const begun = (record: BegunRun): Effect.Effect<Run, ServiceError, Scope.Scope> =>
    Effect.gen(function* () {
      let hasEnded = false
      let hasChanged = record.changes > 0
      yield* Effect.addFinalizer(() =>
        hasEnded
          ? Effect.void
          : runs.end(record.id, { resumable: true }).pipe(Effect.timeoutOption(longestLeave), Effect.ignore)
      )
      return {
        header: headerOf(yield* target, record),
        isResumed: record.isResumed,
        takesEntries: false,
        earlier: forwards(runs, record),
        append: () => Effect.void,
        write: (call, changes = () => true) =>
          Effect.onExit(Effect.provideService(call, NamedRun, record.id), (exit) =>
            Effect.sync(() => {
              hasChanged ||= Exit.isSuccess(exit)
                ? changes(exit.value)
                : Cause.hasInterrupts(exit.cause) ||
                  exit.cause.reasons.filter(Cause.isFailReason).some(({ error }) => mayBeWritten(error))
            })
          ),
        // A run that does not end can be resumed, and is left in a minute.
        end: Effect.suspend(() => {
          hasEnded = true
          return Effect.ignore(runs.end(record.id))
        }),
        hasChanged: Effect.sync(() => hasChanged)
      }
    })

  const begin = Effect.fnUntraced(function* ({ command, input, resume, undoes }: OpenRun & { undoes?: string }) {
    const { about } = yield* RunOrigin
    const idempotencyKey = yield* randomId
    const payload = {
      command,
      ...aboutOf(about),
      // It may hold addresses, as a rule does, and be long.
      ...(input === undefined ? {} : { input: ContactStates.digestOf({ input: textOf(input) }) }),
      ...(undoes === undefined ? {} : { undoes }),
      ...(resume === undefined ? {} : { resume })
    }
    return yield* begun(yield* withoutOwnKey(runs.begin(payload, { idempotencyKey })))
  })

  return {
    open: (options: OpenRun) => Effect.catchTag(begin(options), "RunNotFound", Effect.die),
    list: Effect.gen(function* () {
      const here = yield* target
      return yield* Stream.runCollect(
        Stream.paginate(undefined as string | undefined, (before) =>
          Effect.map(
            Effect.catchTags(runs.list({ limit: maximumChangesPerPage, ...(before === undefined ? {} : { before }) }), {
              InvalidInput: Effect.die,
              // The runs before the last of a page go with it.
              RunNotFound: () => Effect.succeed([])
            }),
            (page) =>
              [
                page.map((record) => infoOf(here, record)),
                page.length < maximumChangesPerPage ? Option.none() : Option.fromUndefinedOr(page.at(-1)?.id)
              ] as const
          )
        )
      )
    }),
    read: Effect.fnUntraced(function* (
      id: string
    ): Effect.fn.Return<RecordedRun, RunNotFound | RunTaken | ServiceError> {
      const record = yield* runs.get(id)
      if (record.isTaken) return yield* new RunTaken({ run: id })
      return {
        ...infoOf(yield* target, record),
        isFormer: false,
        entries: forwards(runs, record),
        backwards: backwards(runs, record),
        recorded: {
          total: record.changes,
          changes: (after) => Stream.flattenIterable(changesOf(runs, record, { after }))
        },
        beginUndo: (input) =>
          begin({ command: "undo", undoes: id, ...(input === undefined ? {} : { input }) }).pipe(
            Effect.catchTag("InvalidInput", Effect.die)
          )
      }
    })
  }
}
