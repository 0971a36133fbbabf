/**
 * S65 Several processes on one file wait for each other, and none of them loses what another one wrote.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { DatabaseSync } from "node:sqlite"
import { askServe, killableServe, servePlace } from "./KillableServe.ts"
import { amount, longRun } from "../../src/simulation/LongRun.ts"
import { runRoster } from "./RosterCommand.ts"
import { assertWhole, contactsIn, openedBy, seen } from "./StoreLook.ts"

const timeout = longRun ? 30 * 60_000 : 60_000
const processes = 8

const add = (place: { readonly filename: string; readonly folder: string }, email: string) =>
  Effect.map(runRoster(place, ["contacts", "add", email]), ({ code, stderr }) => {
    assert.strictEqual(code, 0, stderr)
    return email
  })

describe("S.5 several processes", () => {
  it.live(
    "S65 commands that create one new store at the same time create one, with what each of them added",
    () =>
      Effect.gen(function* () {
        for (let round = 0; round < amount({ ci: 2, long: 100 }); round++) {
          const place = yield* servePlace
          const emails = ["ann@example.com", "bob@example.com"]
          yield* Effect.forEach(emails, (email) => add(place, email), { concurrency: "unbounded" })
          assert.deepStrictEqual(
            contactsIn(place)
              .map(({ email }) => email)
              .toSorted(),
            emails
          )
          assertWhole(place)
        }
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  it.live(
    `S65 two servers and ${processes} commands at once write to one file: nothing is lost, nobody is told of a lock`,
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const servers = [yield* killableServe(place), yield* killableServe(place)]
        const served = yield* Effect.forkChild(
          Effect.forEach(
            servers.flatMap((serve, server) =>
              Array.from({ length: 40 }, (_, index) => ({ serve, email: `s${server}-${index}@example.com` }))
            ),
            ({ email, serve }) =>
              Effect.map(askServe(serve, "POST", "/contacts", [{ Email: email }]), ({ status, text }) => {
                assert.strictEqual(status, 200, text)
                return email
              }),
            { concurrency: 4 }
          )
        )
        const emails: Array<string> = []
        for (let round = 0; round < amount({ ci: 1, long: 50 }); round++) {
          const added = yield* Effect.forEach(
            Array.from({ length: processes }, (_, index) => `c${round}-${index}@example.com`),
            (email) => add(place, email),
            { concurrency: "unbounded" }
          )
          emails.push(...added)
        }
        emails.push(...(yield* Fiber.join(served)))
        for (const { stop } of servers) yield* stop
        assert.deepStrictEqual(
          contactsIn(place)
            .map(({ email }) => email)
            .toSorted(),
          emails.toSorted()
        )
        assertWhole(place)
        process.stdout.write(`S65: ${emails.length} contacts of ${processes} commands and 2 servers, 0 lost\n`)
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  it.live.skipIf(process.platform !== "linux" || !longRun)(
    "S65 a lock is waited for, and one that is held for too long is named without a code of SQLite (nightly)",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        yield* add(place, "ann@example.com")
        using other = new DatabaseSync(place.filename, { timeout: 1000 })
        other.exec("BEGIN IMMEDIATE")
        const waiting = yield* Effect.forkChild(add(place, "bob@example.com"))
        yield* seen(
          () => openedBy(place),
          (processes) => processes.length > 0
        )
        other.exec("COMMIT")
        yield* Fiber.join(waiting)
        other.exec("BEGIN IMMEDIATE")
        const refused = yield* runRoster(place, ["contacts", "add", "cy@example.com"])
        other.exec("COMMIT")
        assert.strictEqual(refused.code, 8, refused.stderr)
        assert.match(refused.stderr, new RegExp(`another process held ${place.filename} for too long`))
        assert.notMatch(refused.stderr, /SQLITE|database is locked/)
        assert.strictEqual(contactsIn(place).length, 2)
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )
})
