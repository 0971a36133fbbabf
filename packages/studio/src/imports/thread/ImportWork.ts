/** Reads files, plans their import and carries it out, in a thread of its own: the page goes on meanwhile. */
import {
  ContactColumns,
  ContactFields,
  contactOf,
  correctedRows,
  type ContactsService,
  encodingByMark,
  formatWireDate,
  type ImportMapping,
  type ImportRow,
  lookAtRows,
  makeRowCheck,
  readContacts,
  rejectedFile,
  type RowCheck,
  type UnreadableFile
} from "@roster/domain"
import {
  duplicatesFile,
  type ImportPlan,
  makeImportPlan,
  type PlannedRow,
  type Rejection,
  rejectionOf,
  repeatedRejection,
  RunLog,
  RunLogFailure,
  surveyContacts,
  type UnreadablePlan,
  type UploadSurvey
} from "@roster/workflows"
import { Data, DateTime, Deferred, Effect, Latch, type Layer, Queue, Result, Stream, Struct } from "effect"
import { makeFileSight, type FileSight, type Reading } from "./FileSight.ts"
import {
  ImportCalls,
  ImportProblem,
  type ApplyEvent,
  type PlanProgress,
  type PlanRequest,
  type ProposedCorrection,
  type RowsRequest,
  type ShownRow
} from "./ImportCalls.ts"
import { blobOf, type ImportedContent, openContent } from "./ImportedContent.ts"

/** The services of a plan. */
export type Connect = (
  request: Pick<PlanRequest, "connection" | "target">
) => Layer.Layer<ContactsService | RunLog, { readonly message: string }>

const problem = ({ message }: { readonly message: string }) => new ImportProblem({ message })

// What is in a file

/** Parts of a file between two sights of it. */
const partsPerSight = 32

/** The first bytes of a file, which show how it can be read. */
const firstBytes = 64 * 1024

/** Ends a look at a file before its end, which nothing of it may be taken for. */
class Enough extends Data.TaggedError("Enough") {}

const firstOf = ({ bytes }: ImportedContent) =>
  Stream.suspend(() => {
    let known = 0
    return Stream.mapEffect(bytes, (part) => {
      if (known >= firstBytes) return Effect.fail(new Enough())
      known += part.length
      return Effect.succeed(part)
    })
  })

/** How a file is read, without its sheet. */
const readingOf = (given: Reading, { mapping }: ImportedContent): ImportMapping => ({
  ...Struct.omit(given, ["sheet"]),
  ...mapping
})

/** How a file is probably read, where nothing is said: its encoding, and the lines above its header. */
const proposed = Effect.fnUntraced(function* (content: ImportedContent, given: Reading) {
  const found: { encoding?: string; skipLines?: number } = {}
  // Each round finds another thing, and there are two.
  for (let round = 0; round < 2; round++) {
    const error = yield* Stream.runDrain(
      readContacts(firstOf(content), { ...found, ...readingOf(given, content) })
    ).pipe(
      Effect.as(undefined),
      Effect.catchTags({ UnreadableFile: (error) => Effect.succeed(error), Enough: () => Effect.undefined })
    )
    if (error?.encoding !== undefined) found.encoding ??= error.encoding
    if (error?.skipLines !== undefined) found.skipLines ??= error.skipLines
  }
  return { ...found, ...given }
})

const sights = (content: ImportedContent, reading: Reading, mark: string | undefined) =>
  Stream.suspend(() => {
    const found = makeFileSight({
      reading,
      isWorkbook: content.isWorkbook,
      encoding: mark ?? new TextDecoder(reading.encoding).encoding,
      isMarked: mark !== undefined
    })
    return Stream.chunks(lookAtRows(content.bytes, readingOf(reading, content))).pipe(
      Stream.mapAccum(
        () => 0,
        (number, part) => {
          found.add(part)
          return [number + 1, number % partsPerSight === 0 ? [found.sight(false)] : []] as const
        }
      ),
      Stream.concat(Stream.suspend(() => Stream.make(found.sight(true))))
    )
  })

/** Shows what is in a file. Nothing that is said is changed; what is not said is proposed. */
const look = (file: Blob, given: Reading): Stream.Stream<FileSight, ImportProblem> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const content = yield* openContent(file, given.sheet)
      const [start] = yield* Stream.runCollect(Stream.take(content.bytes, 1))
      const mark = start === undefined ? undefined : encodingByMark(start)
      const reading = yield* proposed(content, given)
      return sights(content, reading, mark).pipe(
        // The first text that is not ASCII may come late.
        Stream.catchTag("UnreadableFile", (error) =>
          error.encoding !== undefined && reading.encoding === undefined
            ? sights(content, { ...reading, encoding: error.encoding }, mark)
            : Stream.fail(error)
        )
      )
    })
  ).pipe(Stream.mapError(problem))

