/**
 * C85 Two files are never joined: whatever the answers to a broken download say of themselves, what arrives is one of the
 * files that the service has, whole, or the beginning of one and an error.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { Deferred, Effect, Exit, Schema, Stream } from "effect"
import { gzipSync } from "node:zlib"
import type { LedgerRequest } from "./server/FaultLedger.ts"
import { type Answer, answerBytes, readBody, reset, respond, waitFor, write } from "./server/FaultScript.ts"
import { transports, trial } from "./FaultTrial.ts"
import { reason, succeeded } from "./Verdict.ts"
import { amount } from "../../src/simulation/LongRun.ts"

/** Two files of nearly one length, of which no part of one is at the same place in the other. */
const files = {
  a: Buffer.from(Array.from({ length: 3000 }, (_, i) => `a${i}@example.com\r\n`).join("")),
  b: Buffer.from(Array.from({ length: 3000 }, (_, i) => `b${i}@example.com\r\n`).join(""))
}

/** What identifies a file in an answer. Only a strong tag is always of the same bytes. */
const tags = {
  strong: (file: "a" | "b", encoding: string) => `"${file}${encoding}"`,
  weak: () => 'W/"a"',
  weakened: (file: "a" | "b", encoding: string) => `W/"${file}${encoding}"`,
  bare: () => "a",
  list: (file: "a" | "b") => `"${file}", "x"`,
  date: () => undefined,
  none: () => undefined
}

const Kind = Schema.Literals(["strong", "strong", "weak", "weakened", "bare", "list", "date", "none"])
const Source = Schema.Struct({
  file: Schema.Literals(["a", "b"]),
  tag: Kind,
  encoding: Schema.Literals(["", "", "", "gzip"]),
  framing: Schema.Literals(["length", "chunked"])
})
const Again = Schema.Struct({
  ...Source.fields,
  status: Schema.Literals([200, 206, 206, 206, 416]),
  /** How far from the place that was asked for the part begins, and from the end of the file it ends. */
  from: Schema.Literals([0, 0, 0, -7, 7]),
  until: Schema.Literals([0, 0, 0, -1000]),
  /** By how much the part says that the file is longer than it is. */
  total: Schema.Literals(["same", "same", "same", "other", "unknown", "none"])
})

const chunked = (body: Uint8Array) =>
  Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")])

const answerOf = (
  { encoding, file, framing, tag }: typeof Source.Type,
  status: number,
  part: Buffer,
  headers: Record<string, string> = {}
): Answer => {
  const etag = tags[tag](file, encoding)
  const encoded = encoding === "gzip" ? gzipSync(part) : part
  return {
    status,
    headers: {
      "Content-Type": "text/csv",
      Connection: "close",
      ...(etag === undefined ? {} : { ETag: etag }),
      ...(tag === "date" ? { "Last-Modified": "Mon, 05 Oct 2026 10:00:00 GMT" } : {}),
      ...(encoding === "" ? {} : { "Content-Encoding": encoding }),
      ...(framing === "chunked" ? { "Transfer-Encoding": "chunked" } : {}),
      ...headers
    },
    body: framing === "chunked" ? chunked(encoded) : encoded
  }
}

const againOf = (again: typeof Again.Type, { headers }: LedgerRequest): Answer => {
  const whole = files[again.file]
  if (again.status === 416)
    return { status: 416, headers: { Connection: "close", "Content-Range": `bytes */${whole.length}` } }
  if (again.status === 200) return answerOf(again, 200, whole)
  const asked = Number(/^bytes=(\d+)-$/.exec(headers["range"] ?? "")?.[1] ?? "0")
  const from = Math.max(0, asked + again.from)
  const until = Math.max(from + 1, whole.length + again.until)
  const total = { same: whole.length, other: whole.length + 1, unknown: "*", none: "" }[again.total]
  const range = total === "" ? {} : { "Content-Range": `bytes ${from}-${until - 1}/${total}` }
  return answerOf(again, 206, whole.subarray(from, until), range)
}

