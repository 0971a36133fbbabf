/** What is not read of all accounts together is bounded too: who has most loses its oldest connection. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, request, type IncomingMessage } from "node:http"
import { admit } from "../../src/network/OpenRequests.ts"
import { makeUnreadAnswers } from "../../src/network/UnreadAnswers.ts"

const MiB = 1024 ** 2

/** More than the system holds of a connection for its reader. */
const answer = Buffer.alloc(24 * MiB)

it.live("beyond what all may leave unread, the account that leaves most loses what waits longest", () =>
  Effect.gen(function* () {
    const unread = makeUnreadAnswers({ unreadOfAccount: 1000 * MiB, unreadOfAll: 75 * MiB })
    const server = createServer({ ServerResponse: unread.Response }, (incoming, response) => {
      admit(`${incoming.headers["x-account"]}`, { source: incoming })
      response.end(answer)
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => server.close().closeAllConnections())
    )
    const address = server.address()
    const port = typeof address === "object" ? address?.port : 0
    const ask = (account: string) =>
      Effect.callback<IncomingMessage>((resume) => {
        request({ port, agent: false, headers: { "x-account": account } }, (response) =>
          resume(Effect.succeed(response))
        ).end()
      })
    const bytesOf = (response: IncomingMessage) =>
      Effect.promise(async () => {
        let bytes = 0
        try {
          for await (const part of response) bytes += part.length
        } catch {
          return "ended"
        }
        return bytes
      })
    const [other, ...many] = yield* Effect.forEach(["b", "a", "a", "a", "a"], ask)
    assert.isAtMost(unread.bytes(), 75 * MiB)
    const ends = yield* Effect.forEach(many, bytesOf)
    assert.deepStrictEqual(ends, ["ended", "ended", answer.length, answer.length])
    assert.strictEqual(yield* bytesOf(other ?? assert.fail()), answer.length)
    assert.strictEqual(unread.bytes(), 0)
  }).pipe(Effect.scoped)
)
