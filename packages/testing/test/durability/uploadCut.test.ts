/**
 * S53 An upload that breaks off, by its sender or by the death of the process, leaves nothing behind.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readdirSync, statSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { fileForm, requestBytes, sendBytes } from "./BrokenRequest.ts"
import { processMark } from "../../../server/src/store/ProcessMark.ts"
import { askServe, killableServe, type ServePlace, servePlace, uploadsIn } from "./KillableServe.ts"
import { assertWhole, countOf, endOf, jobsIn, seen } from "./StoreLook.ts"

/** Several megabytes: many parts. */
const content = `Email,note\n${Array.from({ length: 40_000 }, (_, row) => `p${row}@example.com,${"n".repeat(200)}\n`).join("")}`
const form = { method: "POST", path: "/contacts/import", ...fileForm(content) }

const hasUpload = (place: ServePlace): boolean =>
  uploadsIn(place).some((name) =>
    readdirSync(join(place.temporary, name)).some((file) => statSync(join(place.temporary, name, file)).size > 0)
  )

const assertNothing = (place: ServePlace) => {
  assert.deepStrictEqual(jobsIn(place), [])
  for (const table of ["contacts", "job_parts", "job_rejections"]) assert.strictEqual(countOf(place, table), 0, table)
  assertWhole(place)
}

/** Makes an upload look as if it had been left some hours ago. */
const age = (place: ServePlace, upload: string, hours: number) => {
  const then = Date.now() / 1000 - hours * 3600
  const folder = join(place.temporary, upload)
  for (const file of readdirSync(folder)) utimesSync(join(folder, file), then, then)
  utimesSync(folder, then, then)
}

