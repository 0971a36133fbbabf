/** The bounds on what one client costs others, the same on each engine. (docs/limits.md) */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { maximumLists, maximumListsOfContact, maximumPlaces } from "@roster/domain"
import type { RosterServer } from "@roster/server"
import { Effect, Fiber, type Scope } from "effect"
import { served } from "./LargeRequests.ts"

type Store = Parameters<typeof RosterServer.layer>[0]["store"]

const names = (from: number, count: number) => Array.from({ length: count }, (_, index) => `L${from + index}`)

const people = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ Email: `p${from + index}@example.com` }))

const onLists = (lists: ReadonlyArray<string>) => `/contacts?${lists.map((name) => `listnames=${name}`).join("&")}`

/** The key of another account, and two calls that have to be answered whatever it does. */
const withAttacker = Effect.fnUntraced(function* (
  ask: Effect.Success<ReturnType<typeof served>>["ask"],
  origin: string
) {
  const asked = yield* ask(
    "POST",
    "/security/apikeys",
    JSON.stringify({ Name: "attacker", Subaccount: "a@example.com", AccessLevel: ["ModifyContacts", "ViewContacts"] })
  )
  assert.strictEqual(asked.status, 201)
  const attacker = { "X-Service-ApiKey": JSON.parse(asked.text).Token }
  assert.strictEqual((yield* ask("POST", "/contacts", '[{"Email":"other@example.com"}]')).status, 200)
  const other = Effect.map(ask("GET", "/contacts/other@example.com"), ({ status }) => assert.strictEqual(status, 200))
  // The first use of a key for a level is written down.
  yield* other
  const isReady = Effect.map(
    Effect.promise(() => fetch(`${origin}/health/ready`)),
    ({ status }) => assert.strictEqual(status, 200)
  )
  return { attacker, other, isReady }
})

/**
 * The cases on one engine; `lock` keeps others from changing the contact `held@example.com` of a store until it is
 * unlocked.
 */
