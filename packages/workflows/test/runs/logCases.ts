/** What every log of runs promises, for each storage. */
import { assert, it } from "@effect/vitest"
import { RunNotFound, RunTaken } from "@roster/domain"
import { type AppendedEntry, type OpenRun, RunLog, type RunLogFailure } from "@roster/workflows"
import { Effect, Exit, type Layer, Scope, Stream } from "effect"

const created = (...emails: ReadonlyArray<string>): AppendedEntry => ({
  _tag: "Changes",
  created: emails.map((email) => [email, "digest"] as const)
})

/** Begins a run, appends entries, and leaves it as a killed process does, or ends it. */
export const runOf = (options: OpenRun, entries: ReadonlyArray<AppendedEntry>, isEnded = false) =>
  Effect.scoped(
    Effect.gen(function* () {
      const log = yield* RunLog
      const run = yield* log.open(options)
      for (const entry of entries) yield* run.append(entry)
      if (isEnded) yield* run.end
      return { id: run.header.id, isResumed: run.isResumed, earlier: [...(yield* Stream.runCollect(run.earlier))] }
    })
  )

export const logCases = (layer: Layer.Layer<RunLog, RunLogFailure>): void => {
  const test = (name: string, effect: Effect.Effect<void, unknown, RunLog>) =>
    it.live(name, () => Effect.provide(effect, layer))

  test(
    "goes on with the last unfinished run of equal input, whose entries it gives",
    Effect.gen(function* () {
      const one = yield* runOf({ command: "import", input: { a: 1, b: [2] } }, [created("ada@example.com")])
      const other = yield* runOf({ command: "import", input: { a: 2, b: [2] } }, [created("bob@example.com")])
      assert.notStrictEqual(other.id, one.id)
      const again = yield* runOf({ command: "import", input: { b: [2], a: 1 } }, [created("eve@example.com")], true)
      assert.deepStrictEqual(again, { id: one.id, isResumed: true, earlier: [created("ada@example.com")] })
      const { list, read } = yield* RunLog
      const { backwards, counts, entries, isEnded } = yield* read(one.id)
      assert.deepStrictEqual({ counts, isEnded }, { counts: { created: 2, changed: 0, deleted: 0 }, isEnded: true })
      const all = [...(yield* Stream.runCollect(entries))]
      assert.deepStrictEqual(all, [
        created("ada@example.com"),
        created("eve@example.com"),
        { _tag: "Ended", created: 2, changed: 0, deleted: 0 }
      ])
      assert.deepStrictEqual([...(yield* Stream.runCollect(backwards))], all.toReversed())
      const listed = (yield* list).filter(({ header }) => header.id === one.id || header.id === other.id)
      assert.deepStrictEqual(
        listed.map((run) => [run.header.id, run.isEnded, run.counts.created]),
        [
          [other.id, false, 1],
          [one.id, true, 2]
        ].toSorted(([a], [b]) => (String(a) < String(b) ? 1 : -1))
      )
    })
  )

  test(
    "begins anew for another command, an ended run, none to resume, and always without an input",
    Effect.gen(function* () {
      const work: OpenRun = { command: "delete", input: "file" }
      const one = yield* runOf(work, [created("ada@example.com")])
      assert.isFalse((yield* runOf({ ...work, command: "import" }, [])).isResumed)
      const anew = yield* runOf({ ...work, resume: false }, [created("bob@example.com")], true)
      assert.notStrictEqual(anew.id, one.id)
      assert.isFalse((yield* runOf(work, [])).isResumed)
      yield* runOf({ command: "add" }, [created("ada@example.com")])
      assert.isFalse((yield* runOf({ command: "add" }, [])).isResumed)
    })
  )

  test(
    "is taken by one, and what goes on is not read",
    Effect.gen(function* () {
      const { open, read } = yield* RunLog
      const scope = yield* Scope.make()
      const work: OpenRun = { command: "rotate", input: "taken" }
      const run = yield* Scope.provide(open(work), scope)
      yield* run.append(created("ada@example.com"))
      assert.deepStrictEqual(yield* Effect.flip(Effect.scoped(open(work))), new RunTaken({ run: run.header.id }))
      assert.instanceOf(yield* Effect.flip(Effect.scoped(open({ ...work, resume: false }))), RunTaken)
      assert.instanceOf(yield* Effect.flip(read(run.header.id)), RunTaken)
      yield* Scope.close(scope, Exit.void)
      assert.isFalse((yield* read(run.header.id)).isEnded)
      assert.isTrue((yield* runOf(work, [])).isResumed)
    })
  )

  test(
    "keeps nothing of a run without an entry",
    Effect.gen(function* () {
      const { list, read } = yield* RunLog
      const { id } = yield* runOf({ command: "import", input: "empty" }, [], true)
      assert.notInclude(
        (yield* list).map(({ header }) => header.id),
        id
      )
      assert.deepStrictEqual(yield* Effect.flip(read(id)), new RunNotFound({ run: id }))
    })
  )

  test(
    "counts without what was not made",
    Effect.gen(function* () {
      const { read } = yield* RunLog
      const { id } = yield* runOf({ command: "import", input: "counts" }, [
        {
          _tag: "Changes",
          created: [
            ["ada@example.com", "digest"],
            ["bob@example.com", "digest"]
          ],
          changed: [
            { email: "eve@example.com", fields: { FirstName: [null, "Eve"] }, after: "digest" },
            { email: "kim@example.com", fields: { DateUpdated: ["a", "b"] }, after: "digest" }
          ],
          deleted: [{ Email: "max@example.com", Status: "Active" }]
        },
        created("zoe@example.com"),
        { _tag: "NotMade", emails: ["bob@example.com", "max@example.com", "nobody@example.com"] }
      ])
      assert.deepStrictEqual((yield* read(id)).counts, { created: 2, changed: 1, deleted: 0 })
    })
  )
}
