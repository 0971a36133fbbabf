/** Runs over HTTP, at a service that says that it keeps them. */
import { runsHonoured } from "@roster/api"
import { BegunRun, RecordedChange, RunNotFound, RunRecord, RunsService, checkedMethods } from "@roster/domain"
import { checkIdempotencyKey, checkRunPage, checkRunsPage, checkStep, isRecordId } from "@roster/domain/internal"
import { Effect, Layer, Schema } from "effect"
import { keyUsed, makeCall } from "../calls/Call.ts"
import type { ClientOptions } from "../calls/ClientOptions.ts"
import { makeRequiredCall, makeSaidOnAnswers } from "../calls/ExtensionCall.ts"
import { readDone, readJson } from "../calls/ResponseDecoding.ts"
import { RosterHttpApi } from "../calls/RosterHttpApi.ts"

const readBegun = readJson(BegunRun)
const readRun = readJson(RunRecord)
const readRuns = readJson(Schema.Array(RunRecord))
const readChanges = readJson(Schema.Array(RecordedChange))

/** No service has a run whose id is none, and it might lead elsewhere. */
const checkId = (id: string): Effect.Effect<void, RunNotFound> =>
  isRecordId(id) ? Effect.void : Effect.fail(new RunNotFound({ run: id }))

/**
 * Makes the service on a shared client.
 * @internal
 */
export const make = Effect.gen(function* () {
  const shared = yield* RosterHttpApi
  const { api, fn, said } = shared
  const areRunsHonoured = said(runsHonoured)
  const plainCall = makeCall(shared)
  const call = makeRequiredCall("this service keeps no runs", plainCall, areRunsHonoured)
  const notFound = (id: string) => ({ 404: () => new RunNotFound({ run: id }) })

  return checkedMethods(RunsService, {
    areKept: makeSaidOnAnswers(plainCall, api)(() => areRunsHonoured.current, false).pipe(
      // Our services say it in a refusal too, so one that refuses keeps none.
      Effect.catchIf(
        ({ isRetryable }) => !isRetryable,
        () => Effect.succeed(false)
      )
    ),
    begin: fn("RunsService.begin")(function* (run, { idempotencyKey } = {}) {
      yield* checkIdempotencyKey(idempotencyKey)
      return yield* call({
        ...api.runsPost({ payload: run }),
        idempotencyKey,
        byStatus: keyUsed(idempotencyKey),
        read: readBegun,
        refusals: ["RunTaken", "RunNotFound", "IdempotencyKeyReused", "InvalidInput"]
      })
    }),
    end: fn("RunsService.end")(function* (id, { resumable } = {}) {
      yield* checkId(id)
      yield* call({
        ...api.runsByIdEndPost({ params: { id }, query: { resumable } }),
        read: readDone,
        refusals: ["RunNotFound", "RunTaken"],
        byStatus: notFound(id)
      })
    }),
    step: fn("RunsService.step")(function* (id, state) {
      yield* checkId(id)
      yield* checkStep(state)
      yield* call({
        ...api.runsByIdStepPost({ params: { id }, payload: { state } }),
        read: readDone,
        refusals: ["RunNotFound", "InvalidInput"],
        byStatus: notFound(id)
      })
    }),
    list: fn("RunsService.list")(function* ({ before, limit } = {}) {
      yield* checkRunsPage({ limit })
      if (before !== undefined) yield* checkId(before)
      return yield* call({
        ...api.runsGet({ query: { limit, beforeRun: before } }),
        read: readRuns,
        refusals: ["RunNotFound", "InvalidInput"]
      })
    }),
    get: fn("RunsService.get")(function* (id) {
      yield* checkId(id)
      return yield* call({
        ...api.runsByIdGet({ params: { id } }),
        read: readRun,
        refusals: ["RunNotFound"],
        byStatus: notFound(id)
      })
    }),
    changes: fn("RunsService.changes")(function* (id, page = {}) {
      yield* checkId(id)
      yield* checkRunPage(page)
      const { after, before, limit } = page
      return yield* call({
        ...api.runsByIdChangesGet({ params: { id }, query: { after, before, limit } }),
        read: readChanges,
        refusals: ["RunNotFound", "InvalidInput"],
        byStatus: notFound(id)
      })
    }),
    erase: fn("RunsService.erase")(function* (id, numbers) {
      yield* checkId(id)
      yield* call({
        ...api.runsByIdErasePost({ params: { id }, payload: { numbers } }),
        read: readDone,
        refusals: ["RunNotFound", "InvalidInput"],
        byStatus: notFound(id)
      })
    })
  })
})

/** The service on a new client. */
export const layer = (options: ClientOptions) =>
  Layer.effect(RunsService, make).pipe(Layer.provide(RosterHttpApi.layer(options)))