describe.each(transports)("two files are never joined over %s", (_, transport) => {
  /** Downloads what begins so, breaks off, and goes on as told. The last answer repeats. */
  const download = Effect.fnUntraced(function* (
    first: typeof Source.Type,
    share: number,
    next: (request: LedgerRequest) => Answer
  ) {
    const begun = Deferred.makeUnsafe<void>()
    const came: Array<Uint8Array> = []
    const answer = answerOf(first, 200, files[first.file])
    const bytes = answerBytes(answer)
    const length = answer.body?.length ?? 0
    const cut = bytes.subarray(0, bytes.length - length + Math.ceil((length * share) / 100))
    const ended = yield* trial({
      transport,
      plan: {
        requests: (request) =>
          request.number > 0
            ? [respond(next(request))]
            : share === 0
              ? [readBody(), write(cut), reset]
              : [readBody(), write(cut), waitFor(Deferred.await(begun)), reset]
      },
      call: ({ origin }) =>
        Effect.flatMap(ContactsService, (contacts) =>
          Stream.runForEach(contacts.download(`${origin}/files/export.csv`), (part) => {
            came.push(part)
            return part.length > 0 ? Deferred.succeed(begun, undefined) : Effect.void
          })
        )
    })
    return { ended, came: Buffer.concat(came), passedOn: share > 0 }
  })

  it.live.prop(
    "C85 gives one file whole, or the beginning of one and an error, whatever the answers say",
    [Source, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 95 })), Schema.NonEmptyArray(Again)],
    ([first, percent, again]) =>
      Effect.gen(function* () {
        // So much of a compressed file that some of it can be decoded.
        const share = percent < 10 ? 0 : first.encoding === "" ? percent : 95
        const [last, ...others] = again
        const answers = [...others.slice(0, 3), last]
        const { came, ended, passedOn } = yield* download(first, share, (request) =>
          againOf(answers[request.number - 1] ?? last, request)
        )
        const whole = Object.values(files).some((file) => came.equals(file))
        const begins = Object.values(files).some((file) => came.equals(file.subarray(0, came.length)))
        const told = JSON.stringify({ first, share, answers, came: came.length })
        assert.isTrue(begins, told)
        if (Exit.isSuccess(ended.exit)) assert.isTrue(whole, told)
        // Nothing but a strong tag is taken for a proof.
        if (passedOn && first.tag !== "strong") {
          reason(ended, "Unavailable")
          assert.strictEqual(ended.requests.length, 1)
        }
        for (const { headers } of ended.requests)
          assert.strictEqual(
            headers["if-range"],
            headers["range"] === undefined ? undefined : tags.strong(first.file, "")
          )
      }).pipe(Effect.scoped),
    { arbitrary: { runs: amount({ ci: 60, long: 1500 }) } }
  )

  const strong = { file: "a", tag: "strong", encoding: "", framing: "length" } as const
  const rest = { ...strong, status: 206, from: 0, until: 0, total: "same" } as const

  it.live.each([
    ["the rest comes", rest],
    ["the rest comes in parts", { ...rest, until: -1000 }],
    ["the whole comes", { ...rest, status: 200 }]
  ] as ReadonlyArray<readonly [string, typeof Again.Type]>)("C85 goes on by a strong tag where %s", ([, again]) =>
    Effect.gen(function* () {
      for (const framing of ["length", "chunked"] as const) {
        let last = 0
        const { came, ended } = yield* download({ ...strong, framing }, 50, (request) =>
          againOf({ ...again, until: last++ > 2 ? 0 : again.until }, request)
        )
        succeeded(ended)
        assert.isTrue(came.equals(files.a))
      }
    })
  )

  it.live("C85 begins anew with another file where nothing was passed on", () =>
    Effect.gen(function* () {
      for (const tag of ["strong", "weak", "none"] as const) {
        const { came, ended } = yield* download({ ...strong, tag }, 0, (request) =>
          againOf({ ...rest, file: "b", tag, status: 200 }, request)
        )
        succeeded(ended)
        assert.isTrue(came.equals(files.b))
      }
    })
  )

  it.live.each([
    ["another total", { total: "other" }, "the file has changed"],
    ["another tag", { file: "b" }, "the file has changed"],
    ["a tag of another kind", { tag: "weakened" }, "does not show by a strong ETag"],
    ["no tag", { tag: "none" }, "does not show by a strong ETag"],
    ["a whole file without a tag", { status: 200, tag: "none" }, "does not show by a strong ETag"]
  ] as const)("C85 fails, and says why, at %s", ([, change, why]) =>
    Effect.gen(function* () {
      const { ended } = yield* download(strong, 50, (request) => againOf({ ...rest, ...change }, request))
      assert.include(reason(ended, "Unavailable").message, why)
      assert.strictEqual(ended.requests.length, 2)
    })
  )

  it.live("C85 takes no more bytes than the answer says to be there", () =>
    Effect.gen(function* () {
      const { came, ended } = yield* download(strong, 50, (request) => {
        const { body = "", ...part } = againOf({ ...rest, framing: "chunked", until: -1000 }, request)
        return { ...part, body: chunked(Buffer.from(files.a.subarray(files.a.length - body.length))) }
      })
      reason(ended, "Unavailable")
      assert.isTrue(came.equals(files.a.subarray(0, came.length)))
    })
  )
})
