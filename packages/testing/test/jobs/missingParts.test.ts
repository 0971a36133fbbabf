/** Files of jobs of which a part is missing in the store: an error on every engine, never a shorter file. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, EmailAddress } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { awaitExport } from "@roster/workflows"
import { Effect, FileSystem, Layer, Path, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { createJob } from "../../../server/src/jobs/queue/JobQueue.ts"
import { storeParts } from "../../../server/src/jobs/queue/JobBlobs.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { refused } from "../../src/conformance/cases/Refused.ts"
import { describePostgres, freshDatabase } from "../postgres/TestPostgres.ts"

const onFile = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return SqlServices.layerWithStore({
    filename: path.join(yield* fs.makeTempDirectoryScoped({ prefix: "roster-parts-" }), "roster.db")
  })
}).pipe(Layer.unwrap, Layer.provide(NodeServices.layer), Layer.orDie)

const onPostgres = Effect.map(freshDatabase, (url) => SqlServices.layerPostgres({ postgres: { url } })).pipe(
  Layer.unwrap,
  Layer.orDie
)

const wait = { schedule: Schedule.spaced("20 millis"), limit: "2 minutes" } as const

for (const [name, group, store] of [
  ["on a file", describe, onFile],
  ["on PostgreSQL", describePostgres, onPostgres]
] as const) {
  group(`a missing part, ${name},`, () => {
    it.live("of an export is a file that is gone, at its beginning and in the middle of a download", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const contacts = yield* ContactsService
        // Three parts of 256 KiB.
        yield* contacts.add(
          Array.from({ length: 20 }, (_, row) => ({
            email: EmailAddress.make(`c${row}@example.com`),
            customFields: { text: "x".repeat(30_000) }
          }))
        )
        const made = Effect.gen(function* () {
          const { id, link } = yield* contacts.export()
          yield* awaitExport(id, wait)
          return { id, download: contacts.download(link), of: sql`(SELECT number FROM jobs WHERE id = ${id})` }
        })
        for (const part of [0, 1, 2]) {
          const { download, of } = yield* made
          assert.isAbove((yield* Stream.runCollect(download)).length, 2)
          yield* sql`DELETE FROM job_parts WHERE job = ${of} AND part = ${part}`
          yield* refused(Stream.runDrain(download), "ExportExpired")
        }
        const emptied = yield* made
        yield* sql`DELETE FROM job_parts WHERE job = ${emptied.of}`
        yield* sql`UPDATE jobs SET bytes = 0 WHERE number = ${emptied.of}`
        yield* refused(Stream.runDrain(emptied.download), "ExportExpired")

        const underway = yield* made
        let parts = 0
        const cut = Stream.tap(underway.download, () =>
          parts++ === 0
            ? Effect.asVoid(sql`DELETE FROM job_parts WHERE job = ${underway.of} AND part = 2`)
            : Effect.void
        )
        yield* refused(Stream.runDrain(cut), "ExportExpired")
        assert.strictEqual(parts, 2)
      }).pipe(Effect.provide(store))
    )

    it.live("of an import ends it as Error, with what to do", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const rows = Array.from({ length: 30_000 }, (_, row) => `c${row}@example.com\n`)
        const number = yield* createJob({
          id: "one",
          account: "",
          kind: "Import",
          state: "Receiving",
          request: "{}",
          lease: "x 1 elsewhere"
        })
        yield* storeParts(number, Stream.encodeText(Stream.fromIterable(["Email\n", ...rows])))
        yield* sql`DELETE FROM job_parts WHERE job = ${number} AND part = 1`
        yield* sql`UPDATE jobs SET state = 'Loading', lease = NULL WHERE number = ${number}`
        const [job] = yield* eventually(
          sql<{ readonly state: string; readonly problem: string }>`SELECT state, problem FROM jobs`,
          ([job]) => job?.state !== "Loading"
        )
        assert.strictEqual(job?.state, "Error")
        assert.include(job?.problem, "a part of its file is missing in the store")
      }).pipe(Effect.provide(store))
    )
  })
}
