/** `roster doctor` */
import type { PostgresFinding as Finding } from "@roster/server/PostgresCheck"
import { Effect, FileSystem, Option, Path, Schema, Stream } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { statfs } from "node:fs/promises"
import { database, databaseUrl } from "../../settings/Database.ts"
import { settings } from "../../settings/Settings.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { openKey } from "../../target/TargetLayer.ts"
import { counted } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { lastBackup } from "../shared/LastBackup.ts"
import { checkKey } from "./KeyCheck.ts"

const ok = (check: string, detail: string): Finding => ({ check, result: "ok", detail })
const failed = (check: string, detail: string): Finding => ({ check, result: "failed", detail })

/** At least one check failed. */
export class Unhealthy extends Schema.TaggedError<Unhealthy>()("Unhealthy", { message: Schema.String }) {}

const mebibyte = 1024 * 1024

/** With less, an import or a backup may end in the middle. */
const leastFree = 200 * mebibyte

/** The room on the disk of a folder, or of the nearest one above that exists. */
const diskSpace = Effect.fnUntraced(function* (folder: string) {
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  let nearest = path.resolve(folder)
  while (!(yield* Effect.orElseSucceed(fs.exists(nearest), () => false)) && path.dirname(nearest) !== nearest) {
    nearest = path.dirname(nearest)
  }
  const room = yield* Effect.option(Effect.tryPromise(() => statfs(nearest)))
  if (Option.isNone(room)) return []
  const free = room.value.bavail * room.value.bsize
  const detail = `${Math.floor(free / mebibyte)} MiB are free at ${nearest}`
  const finding: Finding =
    free < leastFree
      ? { check: "disk", result: "warning", detail: `${detail}: make room before an import or a backup` }
      : ok("disk", detail)
  return [finding]
})

const checkStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [fault] = yield* sql<{ readonly integrity_check: string }>`PRAGMA integrity_check(1)`
  const [count] = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM contacts`
  return fault?.integrity_check === "ok"
    ? ok("store", `intact, ${counted(count?.count ?? 0)}`)
    : failed("store", `damaged: ${fault?.integrity_check}. Restore a backup with: roster restore FILE`)
}).pipe(
  Effect.provide(EmbeddedStore.layer),
  Effect.catch((error) => Effect.succeed(failed("store", error.message)))
)

/** Checks a store. One that does not exist is not created. */
const store = Effect.fnUntraced(function* (given: string | undefined) {
  const { exists, filename } = yield* EmbeddedStore.storeAt(given)
  const room = yield* diskSpace((yield* Path.Path).dirname(filename))
  const findings = exists
    ? [yield* checkStore, yield* lastBackup(filename)]
    : [ok("store", `none yet; an import makes ${filename}`)]
  return [...findings, ...room]
})

/** Checks the service or the store that the settings name. What is wrong with a service is what its request says. */
const checkTarget = Effect.gen(function* () {
  const on = yield* settings
  if (on._tag === "Local") return yield* store(on.filename)
  const { services, shown, source } = yield* openKey(on)
  const verdict = yield* Effect.result(Effect.provide(checkKey, services))
  return [
    ok("key", `${shown} from ${source}`),
    verdict._tag === "Success"
      ? ok("service", `${on.baseUrl} answers, and the key is ${verdict.success}`)
      : failed("service", verdict.failure.message)
  ]
}).pipe(Effect.catch((error) => Effect.succeed([failed("settings", error.message)])))

export const command = Command.make(
  "doctor",
  { databaseUrl },
  Effect.fnUntraced(function* ({ databaseUrl }) {
    const postgres = yield* database(databaseUrl)
    const findings =
      postgres === undefined
        ? yield* checkTarget
        : yield* Effect.flatMap(
            Effect.promise(() => import("@roster/server/PostgresCheck")),
            ({ checkPostgres }) =>
              Effect.zipWith(checkPostgres(postgres), lastBackup(postgres), (findings, backup) => [...findings, backup])
          )
    const rows = findings.map(({ check, detail, result }) => ({ Check: check, Result: result, Detail: detail }))
    yield* Results.rows(["Check", "Result", "Detail"], Stream.fromIterable(rows), { hasSentences: true })
    const bad = findings.filter(({ result }) => result === "failed")
    if (bad.length > 0)
      return yield* new Unhealthy({ message: `Failed checks: ${bad.map(({ check }) => check).join(", ")}.` })
  })
).pipe(
  Command.withExamples([
    { command: "roster doctor" },
    { command: "roster doctor --database-url postgres://roster@db.example.com/roster" }
  ])
)
