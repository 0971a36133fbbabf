/**
 * C.4 Links that lead nowhere, whose file a service of ours gives at the address at which it is called.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, DownloadNotice } from "@roster/domain"
import { Effect, Exit, Stream } from "effect"
import { createServer } from "node:net"
import { canary } from "./Canary.ts"
import { finish, readBody, respond, write, answerBytes } from "./server/FaultScript.ts"
import { faultServer } from "./server/FaultServer.ts"
import { transports, trial } from "./FaultTrial.ts"
import { reason, succeeded } from "./Verdict.ts"

const path = "/v4/exports/8cW5yQ0b3kq1v7zX2mJ4tR6uP9sA/contacts.csv"
const file = "Email\r\nann@example.com\r\n"
const csv = { "Content-Type": "text/csv", Connection: "close" }
const ours = { ...csv, "Roster-Changes": "honoured", ETag: '"1"' }

/** The origin of a port at which nothing listens. */
const closedOrigin = Effect.callback<string>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" ? address?.port : undefined
    server.close(() => resume(Effect.succeed(`http://127.0.0.1:${port}`)))
  })
})

describe.each(transports)("C.4 Links that lead nowhere, over %s", (_, transport) => {
  const downloading = Effect.fnUntraced(function* (
    link: string,
    headers: Readonly<Record<string, string>> = ours,
    base = "/v4"
  ) {
    const notices: Array<string> = []
    const ended = yield* trial({
      plan: { requests: () => [respond({ status: 200, headers, body: file })] },
      transport,
      client: ({ origin }) => ({ baseUrl: `${origin}${base}` }),
      call: ContactsService.use((contacts) => Stream.mkString(Stream.decodeText(contacts.download(link)))).pipe(
        Effect.provideService(DownloadNotice, (notice) => Effect.sync(() => void notices.push(notice)))
      )
    })
    return { ended, notices }
  })

  it.live.each(["a name that nobody knows", "a port at which nothing listens"])(
    "%s: the file comes from the given address, without the key, and that is said once",
    (what) =>
      Effect.gen(function* () {
        const origin = what.startsWith("a name") ? "http://roster.invalid:4010" : yield* closedOrigin
        for (const [base, place] of [
          ["/v4", path],
          ["/lists/v4", `/lists${path}`]
        ] as const) {
          const { ended, notices } = yield* downloading(`${origin}${path}`, ours, base)
          succeeded(ended)
          if (Exit.isSuccess(ended.exit)) assert.strictEqual(ended.exit.value, file)
          assert.deepStrictEqual(
            ended.requests.map(({ target }) => target),
            [place]
          )
          const asked = JSON.stringify(ended.requests.map(({ headers }) => headers))
          assert.notInclude(asked, canary.apiKey)
          assert.notInclude(asked, "x-service-apikey")
          const [notice = ""] = notices
          assert.lengthOf(notices, 1)
          assert.include(notice, new URL(origin).host)
          assert.match(notice, /The file comes from 127\.0\.0\.1:\d+, where the service is called\.$/)
          assert.notInclude(notice, "/exports/")
        }
      })
  )

  it.live("a service that does not announce itself as ours is not believed, and the failure is that of the link", () =>
    Effect.gen(function* () {
      const origin = yield* closedOrigin
      const { ended, notices } = yield* downloading(`${origin}${path}`, csv)
      assert.include(reason(ended, "Unavailable").message, `nothing listens at ${new URL(origin).host}`)
      assert.deepStrictEqual(notices, [])
    })
  )

  it.live("the given address is not asked for other files, for signed ones, or without TLS in place of with it", () =>
    Effect.gen(function* () {
      const origin = yield* closedOrigin
      for (const link of [
        `${origin}/files/contacts.csv`,
        `${origin}/v4/exports`,
        `${origin}/v4/contacts/ann@example.com`,
        `${origin}${path}?signature=abc`,
        `${origin.replace("http:", "https:")}${path}`
      ]) {
        const { ended, notices } = yield* downloading(link)
        reason(ended, "Unavailable", link)
        assert.deepStrictEqual([ended.requests, notices], [[], []], link)
      }
    })
  )

  it.live("a link whose host answers is followed, whatever it answers", () =>
    Effect.gen(function* () {
      const busy = yield* faultServer({ requests: () => [respond({ status: 500, body: "" })] })
      const { ended } = yield* downloading(`${busy.origin}${path}`)
      reason(ended, "Unavailable")
      assert.deepStrictEqual(ended.requests, [])
    })
  )

  it.live("a download that breaks off there goes on there, and says it once", () =>
    Effect.gen(function* () {
      const origin = yield* closedOrigin
      const notices: Array<string> = []
      const whole = answerBytes({ status: 200, headers: ours, body: file })
      const rest = { ...ours, "Content-Range": `bytes 10-${file.length - 1}/${file.length}` }
      const ended = yield* trial({
        plan: {
          requests: [
            [readBody(), write(whole.subarray(0, whole.length - file.length + 10)), finish],
            [respond({ status: 206, headers: rest, body: file.slice(10) })]
          ]
        },
        transport,
        call: ContactsService.use((contacts) =>
          Stream.mkString(Stream.decodeText(contacts.download(`${origin}${path}`)))
        ).pipe(Effect.provideService(DownloadNotice, (notice) => Effect.sync(() => void notices.push(notice))))
      })
      succeeded(ended)
      if (Exit.isSuccess(ended.exit)) assert.strictEqual(ended.exit.value, file)
      assert.strictEqual(ended.requests[1]?.headers["range"], "bytes=10-")
      assert.lengthOf(notices, 1)
    })
  )
})
