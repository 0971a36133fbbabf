/** A run that was killed before it wrote what it recorded: others may have added the same contact since. */
import { assert, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { importContacts, RunLog, undoRun } from "@roster/workflows"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"

const ada = { email: "ada@example.com" }

it.effect("an undo leaves a contact that others added in place of one that the run only recorded", () =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    const { run: id = "" } = yield* importContacts(Stream.make(ada))
    yield* contacts.delete(ada.email)
    yield* TestClock.adjust("1 day")
    yield* contacts.add([ada])
    const report = yield* undoRun(id)
    assert.deepInclude(report, { deleted: 0, outdated: 1 })
    assert.strictEqual((yield* contacts.get(ada.email)).email, ada.email)
  }).pipe(Effect.provide(Layer.merge(layerMemory(), RunLog.layerMemory())))
)

it.effect("an undo deletes what the run added, however long ago", () =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    const { run: id = "" } = yield* importContacts(Stream.make(ada))
    yield* TestClock.adjust("1 day")
    assert.deepInclude(yield* undoRun(id), { deleted: 1, outdated: 0 })
    assert.deepStrictEqual(yield* contacts.list(), [])
  }).pipe(Effect.provide(Layer.merge(layerMemory(), RunLog.layerMemory())))
)