// Its plan

interface Kept {
  readonly plan: ImportPlan
  readonly survey: UploadSurvey
  readonly rows: Stream.Stream<ImportRow, ImportProblem | UnreadableFile>
  /** The lines of rows that the plan itself does not have. */
  readonly unchanged: ReadonlySet<number>
  readonly kept: ReadonlySet<number>
  readonly leftOut: ReadonlySet<number>
  /** What an import makes of other cells for a row; rows of JSON are not corrected here. */
  readonly check: RowCheck | undefined
}

/** Length of a value beyond which the page shows its beginning; the file of the plan has all of it. */
const longestShown = 300

const textOf = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  const text = DateTime.isDateTime(value) ? formatWireDate(DateTime.toUtc(value)) : String(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

/** What is written of a new contact. */
const writtenFields = ({ change }: PlannedRow): ShownRow["fields"] => {
  const { customFields, ...write } = change.write ?? {}
  const own = ContactFields.addedFields.flatMap(({ read, wire }) => {
    const value = textOf(read({ ...write, email: "" }))
    return value === null || wire === "Email" ? [] : [[wire, null, value] as const]
  })
  return [...own, ...Object.entries(customFields ?? {}).map(([name, value]) => [name, null, textOf(value)] as const)]
}

const shownPlanned = (row: PlannedRow): ShownRow => ({
  line: row.line,
  email: row.change.email,
  fields:
    row.fields === undefined
      ? writtenFields(row)
      : Object.entries(row.fields).map(
          ([name, [old, now]]) => [name.replace(/^(?:CustomFields|Consent)\./, ""), textOf(old), textOf(now)] as const
        )
})

const shownRow = (row: ImportRow): ShownRow => {
  const contact = contactOf(row)
  return {
    line: row.line,
    email: Result.isSuccess(contact) ? contact.success.email : "",
    fields:
      Result.isSuccess(contact) && contact.success.status !== undefined
        ? [["Status", null, contact.success.status]]
        : []
  }
}

/** A row that is left out for another, with all that is lost by that. */
const shownRepeated = (row: ImportRow, otherLine: number): ShownRow => {
  const { cells = [], names = [] } = row.record ?? {}
  return {
    ...shownRow(row),
    reason: `Line ${otherLine.toLocaleString()} is imported in its place.`,
    fields: cells.flatMap((cell, at) => (cell.trim() === "" ? [] : [[names[at] ?? "", null, textOf(cell)] as const]))
  }
}

interface Rejected {
  readonly row: ImportRow
  readonly rejection: Rejection
}

/** The rows that are rejected, and why; of those with the same address, too. */
const rejectedRows = ({ plan, rows, survey }: Kept) =>
  Stream.suspend(() => {
    const { header, onDuplicate, otherLine } = survey
    const columns = ContactColumns.columnFields(header?.cells ?? [], plan.header.mapping)
    const address = columns.find(({ field }) => field === "Email")?.column
    let number = 0
    return Stream.filterMap(rows, (row): Result.Result<Rejected, undefined> => {
      const other = otherLine(++number)
      const contact = contactOf(row)
      if (Result.isFailure(contact)) return Result.succeed({ row, rejection: rejectionOf(row, contact.failure) })
      return onDuplicate === "reject" && other !== undefined
        ? Result.succeed({ row, rejection: repeatedRejection(row, other, address) })
        : Result.fail(undefined)
    })
  })

const shownRejected =
  (check: RowCheck | undefined) =>
  ({ rejection, row }: Rejected): ShownRow => {
    const { column, email = "", reason, suggestion, value } = rejection
    const proposal = check?.propose(row.cells)
    return {
      line: row.line,
      email,
      reason,
      fields: column === undefined || value === undefined ? [] : [[column, null, value]],
      ...(suggestion === undefined ? {} : { suggestion }),
      ...(check === undefined ? {} : { cells: row.cells }),
      ...(proposal === undefined ? {} : { proposal })
    }
  }

const rowsOf = (
  made: Kept,
  { cause, kind }: Pick<RowsRequest, "kind" | "cause">
): Stream.Stream<ShownRow, ImportProblem | UnreadableFile | UnreadablePlan> => {
  const { check, kept, leftOut, plan, rows, survey, unchanged } = made
  if (kind === "rejected") {
    const isShown = ({ rejection }: Rejected): boolean =>
      cause === undefined ||
      (cause.cause === (rejection.cause ?? rejection.reason) && cause.column === rejection.column)
    return rejectedRows(made).pipe(Stream.filter(isShown), Stream.map(shownRejected(check)))
  }
  if (kind === "new" || kind === "changed") {
    return plan.rows.pipe(
      Stream.filter(({ change }) => (change.seen === null) === (kind === "new")),
      Stream.map(shownPlanned)
    )
  }
  const lines = { unchanged, kept, leftOut }
  let number = 0
  return Stream.filterMap(rows, (row) => {
    const other = survey.otherLine(++number)
    if (kind !== "repeated") return lines[kind].has(row.line) ? Result.succeed(shownRow(row)) : Result.fail(undefined)
    return other === undefined ? Result.fail(undefined) : Result.succeed(shownRepeated(row, other))
  })
}

const planned = Effect.fnUntraced(function* (
  { corrections, file, listNames, mapping, mode, onDuplicate, resubscribe, sheet }: PlanRequest,
  tell: (progress: PlanProgress) => Effect.Effect<unknown>
) {
  const content = yield* openContent(file, sheet)
  const read = { ...mapping, ...content.mapping }
  const rows = correctedRows(readContacts(content.bytes, read), corrections, read)
  const survey = yield* surveyContacts(rows, {
    ...mode,
    digests: true,
    mapping: read,
    onDuplicate,
    onProgress: (rows) => tell({ _tag: "Reading", rows })
  })
  const unchanged = new Set<number>()
  const kept = new Set<number>()
  const leftOut = new Set<number>()
  const total = survey.read - survey.invalid - survey.duplicates
  const plan = yield* makeImportPlan(rows, survey, {
    ...mode,
    listNames,
    mapping,
    resubscribe,
    source: survey.digest,
    onProgress: (rows) => tell({ _tag: "Planning", rows, total }),
    onRow: ({ effect, line, wouldResubscribe }) => {
      if (effect === "unchanged") unchanged.add(line)
      if (effect === "leftOut") leftOut.add(line)
      if (wouldResubscribe) kept.add(line)
    }
  })
  const planFile = yield* blobOf(plan.content, "application/json")
  const check = survey.header === undefined ? undefined : makeRowCheck(survey.header, read)
  const made: Kept = { plan, survey, rows, unchanged, kept, leftOut, check }
  yield* tell({
    _tag: "Planned",
    planned: {
      id: plan.header.id,
      summary: plan.summary,
      content: planFile,
      digest: survey.digest ?? "",
      header: survey.header,
      kept: kept.size
    }
  })
  return made
}, Effect.scoped)

/** Maximum number of corrections that are proposed. A person looks at them. */
const mostProposals = 10_000

const proposalsOf = (made: Kept) =>
  rejectedRows(made).pipe(
    Stream.filterMap(({ row }): Result.Result<ProposedCorrection, undefined> => {
      const after = made.check?.propose(row.cells)
      return after === undefined ? Result.fail(undefined) : Result.succeed({ line: row.line, before: row.cells, after })
    }),
    Stream.take(mostProposals),
    Stream.runCollect
  )

// Its apply

/** What holds an apply or ends it, and the entries that the page has not written yet. */
const makeApplies = () => {
  const latch = Latch.makeUnsafe(true)
  const unwritten = new Map<number, Deferred.Deferred<void, RunLogFailure>>()
  let isCancelled = false
  let number = 0

  /** The log of the page beside one of this thread, which knows what an earlier apply of the plan did. */
  const logBeside = (
    own: RunLog["Service"],
    tell: (event: ApplyEvent) => Effect.Effect<unknown>
  ): RunLog["Service"] => {
    const written = Effect.fnUntraced(function* (event: (number: number) => ApplyEvent) {
      const place = number++
      const answer = yield* Deferred.make<void, RunLogFailure>()
      unwritten.set(place, answer)
      yield* tell(event(place))
      yield* Deferred.await(answer)
    })
    const open: RunLog["Service"]["open"] = (options) =>
      Effect.map(own.open(options), (run) => ({
        ...run,
        append: (entry, options) =>
          Effect.andThen(
            written((number) => ({ _tag: "Append", number, entry, isDurable: options?.isDurable ?? true })),
            run.append(entry, options)
          ),
        end: Effect.andThen(
          written((number) => ({ _tag: "End", number })),
          run.end
        )
      }))
    return RunLog.of({ ...own, open })
  }

  const apply = Effect.fnUntraced(function* (plan: ImportPlan, tell: (event: ApplyEvent) => Effect.Effect<unknown>) {
    isCancelled = false
    latch.openUnsafe()
    const { report } = yield* plan
      .applyWith({
        command: "import",
        concurrency: concurrentRequests,
        proceed: Effect.map(latch.await, () => !isCancelled),
        onProgress: (rows) => tell({ _tag: "Done", rows })
      })
      .pipe(Effect.updateService(RunLog, (own) => logBeside(own, tell)))
    const { stoppedBy, ...counts } = report
    yield* tell({ _tag: "Report", report: { ...counts, problem: stoppedBy?.message } })
  })

  return {
    apply,
    hold: (isHeld: boolean, isEnded: boolean): void => {
      isCancelled ||= isEnded
      if (isHeld) latch.closeUnsafe()
      else latch.openUnsafe()
    },
    written: (place: number, problem: string | undefined) =>
      Effect.suspend(() => {
        const answer = unwritten.get(place)
        unwritten.delete(place)
        if (answer === undefined) return Effect.void
        return problem === undefined
          ? Deferred.succeed(answer, undefined)
          : Deferred.fail(answer, new RunLogFailure({ detail: problem }))
      })
  }
}

/** Browsers open six connections to a service, of which the page needs some. */
const concurrentRequests = 4

/** The events of a program that tells them. */
const told = <A, E extends { readonly message: string }, R>(
  program: (tell: (event: A) => Effect.Effect<unknown>) => Effect.Effect<unknown, E, R>
): Stream.Stream<A, ImportProblem, R> =>
  Stream.callback<A, ImportProblem, R>((queue) =>
    program((event) => Queue.offer(queue, event)).pipe(
      Effect.matchEffect({
        onFailure: (error) => Queue.fail(queue, problem(error)),
        onSuccess: () => Queue.end(queue)
      })
    )
  )

/** Answers the calls of the page, with services that `connect` gives. */
export const layer = (connect: Connect) =>
  ImportCalls.toLayer(
    Effect.sync(() => {
      let last: Kept | undefined
      const applies = makeApplies()
      const lastOf = Effect.fnUntraced(function* (plan: string) {
        if (last?.plan.header.id === plan) return last
        return yield* new ImportProblem({ message: "This plan is no longer the newest one. Plan the import again." })
      })
      return {
        Look: ({ file, reading }) => look(file, reading),
        Plan: (request) =>
          told<PlanProgress, { readonly message: string }, never>((tell) =>
            planned(request, tell).pipe(
              Effect.tap((made) =>
                Effect.sync(() => {
                  last = made
                })
              ),
              Effect.provide(connect(request))
            )
          ),
        Apply: (request) =>
          told<ApplyEvent, { readonly message: string }, never>((tell) =>
            Effect.flatMap(lastOf(request.plan), ({ plan }) => applies.apply(plan, tell)).pipe(
              Effect.provide(connect(request))
            )
          ),
        Written: ({ number, problem }) => applies.written(number, problem),
        Hold: ({ isCancelled, isHeld }) => Effect.sync(() => applies.hold(isHeld, isCancelled)),
        Proposals: ({ plan }) => Effect.mapError(Effect.flatMap(lastOf(plan), proposalsOf), problem),
        Rows: Effect.fnUntraced(function* ({ limit, offset, plan, ...shown }) {
          const rows = rowsOf(yield* lastOf(plan), shown)
          return yield* Stream.runCollect(Stream.take(Stream.drop(rows, offset), limit))
        }, Effect.mapError(problem)),
        RowsFile: Effect.fnUntraced(function* ({ of, plan }) {
          const made = yield* lastOf(plan)
          const { header = { cells: [], delimiter: "," }, otherLine } = made.survey
          return yield* blobOf(
            of === "repeated"
              ? duplicatesFile(made.rows, { header, otherLine })
              : rejectedFile(
                  header,
                  Stream.map(rejectedRows(made), ({ rejection: { reason }, row: { cells } }) => ({ cells, reason }))
                ),
            "text/csv"
          )
        }, Effect.mapError(problem))
      }
    })
  )
