/** What the runs view does, without a browser: runs with their states, what one changed by pages, and an undo as previewed. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { importContacts, planUpdate, RunLog, type RunReport, reportWords } from "@roster/workflows"
import { Effect, Stream } from "effect"
import { shortened } from "../../src/texts/SharedTexts.ts"
import { runtime } from "../../src/session/Session.ts"
import { undoOf } from "../../src/session/Undo.tsx"
import * as RunAtoms from "../../src/runs/RunAtoms.ts"
import { previewWords, stateWords, stepWords } from "../../src/runs/RunWords.ts"
import { studioStore } from "../StudioStore.ts"

/** The id of the run of a report. */
const idOf = ({ run = "" }: RunReport) => ({ run })

/** Adds this many contacts as a run. */
const add = runtime.fn((count: number) =>
  importContacts(
    Stream.fromIterable(
      Array.from({ length: count }, (_, index) => ({ email: `c${index}@example.com`, firstName: "A" }))
    ),
    { command: "add" }
  ).pipe(Effect.map(idOf))
)

/** Renames contacts as a run. */
const rename = runtime.fn(
  Effect.fnUntraced(function* (firstName: string) {
    const contacts = yield* ContactsService
    const plan = yield* planUpdate(
      Stream.mapEffect(Stream.make(0, 1, 2), (index) => contacts.get(`c${index}@example.com`)),
      { firstName }
    )
    return idOf((yield* plan.applyWith({ command: "update" })).report)
  })
)

/** Leaves a run before its end, with one change in it. */
const leave = runtime.fn((command: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const run = yield* (yield* RunLog).open({ command })
      yield* run.append({ _tag: "Changes", created: [["x@example.com", "digest"]] })
      return run.header.id
    })
  )
)

describe("the runs view", () => {
  it.effect("previews an undo by what others did since, and does what it said", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      const contacts = yield* store.contacts
      yield* store.run(add, 120)
      const { run } = yield* store.run(rename, "B")
      yield* contacts.update("c0@example.com", { firstName: "Theirs" })
      yield* contacts.delete("c1@example.com")

      const preview = yield* store.run(RunAtoms.lookUndo, run)
      assert.deepStrictEqual(previewWords(preview), [
        "1 contact would be changed back.",
        "1 contact changed since: what others wrote would stay.",
        "1 contact deleted since: they would stay deleted."
      ])
      assert.deepStrictEqual(
        preview.contacts.map((contact) => [contact.email, stepWords(contact), contact.fields.map(({ now }) => now)]),
        [
          ["c0@example.com", "changed since: stays", ["Theirs"]],
          ["c1@example.com", "deleted since: stays", [null]],
          ["c2@example.com", "would be changed back", ["B"]]
        ]
      )
      assert.strictEqual((yield* contacts.count({ rule: "FirstName = 'B'" })).count, 1)

      const report = yield* store.run(undoOf(run), undefined)
      assert.deepStrictEqual(reportWords(report), [
        "Undone: 1 contact changed back.",
        "2 contacts changed or deleted by others since: what they did stays."
      ])
      assert.strictEqual((yield* contacts.get("c2@example.com")).firstName, "A")
      assert.strictEqual((yield* contacts.get("c0@example.com")).firstName, "Theirs")

      const runs = yield* store.result(RunAtoms.runs)
      assert.deepStrictEqual(
        runs.map(({ counts, header, state }) => [header.command, state, counts.created, counts.changed]),
        [
          ["undo", "Finished", 0, 1],
          ["update", "Finished", 0, 3],
          ["add", "Finished", 120, 0]
        ]
      )
      assert.match(stateWords(runs[1] ?? assert.fail("no run")), /^undone on /)
    })
  )

  it.effect("shows what a run changed, a page at a time", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      const { run: added } = yield* store.run(add, 120)
      store.registry.set(RunAtoms.opened, added)
      yield* store.mount(RunAtoms.opened)
      store.registry.set(RunAtoms.first, 100)
      const { changes, total } = yield* store.result(RunAtoms.changes)
      assert.deepStrictEqual([total, changes.length, changes[0]?.email], [120, 20, "c100@example.com"])
      const { run: renamed } = yield* store.run(rename, "B")
      store.registry.set(RunAtoms.first, 0)
      store.registry.set(RunAtoms.opened, renamed)
      const {
        changes: [first]
      } = yield* store.result(RunAtoms.changes)
      assert.deepInclude(first, { effect: "Changed", fields: [{ field: "FirstName", before: "A", byRun: "B" }] })
    })
  )

  it.effect("tells a run that was left from one that ended, and from an undo that was undone", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      yield* store.run(leave, "import")
      const { run: added } = yield* store.run(add, 1)
      const report = yield* store.run(undoOf(added), undefined)
      yield* store.run(undoOf(report.run ?? ""), undefined)
      const runs = yield* store.result(RunAtoms.runs)
      assert.deepStrictEqual(
        runs.map(({ header, state, undoneBy }) => [header.command, state, undoneBy?.header.id]),
        [
          ["undo", "Finished", undefined],
          ["undo", "Finished", runs[0]?.header.id],
          ["add", "Finished", undefined],
          ["import", "Interrupted", undefined]
        ]
      )
    })
  )

  it("cuts what would break a table, and says how long it is", () => {
    assert.strictEqual(shortened("<b>"), "<b>")
    assert.strictEqual(shortened("x".repeat(30_000)).length, 300 + "… (30,000 characters)".length)
  })
})
