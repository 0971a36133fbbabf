/**
 * Conditional changes of which a request goes wrong, at a service that has them and at another one: whatever goes wrong, and
 * wherever, each change is done once, nobody's change is overwritten, and where it is not settled the call says so.
 */
import { assert, describe, it } from "@effect/vitest"
import { type ChangeAnswer, type ContactChange, ContactFilter, ContactsService, RuleText } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Effect, Exit, Layer } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { overTime } from "./ClockedTrial.ts"
import { reason } from "./Verdict.ts"
import { foreignHttpClient, noSuchPath } from "../conformance/ForeignService.ts"

/** What goes wrong with a request; the service may have carried it out. */
const faults = {
  "a connection that breaks before the request arrives": { isCarriedOut: false, status: undefined },
  "a connection that breaks in place of the answer": { isCarriedOut: true, status: undefined },
  "a proxy that answers 502 and sends nothing on": { isCarriedOut: false, status: 502 },
  "a proxy that answers 502 in place of the answer": { isCarriedOut: true, status: 502 }
} as const
type Fault = (typeof faults)[keyof typeof faults]

/** Lets the requests of the numbers in `at` go wrong. */
const faulty = (fault: Fault) => {
  const state = { requests: 0, at: new Set<number>() }
  const layer = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.make((request) => {
        if (!state.at.has(state.requests++)) return client.execute(request)
        const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" })
        const error = new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request, cause })
        })
        const wrong =
          fault.status === undefined
            ? Effect.fail(error)
            : Effect.succeed(HttpClientResponse.fromWeb(request, new Response("<html>", { status: fault.status })))
        return fault.isCarriedOut ? Effect.andThen(client.execute(request), wrong) : wrong
      })
    )
  )
  return { state, layer }
}

const asSeen = { status: "Active", firstName: "Seen" } as const
const changes = [
  { email: "changed@example.com", seen: asSeen, write: { firstName: "After" } },
  { email: "new@example.com", seen: null, write: { firstName: "New" } },
  { email: "deleted@example.com", seen: asSeen, delete: true },
  { email: "outdated@example.com", seen: { status: "Active", firstName: "Stale" }, write: { firstName: "Never" } },
  { email: "so@example.com", seen: asSeen, write: { firstName: "So" } }
] as const satisfies ReadonlyArray<ContactChange>

const before = ["changed", "deleted", "outdated", "so"].map((name) => ({
  email: `${name}@example.com`,
  firstName: name === "so" ? "So" : "Seen"
}))

/** The first names after the changes. */
const wanted: ReadonlyArray<string | undefined> = ["After", "New", undefined, "Seen", "So"]

const results = (answers: ReadonlyArray<ChangeAnswer>) => answers.map(({ _tag }) => _tag)

/** What is there, with all dates. */
const contacts = Effect.map(
  Effect.flatMap(ContactsService, (service) => service.list()),
  (found) => changes.map(({ email }) => found.find((contact) => contact.email === email))
)

const names = Effect.map(contacts, (found) => found.map((contact) => contact?.firstName))

const services = {
  "a service that has changes": { transport: EmbeddedHttpClient.layer({ filename: ":memory:" }), requests: 1 },
  // It is asked for the operation, for each contact, to add some and to delete one.
  "another service": { transport: foreignHttpClient(noSuchPath), requests: 8 }
} as const

const cases = Object.entries(services).flatMap(([service, { requests, transport }]) =>
  Object.entries(faults).map(([what, fault]) => [service, what, transport, requests, fault] as const)
)

const attempts = 3

/** A client that knows nothing of the service yet. */
const client = RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl, retry: { attempts } })

const prepared = Effect.gen(function* () {
  const service = yield* ContactsService
  yield* service.deleteMany(ContactFilter.ByRule({ rule: RuleText.make("All") }))
  yield* service.add(before)
}).pipe(Effect.provide(client, { local: true }))

/** Makes the changes with faults, lets others change a contact, and makes them again; gives how the first call ended. */
const trial = Effect.fnUntraced(function* (state: ReturnType<typeof faulty>["state"], about: string) {
  const service = yield* ContactsService
  state.requests = 0
  const { exit } = yield* overTime(service.change(changes), "1 second")
  const { requests } = state
  state.at = new Set()
  const then = yield* contacts
  if (Exit.isSuccess(exit)) {
    assert.deepStrictEqual(yield* names, wanted, about)
    const made = results(exit.value).map((result) => (result === "AlreadySo" ? "Done" : result))
    assert.deepStrictEqual(made, ["Done", "Done", "Done", "Outdated", "Done"], about)
  } else {
    const { _tag, message } = reason({ exit: Exit.asVoid(exit) }, ["OutcomeUnknown", "Unavailable"], about)
    if (_tag === "OutcomeUnknown") assert.include(message, "Make the same changes again", about)
    else assert.deepStrictEqual(yield* names, ["Seen", undefined, "Seen", "Seen", "So"], about)
  }
  yield* service.update("changed@example.com", { firstName: "Theirs" })
  const theirs = yield* service.get("changed@example.com")
  yield* TestClock.adjust("1 minute")
  const again = yield* service.change(changes)
  assert.strictEqual(again[0]?._tag, "Outdated", about)
  assert.deepStrictEqual(yield* names, ["Theirs", ...wanted.slice(1)], about)
  const now = yield* contacts
  assert.deepStrictEqual(now[0], theirs, about)
  // What was done is not done again, which would set its dates.
  if (then[1] !== undefined) assert.deepStrictEqual([again[1]?._tag, now[1]], ["AlreadySo", then[1]], about)
  assert.deepStrictEqual(now[4], then[4], about)
  const rest = results(yield* service.change(changes)).slice(1)
  assert.deepStrictEqual(rest, ["AlreadySo", "AlreadySo", "Outdated", "AlreadySo"], about)
  return { requests, ended: Exit.isSuccess(exit) ? "success" : "failure", wasMade: then[1] !== undefined }
})

describe("changes of which a request goes wrong", () => {
  it.effect.each(cases)("at %s, by %s", ([, , transport, requests, fault]) => {
    const { layer, state } = faulty(fault)
    return Effect.gen(function* () {
      const found = new Set<string>()
      for (let at = 0; at < requests; at++) {
        // Once, and so often that the client gives up.
        for (const times of [1, attempts]) {
          const about = `request ${at}, ${times} times`
          yield* prepared
          state.at = new Set(Array.from({ length: times }, (_, index) => at + index))
          const one = yield* Effect.provide(trial(state, about), client, { local: true })
          assert.isAbove(one.requests, at, about)
          found.add(one.ended)
          if (one.ended === "failure" && one.wasMade) found.add("made though it failed")
        }
      }
      assert.includeMembers([...found], ["success", "failure"])
      if (fault.isCarriedOut) assert.include([...found], "made though it failed")
    }).pipe(Effect.provide(Layer.provide(layer, transport)))
  })
})
