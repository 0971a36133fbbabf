/** Reads files and plans their import in a thread of its own: the page goes on meanwhile. */
import { type ContactsService, readContacts } from "@roster/domain"
import { correctedRows, makeRowCheck } from "@roster/domain/internal"
import { makeImportPlan, type RunLog, surveyContacts } from "@roster/workflows"
import { Effect, type Layer, Queue, Stream } from "effect"
import { look } from "./FileLook.ts"
import { ImportCalls, ImportProblem, type PlanProgress, type PlanRequest, problemOf } from "./ImportCalls.ts"
import { blobOf } from "../../kit/Blobs.ts"
import { threadTexts } from "../../texts/ThreadTexts.ts"
import { openContent } from "./ImportedContent.ts"
import { fileOf, type PlanMade, proposalsOf, rowsOf } from "./PlanMade.ts"

/** The services of a plan. */
export type Connect = (
  request: Pick<PlanRequest, "connection" | "target">
) => Layer.Layer<ContactsService | RunLog, { readonly message: string }>

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
  const alreadySo = new Set<number>()
  const kept = new Map<number, string>()
  const leftOut = new Set<number>()
  const total = survey.read - survey.rejected - survey.duplicates
  const plan = yield* makeImportPlan(rows, survey, {
    ...mode,
    listNames,
    mapping,
    resubscribe,
    source: survey.digest,
    onProgress: (rows) => tell({ _tag: "Planning", rows, total }),
    onRow: ({ effect, keptStatus, line }) => {
      if (effect === "alreadySo") alreadySo.add(line)
      if (effect === "leftOut") leftOut.add(line)
      if (keptStatus !== undefined) kept.set(line, keptStatus)
    }
  })
  const planFile = yield* blobOf(plan.content, "application/json")
  const check = survey.header === undefined ? undefined : makeRowCheck(survey.header, read)
  const made: PlanMade = { plan, survey, rows, alreadySo, kept, leftOut, check }
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

/** Answers the calls of the page, with services that `connect` gives. */
export const layer = (connect: Connect) =>
  ImportCalls.toLayer(
    Effect.sync(() => {
      let last: PlanMade | undefined
      const lastOf = Effect.fnUntraced(function* (plan: string) {
        if (last?.plan.header.id === plan) return last
        return yield* new ImportProblem({ message: threadTexts.notNewest })
      })
      return {
        Look: ({ file, reading }) => look(file, reading),
        Plan: (request) =>
          Stream.callback<PlanProgress, ImportProblem>((queue) =>
            planned(request, (progress) => Queue.offer(queue, progress)).pipe(
              Effect.provide(connect(request)),
              Effect.matchEffect({
                onFailure: (error) => Queue.fail(queue, problemOf(error)),
                onSuccess: (made) => {
                  last = made
                  return Queue.end(queue)
                }
              })
            )
          ),
        Proposals: ({ plan }) => Effect.mapError(Effect.flatMap(lastOf(plan), proposalsOf), problemOf),
        Rows: Effect.fnUntraced(function* ({ limit, offset, plan, ...shown }) {
          const rows = rowsOf(yield* lastOf(plan), shown)
          return yield* Stream.runCollect(Stream.take(Stream.drop(rows, offset), limit))
        }, Effect.mapError(problemOf)),
        RowsFile: Effect.fnUntraced(function* ({ of, plan }) {
          return yield* blobOf(fileOf(yield* lastOf(plan), of), "text/csv")
        }, Effect.mapError(problemOf))
      }
    })
  )
