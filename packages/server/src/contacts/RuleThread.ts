/**
 * Scans for rules on their own thread, with a connection that only reads, so that requests do not wait for them. `layer`
 * starts the thread for the first scan and replaces one that died; `work` scans on it. (docs/decisions/rules.md)
 */
import type { FieldsInUse } from "@roster/domain"
import { type Duration, Effect, Layer, Schema } from "effect"
import { Rpc, type RpcClientError, RpcGroup } from "effect/rpc"
import { SqlClient, SqlError } from "effect/sql"
import type { DatabaseSync } from "node:sqlite"
import { type FieldsRequest, type FindRequest, makeScans, type ScanRequest } from "./RuleScan.ts"
import * as RuleScans from "./RuleScans.ts"
import * as SqliteClient from "../store/sqlite/SqliteClient.ts"
import { errorCode, messageOf, toSqlError } from "../store/sqlite/SqliteError.ts"
import * as RpcThread from "../threads/RpcThread.ts"

const RuleData = Schema.Struct({ ...RpcThread.LogSettings.fields, rulesOf: Schema.String })
type RuleData = typeof RuleData.Type

/** Whether a thread was started for rules. */
export const isRuleData = Schema.is(RuleData)

/** The error of SQLite, whose cause does not go to another thread as it is. */
class ScanFailed extends Schema.TaggedError<ScanFailed>()("ScanFailed", {
  message: Schema.String,
  errcode: Schema.UndefinedOr(Schema.Finite)
}) {}

/** `Ping` is answered as soon as the thread does nothing else. */
const Calls = RpcGroup.make(
  Rpc.make("Find", {
    payload: RpcThread.plain<FindRequest>(),
    success: RpcThread.plain<Float64Array<ArrayBuffer>>(({ buffer }) => [buffer]),
    error: ScanFailed
  }),
  Rpc.make("Count", { payload: RpcThread.plain<ScanRequest>(), success: Schema.Int, error: ScanFailed }),
  Rpc.make("Fields", {
    payload: RpcThread.plain<FieldsRequest>(),
    success: RpcThread.plain<FieldsInUse>(),
    error: ScanFailed
  }),
  Rpc.make("Ping")
)

/** The time in which a scan has to stop. Otherwise its thread is terminated. */
const stopTime = "3 seconds"

/** The time after which the thread ends if nobody needs it. */
const idleTime = "1 minute"

/** More than all scans at one time hold, so that V8 leaves less as garbage. */
const maxOldGenerationSizeMb = 256

/** A scan that sees as many threads die is given up: it may be the cause. */
const maximumThreads = 2

const unreachable = (cause: RpcClientError.RpcClientError) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause }) })

/** Scans on a thread that starts with the file `entry`. */
export const layer = (options: {
  readonly entry: URL
  readonly filename: string
  readonly deadline?: Duration.Input | undefined
}): Layer.Layer<RuleScans.RuleScans> =>
  Layer.effect(
    RuleScans.RuleScans,
    Effect.gen(function* () {
      const { deadline, entry, filename } = options
      const scope = yield* Effect.scope
      const use = yield* RpcThread.make(
        { entry, name: "rules", calls: Calls, data: Effect.succeed({ rulesOf: filename }), maxOldGenerationSizeMb },
        idleTime
      )
      type Client = Parameters<Parameters<typeof use>[0]>[0]["client"]
      const scan = <A>(
        call: (client: Client) => Effect.Effect<A, ScanFailed | RpcClientError.RpcClientError>
      ): Effect.Effect<A, SqlError.SqlError> =>
        use(({ client, terminate }) => {
          const stops = client
            .Ping()
            .pipe(Effect.timeoutOrElse({ duration: stopTime, orElse: () => terminate }), Effect.ignore)
          return Effect.onInterrupt(call(client), () => Effect.forkIn(stops, scope))
        }).pipe(
          Effect.retry({ times: maximumThreads - 1, while: ({ _tag }) => _tag === "RpcClientError" }),
          Effect.catchTags({
            RpcClientError: (error) => Effect.fail(unreachable(error)),
            ScanFailed: (error) => Effect.fail(toSqlError(error, "look for a rule"))
          })
        )
      const scans = {
        find: (request: FindRequest) => scan((client) => client.Find(request)),
        count: (request: ScanRequest) => scan((client) => client.Count(request)),
        fields: (request: FieldsRequest) => scan((client) => client.Fields(request))
      }
      return RuleScans.make(scans, deadline)
    })
  )

const sayingWhy = Effect.mapError(({ reason: { cause } }: SqlError.SqlError) => {
  return new ScanFailed({ message: messageOf(cause), errcode: errorCode(cause) })
})

const handlers = Calls.toLayer(
  Effect.map(SqlClient.SqlClient, (sql) => {
    const { count, fields, find } = makeScans(sql)
    return {
      Find: (request: FindRequest) => sayingWhy(find(request)),
      Count: (request: ScanRequest) => sayingWhy(count(request)),
      Fields: (request: FieldsRequest) => sayingWhy(fields(request)),
      Ping: () => Effect.void
    }
  })
)

// The scan reads every contact once, so a large cache would only hold memory.
const withSmallCache = (database: DatabaseSync) => database.exec("PRAGMA cache_size = -4096")

/** Scans on a worker thread until the service closes it. */
export const work = (data: RuleData): void => {
  const store = SqliteClient.layer({ filename: data.rulesOf, readonly: true, prepare: withSmallCache })
  RpcThread.run(data, Calls, Layer.provide(handlers, store))
}
