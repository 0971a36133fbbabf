/** What docs/programs.md shows, run. */
import { assert, describe, it } from "@effect/vitest"
import { AccountService, ContactsService, CredentialsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { addAll, RunLog, undoRun } from "@roster/workflows"
import { Effect, Fiber, FileSystem, Layer, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { audited } from "../src/programs/AuditedContacts.ts"
import { history, nightly } from "../src/programs/NightlyPlan.ts"
import { worker } from "../src/programs/RotationWorker.ts"
import { services as servicesIn } from "../src/programs/Services.ts"
import { unsubscribe } from "../src/programs/Unsubscribe.ts"

const file = (text: string) => Stream.make(new TextEncoder().encode(text))
const services = Layer.provideMerge(RunLog.layer, layerMemory())

describe("the programs of the page", () => {
  it.effect("import within a threshold, and say so where a file is beyond it", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const first = yield* nightly(file("email,city\nada@example.com,Rome\nbob@example.com,Oslo\n"), 0)
      assert.deepInclude(first, { read: 2, done: 2, new: 2, changed: 0 })
      const moved = file("email,city\nada@example.com,Bonn\nbob@example.com,Bern\n")
      const refused = yield* Effect.flip(nightly(moved, 1))
      assert.deepInclude(refused, { _tag: "TooManyChanges", changed: 2 })
      assert.strictEqual((yield* contacts.get("ada@example.com")).customFields?.["city"], "Rome")
      const second = yield* nightly(moved, 2)
      assert.deepInclude(second, { changed: 2 })
      yield* history
      yield* undoRun(second.run ?? "")
      assert.strictEqual((yield* contacts.get("bob@example.com")).customFields?.["city"], "Oslo")
    }).pipe(Effect.provide(services))
  )

  it.effect("are undone by a later process, by the log in a folder", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "roster-programs-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      const services = servicesIn(join(folder, "roster.db"))
      const customers = join(folder, "customers.csv")
      const first = Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(customers, "email\nada@example.com\n")
        return yield* nightly(fs.stream(customers), 0)
      })
      const { run = "" } = yield* Effect.provide(first, services)
      const later = Effect.andThen(
        undoRun(run),
        ContactsService.use((contacts) => contacts.list())
      )
      assert.deepStrictEqual(yield* Effect.provide(later, services), [])
    }).pipe(Effect.scoped)
  )

  it.effect("unsubscribe one person, and add nobody", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      yield* contacts.add([{ email: "ada@example.com" }])
      assert.strictEqual(yield* unsubscribe("ada@example.com"), "You get no more mail.")
      assert.strictEqual((yield* contacts.get("ada@example.com")).status, "Unsubscribed")
      assert.strictEqual(yield* unsubscribe("bob@example.com"), "You are not on our list.")
      assert.match(yield* unsubscribe("bob"), /^That is no address: /)
      assert.strictEqual((yield* contacts.list()).length, 1)
    }).pipe(Effect.provide(services))
  )

  it.effect("rotate a key each month", () =>
    Effect.gen(function* () {
      const { apiKeys } = yield* CredentialsService
      yield* apiKeys.create({ name: "sync", accessLevels: ["ViewContacts"] })
      const secrets: Array<string> = []
      const running = yield* Effect.forkChild(
        worker(["sync"], (_, secret) => Effect.sync(() => void secrets.push(Redacted.value(secret))))
      )
      yield* TestClock.adjust("63 days")
      yield* Fiber.interrupt(running)
      assert.strictEqual(new Set(secrets).size, 3)
      assert.deepStrictEqual(
        (yield* apiKeys.list()).map(({ name }) => name),
        ["sync~old-1970-03-08", "sync"]
      )
    }).pipe(Effect.provide(services))
  )

  it.effect("replace the secret of the key that calls after all others", () =>
    Effect.gen(function* () {
      const { apiKeys } = yield* CredentialsService
      for (const name of ["rotor", "sync"]) yield* apiKeys.create({ name, accessLevels: ["ModifyAccessTokens"] })
      const order: Array<string> = []
      const account = yield* AccountService
      const calling = Effect.map(account.key, (key) => ({ ...key, name: "rotor" }))
      const running = yield* worker(["rotor", "sync"], (name) => Effect.sync(() => void order.push(name))).pipe(
        Effect.provideService(AccountService, { ...account, key: calling }),
        Effect.forkChild
      )
      yield* TestClock.adjust("1 day")
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual(order, ["sync", "rotor"])
    }).pipe(Effect.provide(services))
  )

  it.effect("go through a layer of one's own, to the last write", () => {
    const noted: Array<string> = []
    const own = audited((method) => Effect.sync(() => void noted.push(method)))
    return Effect.gen(function* () {
      const { run = "" } = yield* nightly(file("email\nada@example.com\n"), 0)
      yield* undoRun(run)
      assert.deepStrictEqual(noted, ["change", "change"])
      yield* addAll(Stream.make({ email: "bob@example.com" })).pipe(Stream.runDrain)
      assert.deepStrictEqual(noted, ["change", "change", "add"])
    }).pipe(Effect.provide(own.pipe(Layer.provideMerge(services))))
  })
})
