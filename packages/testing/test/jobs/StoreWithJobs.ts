/**
 * A store whose jobs can be seen, on a file of its own, and on a clock that can be moved ahead.
 */
import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { AccountService, allJobs, ContactsService } from "@roster/domain"
import { SqlAccountService, SqlContactsService, SqlServices, Store } from "@roster/server"
import { JobRunner } from "@roster/server/JobRunner"
import * as RuleScans from "@roster/server/RuleScans"
import { StorePolicy } from "@roster/server/StoreOptions"
import { Effect, FileSystem, Layer, Path, Stream } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { file, utf8 } from "../../src/conformance/jobs/Importing.ts"
import { ShiftedClock } from "./ShiftedClock.ts"

const freshFile = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return path.join(yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-jobs-" }), "roster.db")
})

/** A store that works on its jobs. */
export const working = Layer.unwrap(Effect.map(freshFile, (filename) => SqlServices.layerWithStore({ filename }))).pipe(
  Layer.provideMerge(ShiftedClock.layer),
  Layer.provide(NodeServices.layer)
)

/** One that takes jobs and works on none. */
export const idle = Layer.unwrap(
  Effect.map(freshFile, (filename) =>
    Layer.merge(SqlAccountService.layer, SqlContactsService.layer).pipe(
      Layer.provide(Layer.succeed(JobRunner, { wake: Effect.void, settled: Effect.void })),
      Layer.provide(RuleScans.layer()),
      Layer.provide(Layer.succeed(StorePolicy, { allowedSenders: [], allowFileUrl: ["files.example.com"] })),
      Layer.provideMerge(Store.layer({ filename }))
    )
  )
).pipe(Layer.provideMerge(ShiftedClock.layer), Layer.provide(NodeServices.layer))

/** All jobs. */
export const jobList = Stream.runCollect(allJobs())

/** The newest job. */
export const newest = Effect.map(jobList, ([job]) => job ?? assert.fail("there is no job"))

/** The newest job, once it has ended. */
export const ended = eventually(newest, (job) => job.ended !== null)

/** Cancels a job, and gives it. */
export const cancel = (id: string) =>
  Effect.flatMap(AccountService, (account) => Effect.andThen(account.cancelJob(id), account.job(id)))

/** With the byte order mark, which is a part of the file. */
export const textOf = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  Effect.map(Stream.runCollect(bytes), (parts) =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(parts))
  )

/** Hands a file to the import. */
export const importText = (text: string, name?: string) =>
  Effect.flatMap(ContactsService, (contacts) => contacts.import(file(utf8(text), name)))
