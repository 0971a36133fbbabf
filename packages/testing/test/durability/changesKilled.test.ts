/** A call of a thousand changes is one transaction: whenever its process is killed, all of them are made or none. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { maximumChanges } from "@roster/domain"
import { Effect, Fiber } from "effect"
import { DatabaseSync } from "node:sqlite"
import { askServe, killableServe, type ServePlace, servePlace } from "./KillableServe.ts"
import { assertWhole, contactsIn, fillContacts, seen, writeTo } from "./StoreLook.ts"

/** Of each three contacts one is changed, one deleted and one added. */
const changes = Array.from({ length: maximumChanges }, (_, index) => {
  const seen = { Status: "Active", FirstName: "Before" }
  const Email = `p${index + 1}@example.com`
  if (index % 3 === 0) return { Email, Seen: seen, Write: { FirstName: "After", AddToLists: ["New"] } }
  return index % 3 === 1
    ? { Email, Seen: seen, Delete: true }
    : { Email: `n${index}@example.com`, Seen: null, Write: { FirstName: "After" } }
})

/** The address and the name of each contact, with all changes or without any. */
const namesAfter = (areMade: boolean): ReadonlyArray<string> =>
  [
    ...Array.from({ length: maximumChanges }, (_, index) =>
      areMade && index % 3 === 1 ? [] : [`p${index + 1}@example.com ${areMade && index % 3 === 0 ? "After" : "Before"}`]
    ).flat(),
    ...changes.flatMap(({ Email, Seen }) => (areMade && Seen === null ? [`${Email} After`] : []))
  ].toSorted()

const namesIn = (place: ServePlace): ReadonlyArray<string> =>
  contactsIn(place)
    .map(({ email, first_name }) => `${email} ${first_name}`)
    .toSorted()

/** Whether somebody is writing. */
const isTaken = ({ filename }: ServePlace): boolean => {
  using database = new DatabaseSync(filename, { timeout: 0 })
  try {
    database.exec("BEGIN IMMEDIATE; ROLLBACK")
    return false
  } catch {
    return true
  }
}

/** Makes the changes until a moment comes at which their process dies. */
const killedAt = Effect.fnUntraced(function* (place: ServePlace, moment: Effect.Effect<unknown, unknown>) {
  const serve = yield* killableServe(place)
  const call = yield* Effect.forkChild(Effect.exit(askServe(serve, "POST", "/contacts/changes", changes)))
  yield* moment
  serve.killNow()
  yield* serve.ended
  yield* Fiber.join(call)
}, Effect.scoped)

describe("a call of a thousand changes", () => {
  it.live(
    "is done wholly or not at all, wherever its process is killed, and goes on with the same call",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        yield* Effect.flatMap(killableServe(place), ({ stop }) => stop).pipe(Effect.scoped)
        fillContacts(place, maximumChanges, "Before")
        // In the middle of the writes a statement takes long.
        writeTo(
          place,
          `CREATE TRIGGER slow BEFORE UPDATE ON contacts WHEN new.email = 'p700@example.com' BEGIN
             SELECT sum(i) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT i FROM n);
           END`
        )
        let takenSince = Infinity
        yield* killedAt(
          place,
          seen(
            () => {
              takenSince = isTaken(place) ? Math.min(takenSince, performance.now()) : Infinity
              return performance.now() - takenSince
            },
            // All the others take less.
            (millis) => millis > 300,
            "10 millis"
          )
        )
        assert.deepStrictEqual(namesIn(place), namesAfter(false))
        assertWhole(place)

        writeTo(place, "DROP TRIGGER slow")
        // As soon as one is made, before or while the answer leaves.
        const first = () => contactsIn(place).some((contact) => contact.first_name === "After")
        yield* killedAt(
          place,
          seen(first, (isMade) => isMade)
        )
        assert.deepStrictEqual(namesIn(place), namesAfter(true))
        assertWhole(place)

        const serve = yield* killableServe(place)
        const again = yield* askServe(serve, "POST", "/contacts/changes", changes)
        assert.deepStrictEqual(
          JSON.parse(again.text),
          changes.map(() => ({ Result: "AlreadySo" }))
        )
        yield* serve.stop
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )
})