export const boundsCases = <S extends Store>(
  engine: string,
  store: Effect.Effect<S, unknown, Scope.Scope>,
  lock: (store: S) => Effect.Effect<{ readonly unlock: Effect.Effect<void> }, unknown, Scope.Scope>
): void => {
  const server = Effect.flatMap(store, served)

  describe(`bounds, ${engine}`, () => {
    it.live("an account has 1000 lists, and a new one has room once another is deleted", () =>
      Effect.gen(function* () {
        const { ask } = yield* server
        const add = (lists: ReadonlyArray<string>, email: string) =>
          ask("POST", onLists(lists), JSON.stringify([{ Email: email }]))
        for (let from = 0; from < maximumLists; from += maximumListsOfContact) {
          assert.strictEqual((yield* add(names(from, maximumListsOfContact), `p${from}@example.com`)).status, 200)
        }
        const refused = yield* add(["L0", "new"], "new@example.com")
        assert.strictEqual(refused.status, 400)
        assert.match(JSON.parse(refused.text).Error, /^Invalid listnames: .*1000/)
        const write = { AddToLists: ["new"] }
        const change = JSON.stringify([{ Email: "new@example.com", Seen: null, Write: write }])
        const unchanged = yield* ask("POST", "/contacts/changes", change)
        assert.strictEqual(unchanged.status, 400)
        assert.match(JSON.parse(unchanged.text).Error, /^Invalid AddToLists: .*1000/)
        assert.strictEqual((yield* ask("GET", "/contacts/new@example.com")).status, 404)
        assert.strictEqual((yield* add(["L0"], "known@example.com")).status, 200)
        const made = yield* ask("POST", "/lists", '{"ListName":"new"}')
        assert.strictEqual(made.status, 400)
        assert.match(JSON.parse(made.text).Error, /at most 1000 lists/)
        // A list without contacts stays: somebody made it.
        assert.strictEqual((yield* ask("DELETE", "/contacts/p100@example.com")).status, 200)
        assert.strictEqual((yield* add(["L0", "new"], "new@example.com")).status, 400)
        assert.strictEqual((yield* ask("DELETE", "/lists/L100")).status, 200)
        assert.strictEqual((yield* add(["L0", "new"], "new@example.com")).status, 200)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )

    it.live("others are answered while calls put contacts on as many lists as they may, and take them off", () =>
      Effect.gen(function* () {
        const { ask } = yield* server
        assert.strictEqual((yield* ask("POST", "/contacts", '[{"Email":"other@example.com"}]')).status, 200)
        const other = ask("GET", "/contacts/other@example.com")
        // Its first use of a key is written down.
        assert.strictEqual((yield* other).status, 200)
        /** How many calls of another are answered during one. */
        const during = Effect.fnUntraced(function* (path: string, body: unknown) {
          let answered = 0
          const counted = Effect.tap(other, () => Effect.sync(() => void answered++))
          const call = ask("POST", path, JSON.stringify(body))
          const { status, text } = yield* Effect.raceFirst(call, Effect.forever(counted))
          assert.strictEqual(status, 200, text.slice(0, 300))
          return answered
        })
        // A fast machine is soon done. So many may be answered before the call has arrived.
        const early = 2
        const most = maximumPlaces / maximumListsOfContact
        const all = names(0, maximumListsOfContact)
        assert.isAbove(yield* during(onLists(all), people(most)), early)
        for (let from = most; from < 1000; from += most) {
          assert.strictEqual((yield* ask("POST", onLists(all), JSON.stringify(people(most, from)))).status, 200)
        }
        const Emails = people(1000).map(({ Email }) => Email)
        assert.isAbove(yield* during("/contacts/delete", { Emails }), early)
        const changes = people(1000).map((one, index) => ({
          ...one,
          Seen: null,
          Write: { AddToLists: names((index % 10) * 10, 10) }
        }))
        assert.isAbove(yield* during("/contacts/changes", changes), early)
        const gone = people(1000).map((one) => ({ ...one, Seen: { Status: "Active" }, Delete: true }))
        assert.isAbove(yield* during("/contacts/changes", gone), early)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )

    it.live("contacts on as many lists as they may be tell them in any read of many, which is written in pieces", () =>
      Effect.gen(function* () {
        const { ask } = yield* server
        const all = names(0, maximumListsOfContact).map((name) => `${name} ${"x".repeat(40)}`)
        const most = maximumPlaces / maximumListsOfContact
        const path = onLists(all.map(encodeURIComponent))
        for (const from of [0, most, 2 * most]) {
          assert.strictEqual((yield* ask("POST", path, JSON.stringify(people(most, from)))).status, 200)
        }
        const Emails = people(3 * most).map(({ Email }) => Email)
        const areTold = ({ status, text }: { readonly status: number; readonly text: string }) => {
          assert.strictEqual(status, 200, text.slice(0, 300))
          const listed: ReadonlyArray<{ readonly Email: string; readonly Lists: ReadonlyArray<string> }> =
            JSON.parse(text)
          assert.deepStrictEqual(
            listed.map(({ Email, Lists }) => ({ Email, Lists })),
            Emails.map((Email) => ({ Email, Lists: all.toSorted() }))
          )
        }
        const rule = encodeURIComponent(`on-list '${all[7]}'`)
        areTold(yield* ask("GET", "/contacts?limit=1000&lists=true"))
        areTold(yield* ask("GET", `/contacts?limit=1000&lists=true&rule=${rule}`))
        areTold(yield* ask("GET", `/lists/${encodeURIComponent(all[7] ?? "")}/contacts?limit=1000&lists=true`))
        areTold(yield* ask("POST", "/contacts/lookup?lists=true", JSON.stringify({ Emails })))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )

    it.live("whatever one account waits for, others get a contact, and their turn", () =>
      Effect.gen(function* () {
        const own = yield* store
        const { ask, origin } = yield* served(own)
        const { attacker, other, isReady } = yield* withAttacker(ask, origin)
        const held = '[{"Email":"held@example.com"}]'
        assert.strictEqual((yield* ask("POST", "/contacts", held, attacker)).status, 200)
        // The first use of a key for a level is written down.
        assert.strictEqual((yield* ask("GET", "/contacts/held@example.com", "", attacker)).status, 200)
        const { unlock } = yield* lock(own)
        let done = 0
        const change = Effect.map(
          ask("PUT", "/contacts/held@example.com", '{"FirstName":"F"}', attacker),
          ({ status }) => {
            done++
            return status
          }
        )
        const changes = yield* Effect.forkChild(
          Effect.all(
            Array.from({ length: 40 }, () => change),
            { concurrency: 40 }
          ),
          { startImmediately: true }
        )
        for (let round = 0; round < 20; round++) {
          yield* other
          // A store on SQLite that takes no writes is not ready.
          if (engine === "on PostgreSQL") yield* isReady
          assert.strictEqual((yield* ask("GET", "/contacts/held@example.com", "", attacker)).status, 200)
        }
        assert.strictEqual(done, 0)
        const add = yield* Effect.forkChild(
          Effect.map(ask("POST", "/contacts", '[{"Email":"added@example.com"}]'), ({ status }) => [status, done]),
          { startImmediately: true }
        )
        // It waits when this is answered.
        yield* other
        yield* unlock
        const [status, before] = yield* Fiber.join(add)
        assert.strictEqual(status, 200)
        if (engine === "on PostgreSQL") assert.isBelow(before ?? 0, 10)
        assert.deepStrictEqual(new Set(yield* Fiber.join(changes)), new Set([200]))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )

    it.live("costly rules and pages of one account, as many as come, keep nobody from a contact", () =>
      Effect.gen(function* () {
        const { ask, origin } = yield* server
        const { attacker, other, isReady } = yield* withAttacker(ask, origin)
        // Each contact has to be read to know that it is not the one.
        const fields = { a: "x".repeat(500) }
        for (let from = 0; from < 2000; from += 1000) {
          const body = people(1000, from).map((one) => ({ ...one, CustomFields: fields }))
          assert.strictEqual((yield* ask("POST", "/contacts", JSON.stringify(body), attacker)).status, 200)
        }
        // As many conditions as the head of a request takes.
        const byRule = `/contacts?rule=${Array.from({ length: 900 }, (_, index) => `f${index}='y'`).join("+OR+")}`
        const page = "/contacts?limit=1000&offset=1500"
        const attacks: ReadonlyArray<readonly [path: string, times: number, statuses: ReadonlyArray<number>]> = [
          [byRule, 14, [200, 503]],
          [page, 100, [200]]
        ]
        for (const [path, times, statuses] of attacks) {
          const call = Effect.map(ask("GET", path, "", attacker), ({ status }) => assert.include(statuses, status))
          const attack = yield* Effect.forkChild(
            Effect.all(
              Array.from({ length: times }, () => Effect.forever(call)),
              { concurrency: "unbounded", discard: true }
            ),
            { startImmediately: true }
          )
          for (let round = 0; round < 10; round++) yield* Effect.all([other, isReady], { discard: true })
          assert.isUndefined(attack.pollUnsafe())
          yield* Fiber.interrupt(attack)
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
  })
}
