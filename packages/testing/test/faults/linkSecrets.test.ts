/**
 * The link of a download lets whoever has it download the file. No error, log or span holds its query or a key in its path, even
 * if the answer quotes them.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { Effect, Exit, Stream } from "effect"
import { canary } from "./Canary.ts"
import { type Answer, answerBytes, readBody, reset, respond, type Script, write } from "./server/FaultScript.ts"
import { transports, trial } from "./FaultTrial.ts"

/** A link with a key in its path, a signature and a parameter that is encoded. */
const pathOf = (origin: string) =>
  `${origin}/v4/exports/${canary.token}/export.csv?X-Amz-Signature=${canary.password}&policy=%2F${canary.apiKey}%2F`

const bodies = (link: string): ReadonlyArray<readonly [type: string, body: string]> => [
  ["text/html", `<html><body>No page ${link}</body></html>`],
  ["application/xml", `<Error><Resource>${link.replaceAll("&", "&amp;")}</Resource></Error>`],
  ["application/json", JSON.stringify({ Error: `nothing at ${link}` })],
  ["application/json", JSON.stringify({ Error: `signature ${canary.password} and ${decodeURIComponent(link)}` })],
  ["text/plain", `${canary.token} is refused`],
  [`text/html; of=${canary.password}`, ""]
]

describe.each(transports)("The secrets of links over %s", (_, transport) => {
  const downloading = (script: (link: string) => Script) =>
    trial({
      transport,
      policy: { attempts: 2 },
      // Dies if a secret is printed anywhere.
      plan: { requests: ({ headers }) => script(pathOf(`http://${headers["host"]}`)) },
      call: ({ origin }) =>
        Effect.flatMap(ContactsService, (contacts) => Stream.runDrain(contacts.download(pathOf(origin))))
    })

  it.live.each([200, 204, 206, 302, 400, 401, 403, 404, 409, 410, 412, 416, 429, 500, 502, 503, 599])(
    "are in nothing that is printed of an answer with %d",
    (status) =>
      Effect.gen(function* () {
        for (const number of bodies("").keys()) {
          const { exit } = yield* downloading((link) => {
            const [type = "", body = ""] = bodies(link)[number] ?? []
            const quoting = {
              Location: link,
              Server: link.slice(0, 300),
              "X-Request-Id": canary.password,
              ETag: `"${link}"`
            }
            const answer: Answer = { status, headers: { "Content-Type": type, Connection: "close", ...quoting }, body }
            return [respond(status === 204 ? { status, headers: { Connection: "close" } } : answer)]
          })
          if (status !== 200) assert.isTrue(Exit.isFailure(exit), `${status}`)
        }
      })
  )

  it.live("are in nothing that is printed of a connection that breaks", () =>
    Effect.gen(function* () {
      const cut = answerBytes({ status: 200, headers: { "Content-Type": "text/csv", "Content-Length": "100" } })
      for (const script of [
        [reset],
        [readBody(), reset],
        [readBody(), write(cut), reset],
        [readBody(), write("SSH-2.0\r\n"), reset]
      ]) {
        const { exit } = yield* downloading(() => script)
        assert.isTrue(Exit.isFailure(exit))
      }
    })
  )
})
