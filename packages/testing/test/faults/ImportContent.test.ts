/**
 * The content of an import as the service sees it: where the caller's own source fails, the request ends in the middle, and
 * never as a whole form.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, ImportSource } from "@roster/domain"
import { Deferred, Effect, Exit, Option, PlatformError, Stream } from "effect"
import { answerBytes, readBody, respond, type Script, stall, waitFor, write } from "./server/FaultScript.ts"
import { transports, trial } from "./FaultTrial.ts"
import { reason, succeeded } from "./Verdict.ts"

const lost = PlatformError.systemError({
  _tag: "Unknown",
  module: "Source",
  method: "read",
  cause: Object.assign(new Error("connect ECONNREFUSED 192.0.2.1:443"), { code: "ECONNREFUSED", syscall: "connect" })
})
const rows = new TextEncoder().encode(`Email\r\n${"someone@example.com\r\n".repeat(1000)}`)
const close = { Connection: "close" }

describe.each(transports)("The content of an import over %s", (_, transport) => {
  const importing = (
    content: Stream.Stream<Uint8Array, PlatformError.PlatformError>,
    requests: ReadonlyArray<Script>,
    replayable = true
  ) =>
    trial({
      plan: { requests },
      transport,
      call: Effect.flatMap(ContactsService, (contacts) =>
        contacts.import(ImportSource.File({ name: "customers.csv", content, replayable }))
      )
    })

  const sourceError = ({ exit }: Effect.Success<ReturnType<typeof importing>>) =>
    assert.strictEqual(Option.getOrUndefined(Exit.findErrorOption(exit)), lost)

  it.live.each([true, false])("a source that fails ends the request: it can be read again: %s", (replayable) =>
    Effect.gen(function* () {
      for (const before of [Stream.empty, Stream.make(rows), Stream.make(rows, rows, rows)]) {
        const ended = yield* importing(Stream.concat(before, Stream.fail(lost)), [[readBody(), stall]], replayable)
        sourceError(ended)
        assert.isAtMost(ended.requests.length, 1)
        assert.isTrue(ended.requests.every(({ complete }) => !complete))
        assert.isTrue(ended.connections.every(({ closedBy }) => closedBy === "client"))
        // What is counted is what happened.
        assert.match(ended.printed, /'roster\.outcome' => '[^']*PlatformError'/)
      }
    })
  )

  it.live("a source that fails when it is read again ends the second request", () =>
    Effect.gen(function* () {
      let reads = 0
      const content = Stream.suspend(() =>
        ++reads === 1 ? Stream.make(rows) : Stream.concat(Stream.make(rows), Stream.fail(lost))
      )
      const ended = yield* importing(content, [[respond({ status: 429, headers: close })], [readBody(), stall]])
      sourceError(ended)
      // The head of the second may still have been on its way.
      const [first, ...second] = ended.requests
      assert.deepStrictEqual([reads, first?.complete], [2, true])
      assert.isTrue(second.every(({ complete }) => !complete))
    })
  )

  it.live("an answer that came before the source failed counts", () =>
    Effect.gen(function* () {
      const answered = yield* Deferred.make<void>()
      const content = Stream.concat(
        Stream.make(rows),
        Stream.fromEffect(Effect.andThen(Deferred.await(answered), Effect.fail(lost)))
      )
      const refusal = { status: 401, headers: close, body: JSON.stringify({ Error: "no" }) }
      const ended = yield* trial({
        plan: { requests: [[readBody(1000), write(answerBytes(refusal)), stall]] },
        transport,
        call: Effect.flatMap(ContactsService, (contacts) =>
          contacts
            .import(ImportSource.File({ name: "customers.csv", content }))
            .pipe(Effect.ensuring(Deferred.succeed(answered, undefined)))
        )
      })
      reason(ended, "Unauthorized")
      assert.deepStrictEqual(
        ended.requests.map(({ complete }) => complete),
        [false]
      )
    })
  )

  it.live("an answer that would come after the source failed does not", () =>
    Effect.gen(function* () {
      const failed = yield* Deferred.make<void>()
      const content = Stream.concat(
        Stream.make(rows),
        Stream.unwrap(Effect.as(Deferred.succeed(failed, undefined), Stream.fail(lost)))
      )
      const refusal = { status: 401, headers: close, body: JSON.stringify({ Error: "no" }) }
      sourceError(yield* importing(content, [[readBody(1000), waitFor(Deferred.await(failed)), respond(refusal)]]))
    })
  )

  it.live("a source that does not fail is sent whole", () =>
    Effect.gen(function* () {
      const ended = yield* importing(Stream.make(rows, rows), [[respond({ status: 202, headers: close })]])
      succeeded(ended)
      assert.strictEqual(ended.requests[0]?.complete, true)
    })
  )
})