describe("S.4 an upload that breaks off", () => {
  it.live("S53 its sender goes away: no job, no contact, no file", () =>
    Effect.gen(function* () {
      const place = yield* servePlace
      const serve = yield* killableServe(place)
      const { body, head } = requestBytes(serve, form)
      for (const share of [0.1, 0.5, 0.999]) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* sendBytes(serve, Buffer.concat([head, body.subarray(0, Math.floor(body.length * share))]))
            yield* seen(
              () => hasUpload(place),
              (there) => there
            )
          })
        )
        yield* seen(
          () => uploadsIn(place).length,
          (count) => count === 0
        )
        assertNothing(place)
      }
      yield* serve.stop
      assertNothing(place)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("S53 its process is killed: no job, no contact, and its file goes at the next start", () =>
    Effect.gen(function* () {
      const place = yield* servePlace
      const serve = yield* killableServe(place)
      const { body, head } = requestBytes(serve, form)
      yield* sendBytes(serve, Buffer.concat([head, body.subarray(0, body.length / 2)]))
      yield* seen(
        () => hasUpload(place),
        (there) => there
      )
      serve.killNow()
      yield* serve.ended
      assertNothing(place)
      assert.strictEqual(uploadsIn(place).length, 1)
      // What another process may be writing stays, however old it is here, and for a day elsewhere; and so does what is
      // not of the service. What nobody can be writing goes.
      const live = `roster-${processMark}live`
      const elsewhere = "roster-import-0-1-elsewhere"
      const forgotten = "roster-import-0-1-forgotten"
      const ofOthers = "roster-import-others"
      const kept = [live, elsewhere, ofOthers, "something-else"]
      for (const name of [...kept, forgotten]) mkdirSync(join(place.temporary, name))
      age(place, elsewhere, 23)
      for (const name of [live, forgotten, ofOthers, "something-else"]) age(place, name, 25)
      const next = yield* killableServe(place)
      yield* seen(
        () => uploadsIn(place),
        (uploads) => uploads.length === 3
      )
      // It has removed all that it wants to.
      yield* next.stop
      assert.deepStrictEqual(readdirSync(place.temporary).sort(), kept.sort())
      assertNothing(place)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    "S53 its process is killed as the file moves into the store: what was taken is removed at the next start",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const serve = yield* killableServe(place)
        const { body, head } = requestBytes(serve, form)
        yield* sendBytes(serve, Buffer.concat([head, body]))
        yield* seen(
          () => countOf(place, "job_parts"),
          (parts) => parts >= 2
        )
        serve.killNow()
        yield* serve.ended
        assert.deepStrictEqual(
          jobsIn(place).map(({ state }) => state),
          ["Receiving"],
          "the kill came too late"
        )
        const next = yield* killableServe(place)
        yield* seen(
          () => jobsIn(place).length,
          (count) => count === 0
        )
        assertNothing(place)
        yield* next.stop
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("S53 what one process receives is left alone by the start of another", () =>
    Effect.gen(function* () {
      const place = yield* servePlace
      const serve = yield* killableServe(place)
      const { body, head } = requestBytes(serve, form)
      yield* sendBytes(serve, Buffer.concat([head, body]))
      yield* seen(
        () => jobsIn(place).length,
        (count) => count === 1
      )
      const other = yield* killableServe(place)
      assert.strictEqual(yield* endOf(place), "Ready")
      assert.strictEqual(countOf(place, "contacts"), 40_000)
      yield* other.stop
      yield* serve.stop
      assert.deepStrictEqual(uploadsIn(place), [])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

/** Writes, and how far they are there: nothing, or all. */
const emails = (stage: string) => Array.from({ length: 300 }, (_, index) => `${stage}-${index}@example.com`)

describe("S.2 a write whose sender goes away", () => {
  it.live("S33 at each stage: all or nothing, and no orphan", () =>
    Effect.gen(function* () {
      const place = yield* servePlace
      const serve = yield* killableServe(place)
      const kept = yield* askServe(serve, "POST", "/contacts", [
        { Email: "kept@example.com", FirstName: "before" },
        { Email: "gone@example.com", FirstName: "before" }
      ])
      assert.strictEqual(kept.status, 200)

      const add = (stage: string) => ({
        method: "POST",
        path: `/contacts?listnames=${stage}`,
        contentType: "application/json",
        body: JSON.stringify(emails(stage).map((Email) => ({ Email, FirstName: "x".repeat(100) })))
      })
      const put = {
        method: "PUT",
        path: "/contacts/kept%40example.com",
        contentType: "application/json",
        body: JSON.stringify({ FirstName: "after", LastName: "after" })
      }
      const stages: ReadonlyArray<readonly [stage: string, bytes: (head: Buffer, body: Buffer) => Buffer]> = [
        ["nothing", () => Buffer.alloc(0)],
        ["half-head", (head) => head.subarray(0, head.length / 2)],
        ["head", (head) => head],
        ["half-body", (head, body) => Buffer.concat([head, body.subarray(0, body.length / 2)])],
        ["almost", (head, body) => Buffer.concat([head, body.subarray(0, body.length - 1)])]
      ]
      for (const [stage, cut] of stages) {
        for (const request of [add(stage), put]) {
          const { body, head } = requestBytes(serve, request)
          yield* Effect.scoped(sendBytes(serve, cut(head, body)))
        }
      }
      // With the whole request sent: gone at once, gone as the write goes on, gone as the answer comes.
      for (const stage of ["whole-0", "whole-1", "whole-2", "whole-3", "whole-4"]) {
        const { body, head } = requestBytes(serve, add(stage))
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* sendBytes(serve, Buffer.concat([head, body]))
            // Another request goes through the same process, as a measure of how far it is.
            for (let step = 0; step < Number(stage.at(-1)); step++) yield* askServe(serve, "GET", "/contacts?limit=1")
          })
        )
      }
      const answered = requestBytes(serve, add("answered"))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const socket = yield* sendBytes(serve, Buffer.concat([answered.head, answered.body]))
          yield* Effect.callback<void>((resume) => {
            socket.once("data", () => resume(Effect.void))
          })
        })
      )
      for (const request of [put, { ...put, method: "DELETE", path: "/contacts/gone%40example.com", body: "" }]) {
        const { body, head } = requestBytes(serve, request)
        yield* Effect.scoped(sendBytes(serve, Buffer.concat([head, body])))
      }
      // Whatever is under way is done when the process has ended.
      yield* serve.stop

      for (const [stage] of stages)
        assert.strictEqual(countOf(place, `contacts WHERE email LIKE '${stage}-%'`), 0, stage)
      for (const stage of ["whole-0", "whole-1", "whole-2", "whole-3", "whole-4", "answered"]) {
        const count = countOf(place, `contacts WHERE email LIKE '${stage}-%'`)
        assert.include(stage === "answered" ? [300] : [0, 300], count, stage)
        assert.strictEqual(
          countOf(place, `list_members WHERE list_id = (SELECT id FROM lists WHERE name = '${stage}')`),
          count
        )
        assert.strictEqual(countOf(place, `lists WHERE name = '${stage}'`), count / 300)
      }
      assert.strictEqual(countOf(place, "lists"), countOf(place, "contacts WHERE email LIKE '%-0@example.com'"))
      const names = ["before/", "after/after"]
        .map((name) =>
          countOf(
            place,
            `contacts WHERE email = 'kept@example.com' AND first_name || '/' || coalesce(last_name, '') = '${name}'`
          )
        )
        .reduce((sum, count) => sum + count, 0)
      assert.strictEqual(names, 1)
      assertWhole(place)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
