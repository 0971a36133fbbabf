/** The endpoints of runs, which only Roster has. (docs/decisions/runs.md) */
import { BegunRun, ErasedNumbers, RecordedChange, RunPayload, RunRecord, RunStep } from "@roster/domain"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { always, needs } from "./OperationPolicy.ts"
import { byNumber, flag, idempotencyKeyHeader, paging, runsHonoured } from "./Parameters.ts"
import { BadRequest, bodyErrors, Conflict, NotFound } from "./WireError.ts"

const byId = { id: Schema.String }

/** The operations on runs. */
export class RunsApi extends HttpApiGroup.make("runs", { topLevel: true })
  .add(
    HttpApiEndpoint.post("runsPost", "/runs", {
      payload: RunPayload,
      success: BegunRun,
      error: [BadRequest, NotFound, Conflict, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:write", "Begin a run, or resume the one of the same command and input that was left", {
        // Every service that keeps runs honours the key, so that one run begins.
        retries: always("List the runs: it may have begun, and the same can be begun again in a minute."),
        headers: [idempotencyKeyHeader],
        announcedBy: runsHonoured
      })
    ),
    HttpApiEndpoint.get("runsGet", "/runs", {
      query: { limit: paging.limit, beforeRun: Schema.optional(Schema.String) },
      success: Schema.Array(RunRecord),
      error: [BadRequest, NotFound]
    }).annotateMerge(needs("contacts:read", "List runs, the newest first", { announcedBy: runsHonoured })),
    HttpApiEndpoint.get("runsByIdGet", "/runs/:id", {
      params: byId,
      success: RunRecord,
      error: NotFound
    }).annotateMerge(needs("contacts:read", "Load a run", { announcedBy: runsHonoured })),
    HttpApiEndpoint.get("runsByIdChangesGet", "/runs/:id/changes", {
      params: byId,
      query: { limit: paging.limit, ...byNumber },
      success: Schema.Array(RecordedChange),
      error: [BadRequest, NotFound]
    }).annotateMerge(
      needs("contacts:read", "List what a run changed, from the first change on or from the last one back", {
        announcedBy: runsHonoured
      })
    ),
    HttpApiEndpoint.post("runsByIdEndPost", "/runs/:id/end", {
      params: byId,
      query: { resumable: Schema.optional(flag) },
      success: HttpApiSchema.Empty(200),
      error: [BadRequest, NotFound, Conflict]
    }).annotateMerge(
      needs("contacts:write", "End a run, or leave it so that it can be resumed at once", {
        retries: always("End it again: a run that has ended stays so."),
        announcedBy: runsHonoured
      })
    ),
    HttpApiEndpoint.post("runsByIdStepPost", "/runs/:id/step", {
      params: byId,
      payload: RunStep,
      success: HttpApiSchema.Empty(200),
      error: [BadRequest, NotFound, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:write", "Say how far a program of other steps is", {
        retries: always("Say it again: the last one counts."),
        announcedBy: runsHonoured
      })
    ),
    HttpApiEndpoint.post("runsByIdErasePost", "/runs/:id/erase", {
      params: byId,
      payload: ErasedNumbers,
      success: HttpApiSchema.Empty(200),
      error: [BadRequest, NotFound, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:write", "Erase the persons of changes; also needs ViewContacts", {
        retries: always("Erase them again: what is erased stays so."),
        announcedBy: runsHonoured
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Runs" })) {}
