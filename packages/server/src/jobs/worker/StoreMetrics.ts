/** Metrics of the store: whether it answers, its size and its jobs. They are read by queries, at most once at a time. */
import { Effect, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { dialect } from "../../store/SqlDialect.ts"
import { JobKind } from "../queue/JobQueue.ts"
import { nowSeconds } from "../../store/Timestamps.ts"

/** The time in which the store has to answer. */
const readWithin = "2 seconds"

/** Jobs that ended within this time are counted, in seconds. */
const recent = 60 * 60

const openStates = ["Receiving", "Loading"] as const
const endStates = ["Ready", "Error", "Cancelled"] as const

const up = Metric.gauge("roster_store_up", { description: "1 if the store answers, 0 if not" })
const bytes = Metric.gauge("roster_store_bytes", { description: "Size of the store: its file, or its database" })

const jobsOf = (kind: string, state: string) =>
  Metric.gauge("roster_jobs", {
    description: "Jobs that receive their file, or wait or run (Loading)",
    attributes: { kind, state }
  })

const ageOf = (kind: string, state: string) =>
  Metric.gauge("roster_job_age_seconds", {
    description: "Age of the oldest of these jobs, or 0",
    attributes: { kind, state }
  })

const endedOf = (kind: string, state: string) =>
  Metric.gauge("roster_jobs_ended_last_hour", {
    description: "Jobs that ended within the last hour",
    attributes: { kind, state }
  })

interface JobCount {
  readonly kind: string
  readonly state: string
  readonly jobs: number
  readonly oldest: number
}

/** Reads the metrics of the store. Those of a store that does not answer are NaN. */
export const makeStoreMetrics = Effect.map(SqlClient.SqlClient, (sql) => {
  const { storeBytes } = dialect(sql)
  const read = Effect.gen(function* () {
    const now = yield* nowSeconds
    const open = yield* sql<JobCount>`
      SELECT kind, state, count(*) AS jobs, min(created) AS oldest FROM jobs
      WHERE state IN ('Receiving', 'Loading') GROUP BY kind, state`
    const ended = yield* sql<JobCount>`
      SELECT kind, state, count(*) AS jobs, min(created) AS oldest FROM jobs
      WHERE ended > ${now - recent} GROUP BY kind, state`
    return { now, open, ended, size: yield* storeBytes }
  })
  return read.pipe(
    Effect.timeout(readWithin),
    Effect.option,
    Effect.flatMap((found) =>
      Effect.contextWith((context: Parameters<typeof up.updateUnsafe>[1]) =>
        Effect.sync(() => {
          const known = found._tag === "Some" ? found.value : undefined
          const of = (rows: ReadonlyArray<JobCount> | undefined, kind: string, state: string) =>
            rows?.find((row) => row.kind === kind && row.state === state)
          const number = (value: number | undefined) => (known === undefined ? NaN : Number(value ?? 0))
          up.updateUnsafe(known === undefined ? 0 : 1, context)
          bytes.updateUnsafe(number(known?.size), context)
          for (const kind of JobKind.literals) {
            for (const state of openStates) {
              const row = of(known?.open, kind, state)
              jobsOf(kind, state).updateUnsafe(number(row?.jobs), context)
              const age = row === undefined || known === undefined ? 0 : Math.max(0, known.now - Number(row.oldest))
              ageOf(kind, state).updateUnsafe(number(age), context)
            }
            for (const state of endStates) {
              endedOf(kind, state).updateUnsafe(number(of(known?.ended, kind, state)?.jobs), context)
            }
          }
        })
      )
    )
  )
})
