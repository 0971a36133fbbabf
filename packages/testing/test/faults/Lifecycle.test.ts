/**
 * C.6 Lifecycle and polling.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, ImportSource } from "@roster/domain"
import { awaitExport, downloadTo, exportTo } from "@roster/workflows"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Clock, Duration, Effect, Exit, Fiber, FileSystem, Path, Schedule, Schema, Stream } from "effect"
import { blackhole } from "./server/Blackhole.ts"
import { clockedTrial } from "./ClockedTrial.ts"
import { deleteByEmails, everyOperation, exportId, operationCall, ownOperations } from "./EveryOperation.ts"
import { allClosed, type LedgerRequest } from "./server/FaultLedger.ts"
import {
  type Answer,
  answerBytes,
  drip,
  finish,
  readBody,
  reset,
  respond,
  type Script,
  stall,
  write
} from "./server/FaultScript.ts"
import { type FaultPlan, type FaultServer, faultServer } from "./server/FaultServer.ts"
import { type Policy, transports, trial } from "./FaultTrial.ts"
import type { ScriptedAnswer } from "./server/ScriptedHttpClient.ts"
import { failure, reason, refusedAs, succeeded } from "./Verdict.ts"
import { amount } from "../../src/simulation/LongRun.ts"

const get = operationCall("contactsByEmailGet")
const status = (value: string): Answer => ({ status: 200, body: JSON.stringify(value) })
const page: Answer = { status: 502, headers: { "Content-Type": "text/html" }, body: "<html>Bad gateway</html>" }

/** Waits until something is so, looked at between all that the process does. */
const until = (holds: () => boolean) =>
  Effect.callback<void>((resume) => {
    const look = () => {
      if (holds()) resume(Effect.void)
      else setImmediate(look)
    }
    look()
  })

const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((kind) => /^TCP(SocketWrap|ConnectWrap)$|^TLSWrap$/.test(kind)).length

/** No time limit ends a call that is to be interrupted. */
const patient = { attemptTimeout: Duration.hours(1), totalTimeout: Duration.hours(1) }

/** How many calls run at once in C77, and over how many connections. */
const many = { calls: amount({ ci: 4000, long: 10_000 }), connections: 64 }

describe("C.6 Lifecycle and polling", () => {
  const endless = Stream.repeat(
    Stream.make(new TextEncoder().encode("someone@example.com\r\n".repeat(100))),
    Schedule.spaced("1 millis")
  )
  const upload = Effect.flatMap(ContactsService, (service) =>
    service.import(ImportSource.File({ name: "endless.csv", content: endless }))
  )
  const stages: ReadonlyArray<
    readonly [stage: string, script: Script, call: typeof get.call, begun: (server: FaultServer) => boolean]
  > = [
    ["waiting for the head", [readBody(), stall], get.call, ({ ledger }) => ledger.requests().length > 0],
    ["sending a file", [readBody()], upload, ({ ledger }) => (ledger.requests()[0]?.bodyBytes ?? 0) > 10_000],
    [
      "reading the body",
      [
        readBody(),
        write(answerBytes({ status: 200, headers: { "Content-Length": "1000" } })),
        drip("x".repeat(1000), "5 millis")
      ],
      get.call,
      ({ ledger }) => ledger.requests().length > 0
    ]
  ]

  const onAll = transports.flatMap(([over, transport]) => stages.map((stage) => [over, ...stage, transport] as const))

  it.live.each(onAll)(
    "C76 interrupted over %s while %s: the connection is closed at once, and nothing more is sent",
    ([, , script, call, begun, transport]) =>
      Effect.gen(function* () {
        const ended = yield* trial({
          plan: { requests: [script] },
          policy: patient,
          transport,
          call: (server) =>
            Effect.gen(function* () {
              const fiber = yield* Effect.forkChild(call)
              yield* server.ledger.until(() => begun(server))
              yield* Fiber.interrupt(fiber)
              yield* until(() => server.ledger.connections()[0]?.closedAt !== undefined)
            })
        })
        assert.isTrue(Exit.isSuccess(ended.exit))
        assert.deepStrictEqual(
          [ended.requests.length, ended.connections.length, ended.connections[0]?.closedBy],
          [1, 1, "client"]
        )
      })
  )

  it.live.each(transports)(
    "C76 every operation that is interrupted over %s closes its connection and sends nothing more",
    ([, transport]) =>
      Effect.gen(function* () {
        for (const { call, id } of [...everyOperation, ...ownOperations, deleteByEmails]) {
          const ended = yield* trial({
            plan: { requests: [[readBody(), stall]] },
            policy: patient,
            transport,
            call: (server) =>
              Effect.gen(function* () {
                const fiber = yield* Effect.forkChild(call)
                yield* server.ledger.until(({ requests }) => requests()[0]?.complete === true)
                yield* Fiber.interrupt(fiber)
                yield* server.ledger.until(allClosed)
              })
          })
          assert.strictEqual(ended.requests.length, 1, id)
        }
      })
  )

  it.live(
    "C76 interrupted while connecting: nothing is left",
    () =>
      Effect.gen(function* () {
        const port = yield* blackhole
        const before = openSockets()
        const ended = yield* trial({
          plan: {},
          client: () => ({ baseUrl: `http://127.0.0.1:${port}/v4` }),
          policy: patient,
          transport: UndiciHttpClient.layer({ connectTimeout: "1 hour" }),
          call: Effect.gen(function* () {
            const fiber = yield* Effect.forkChild(get.call)
            yield* until(() => openSockets() > before)
            yield* Fiber.interrupt(fiber)
            yield* until(() => openSockets() <= before)
          })
        })
        assert.isTrue(Exit.isSuccess(ended.exit))
      }),
    20_000
  )

  const asleep = (title: string, call: typeof get.call, answers: ReadonlyArray<ScriptedAnswer>) =>
    it.effect(`C76 interrupted ${title}: nothing more is sent`, () =>
      Effect.gen(function* () {
        const ended = yield* clockedTrial({
          call: Effect.timeoutOption(call, "500 millis").pipe(Effect.tap(Effect.sleep("2 hours"))),
          answers,
          step: "1 minute"
        })
        assert.isTrue(Exit.isSuccess(ended.exit))
        assert.strictEqual(ended.requests.length, 1)
      })
    )

  asleep("while waiting for the next attempt", get.call, [{ status: 429, headers: { "Retry-After": "30" } }])
  asleep("while waiting for the next look at an export", awaitExport(exportId), [status("Loading")])

  it.live(
    `C77 ${many.calls} calls at once are all answered, over no more connections than allowed`,
    () =>
      Effect.gen(function* () {
        const ended = yield* trial({
          plan: { requests: [[respond(get.answer)]] },
          call: Effect.forEach(Array.from({ length: many.calls }), () => get.call, {
            concurrency: "unbounded",
            discard: true
          }),
          policy: { attemptTimeout: Duration.seconds(60), totalTimeout: Duration.seconds(60) },
          transport: UndiciHttpClient.layer({ connections: many.connections })
        })
        succeeded(ended)
        assert.strictEqual(ended.requests.length, many.calls)
        assert.isAtMost(ended.connections.length, many.connections)
      }),
    90_000
  )

  const quickly = { schedule: Schedule.spaced("5 millis") }

  it.live("C79 an export is waited for through refusals, resets, silence and pages", () =>
    Effect.gen(function* () {
      const faults: ReadonlyArray<Script> = [
        [respond({ status: 503 })],
        [readBody(), reset],
        [readBody(), stall],
        [respond(page)],
        [readBody(), finish],
        [respond({ status: 500 })]
      ]
      const scripts = [
        [respond(status("Loading"))],
        ...faults,
        [respond(status("Loading"))],
        ...faults,
        [respond(status("Ready"))]
      ]
      for (const attempts of [1, 3]) {
        const ended = yield* trial({
          plan: { requests: scripts },
          call: awaitExport(exportId, quickly),
          // By one attempt for each look, no more than five fail in a row.
          policy: { attempts, attemptTimeout: Duration.millis(80) }
        })
        if (attempts === 1) refusedAs(ended, "ExportPollingFailed")
        else succeeded(ended)
        assert.isTrue(ended.requests.every((request) => request.method === "GET"))
      }
    })
  )

  it.effect(
    "C79 what is not known is not the end, and looks come at once, then after 1 s, half as long again each time, up to 15 s",
    () =>
      Effect.gen(function* () {
        const answers = (_: unknown, number: number): ScriptedAnswer =>
          number < 12 ? status(number % 2 === 0 ? "Loading" : "Reticulating") : status("Ready")
        for (const [random, factor] of [
          [0, 0.8],
          [0.5, 1],
          [0.999, 1.2]
        ] as const) {
          const ended = yield* clockedTrial({ call: awaitExport(exportId), answers, random, step: "10 millis" })
          succeeded(ended)
          const waits = ended.requests.map((request, i) => request.at - (ended.requests[i - 1]?.at ?? 0))
          assert.strictEqual(waits[0], 0)
          for (const [i, wait] of waits.slice(1).entries()) {
            const expected = Math.min(1000 * 1.5 ** i, 15_000) * factor
            assert.approximately(wait, expected, 0.03 * expected + 30, `wait ${i} by ${random}`)
          }
        }
      }),
    60_000
  )

  it.effect("C79 the service's own word on when to look again counts, between 250 ms and a minute", () =>
    Effect.gen(function* () {
      for (const [told, least, most] of [
        ["7", 7000, 8500],
        ["3600", 60_000, 72_000]
      ] as const) {
        const ended = yield* clockedTrial({
          call: awaitExport(exportId),
          answers: [{ ...status("Loading"), headers: { "Retry-After": told } }, status("Ready")],
          random: 0.5
        })
        succeeded(ended)
        assert.isAtLeast(ended.requests[1]?.at ?? 0, least)
        assert.isAtMost(ended.requests[1]?.at ?? 0, most)
      }
    })
  )

  /** The waits before the looks after the first one. */
  const waitsOf = ({ requests }: { readonly requests: ReadonlyArray<{ readonly at: number }> }) =>
    requests.slice(1).map(({ at }, i) => at - (requests[i]?.at ?? 0))

  it.effect.prop(
    "C79 a look that is put off is repeated when the service says, as often as it says so within the limit",
    [
      Schema.NonEmptyArray(
        Schema.Struct({
          status: Schema.Literals([429, 503]),
          seconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 }))
        })
      )
    ],
    ([told]) =>
      Effect.gen(function* () {
        const putOff = told.slice(0, 12)
        const due = putOff.map(({ seconds }) => seconds * 1000)
        const total = due.reduce((sum, wait) => sum + wait, 0)
        const ended = yield* clockedTrial({
          call: awaitExport(exportId, { limit: total + 10_000 }),
          answers: [
            ...putOff.map(({ seconds, status }) => ({ status, headers: { "Retry-After": `${seconds}` } })),
            status("Ready")
          ],
          policy: { attempts: 1 },
          step: "1 second"
        })
        succeeded(ended)
        assert.deepStrictEqual(waitsOf(ended), due)
      }),
    { arbitrary: { runs: 20 } }
  )

  it.effect("C79 a look that is put off beyond the limit ends the wait at once, and one within it does not", () =>
    Effect.gen(function* () {
      for (const [seconds, tag] of [
        [250, undefined],
        [350, "ExportPollingFailed"]
      ] as const) {
        const ended = yield* clockedTrial({
          call: awaitExport(exportId, { limit: "5 minutes" }),
          answers: [status("Loading"), { status: 429, headers: { "Retry-After": `${seconds}` } }, status("Ready")]
        })
        if (tag === undefined) succeeded(ended)
        else refusedAs(ended, tag)
        assert.strictEqual(ended.requests.length, tag === undefined ? 3 : 2)
        assert.strictEqual(ended.took > 60_000, tag === undefined)
      }
    })
  )

  it.effect("C80 an outage that is too long interrupts the wait, which is not a failed export", () =>
    Effect.gen(function* () {
      for (const fault of [{ status: 503 }, { code: "ECONNREFUSED", syscall: "connect" }, page]) {
        const ended = yield* clockedTrial({
          call: awaitExport(exportId),
          answers: [status("Loading"), fault],
          step: "500 millis"
        })
        const failed = refusedAs(ended, "ExportPollingFailed")
        // All that another process needs to go on.
        assert.propertyVal(failed, "id", exportId)
        assert.include(failed.message, exportId)
        assert.isTrue(ended.requests.every((request) => request.method === "GET"))
        // Five looks in a row are tolerated, each of three attempts.
        assert.strictEqual(ended.requests.length, 1 + 6 * 3)
      }
    })
  )

  it.effect("C80 a wait is taken up again by the id alone, without another POST", () =>
    Effect.gen(function* () {
      const ended = yield* clockedTrial({ call: awaitExport(exportId), answers: [status("Loading"), status("Ready")] })
      succeeded(ended)
      assert.deepStrictEqual(
        ended.requests.map((request) => [request.method, request.body]),
        [
          ["GET", ""],
          ["GET", ""]
        ]
      )
    })
  )

  it.effect("C80 the wait for an endless export times out after 30 minutes and reports the last status", () =>
    Effect.gen(function* () {
      const ended = yield* clockedTrial({ call: awaitExport(exportId), answers: [status("Loading")], step: "1 second" })
      assert.propertyVal(refusedAs(ended, "ExportTimedOut"), "lastStatus", "Loading")
      assert.approximately(ended.took / 60_000, 30, 0.5)
    })
  )

  it.effect("C80 a key that is refused ends the wait at once", () =>
    Effect.gen(function* () {
      const ended = yield* clockedTrial({ call: awaitExport(exportId), answers: [status("Loading"), { status: 401 }] })
      reason(ended, "Unauthorized")
      assert.strictEqual(ended.requests.length, 2)
    })
  )

  const gone: ScriptedAnswer = { status: 404, body: JSON.stringify({ Error: "no such export" }) }

  it.effect.each([
    ["twice at first: it is there then", [gone, gone, status("Ready")], undefined, 3],
    ["three times: there is no such export", [gone, gone, gone, status("Ready")], "ExportNotFound", 3],
    [
      "after ten seconds: there is no such export",
      [...Array.from({ length: 6 }, () => status("Loading")), gone, status("Ready")],
      "ExportNotFound",
      7
    ]
  ] as const)("C81 not found %s", ([, answers, tag, count]) =>
    Effect.gen(function* () {
      const ended = yield* clockedTrial({ call: awaitExport(exportId), answers: [...answers] })
      if (tag === undefined) succeeded(ended)
      else refusedAs(ended, tag)
      assert.strictEqual(ended.requests.length, count)
    })
  )

  /** The real clock, whose wall jumps by an hour after some readings. */
  const jumping = (by: number) =>
    Effect.map(Clock.Clock, (clock) => {
      let readings = 0
      const ahead = () => (++readings > 3 ? by : 0)
      const millis = () => clock.currentTimeMillisUnsafe() + ahead()
      const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(ahead()) * 1_000_000n
      const jumped: Clock.Clock = {
        currentTimeMillisUnsafe: millis,
        currentTimeMillis: Effect.sync(millis),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (duration) => clock.sleep(duration)
      }
      return jumped
    })

  it.live.each([3_600_000, -3_600_000])(
    "C84 the wall clock jumps by %d ms: the deadline of a wait stays where it was",
    (by) =>
      Effect.gen(function* () {
        const clock = yield* jumping(by)
        const call = awaitExport(exportId, { schedule: Schedule.spaced("20 millis"), limit: "2 seconds" }).pipe(
          Effect.provideService(Clock.Clock, clock)
        )
        const ended = yield* trial({ plan: { requests: [[respond(status("Loading"))]] }, call })
        refusedAs(ended, "ExportTimedOut")
        // With the wall clock it would have ended at once, or in an hour.
        assert.isAtLeast(ended.elapsed, 1990)
        assert.isAbove(ended.requests.length, 4)
      })
  )

  it.live.each([3_600_000, -3_600_000])(
    "C84 the wall clock jumps by %d ms: the deadline of a call stays where it was",
    (by) =>
      Effect.gen(function* () {
        const clock = yield* jumping(by)
        const call = get.call.pipe(Effect.provideService(Clock.Clock, clock))
        const ended = yield* trial({
          plan: { requests: [[readBody(), stall]] },
          call,
          // So long that a busy machine makes the same three attempts.
          policy: { attemptTimeout: Duration.millis(1500), totalTimeout: Duration.millis(4000) }
        })
        reason(ended, "TimedOut")
        assert.strictEqual(ended.requests.length, 3)
        assert.isAtLeast(ended.elapsed, 3990)
      })
  )

  it.effect("C84 a call that may take for ever has no deadline", () =>
    Effect.gen(function* () {
      const ended = yield* clockedTrial({
        call: get.call,
        answers: [{ status: 503, headers: { "Retry-After": "60" } }, get.answer],
        policy: { attemptTimeout: Duration.infinity, totalTimeout: Duration.infinity },
        step: "1 second"
      })
      succeeded(ended)
      assert.isAtLeast(ended.took, 60_000)
    })
  )

  const file = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `p${i}@example.com\r\n`).join(""))
  const cutAt = Math.floor(file.length * 0.6)
  const csv = { "Content-Type": "text/csv" }

  /** Downloads to a file in a folder of its own, and gives what is there afterwards. */
  const downloading = Effect.fnUntraced(function* (requests: FaultPlan["requests"], policy?: Partial<Policy>) {
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-fault-" })
    const target = path.join(folder, "export.csv")
    const ended = yield* trial({
      plan: { requests },
      policy,
      call: (server) =>
        downloadTo(`${server.origin}/files/export.csv`, target).pipe(
          Effect.provideService(FileSystem.FileSystem, fileSystem),
          Effect.provideService(Path.Path, path)
        )
    })
    const names = yield* fileSystem.readDirectory(folder)
    const content = names.includes("export.csv") ? yield* fileSystem.readFile(target) : undefined
    return { ended, names, content: content === undefined ? undefined : Buffer.from(content) }
  })

  const wholeOf = (headers: { readonly [name: string]: string }): Answer => ({
    status: 200,
    headers: { ...csv, ...headers },
    body: file
  })
  const cutOf = (headers: { readonly [name: string]: string }, end: typeof reset): Script => {
    const bytes = answerBytes(wholeOf(headers))
    return [write(bytes.subarray(0, bytes.length - file.length + cutAt)), end]
  }
  /** The rest of the file, as a service sends it that knows ranges. */
  const rest = ({ headers }: LedgerRequest): Script => {
    const from = Number(/^bytes=(\d+)-$/.exec(headers["range"] ?? "")?.[1] ?? "0")
    const range = { ...csv, ETag: '"1"', "Content-Range": `bytes ${from}-${file.length - 1}/${file.length}` }
    return [respond({ status: 206, headers: range, body: file.subarray(from) })]
  }

  it.live.each([
    { how: "reset", end: reset },
    { how: "ended", end: finish }
  ])("C85 a download that is $how at 60 percent goes on where it was, with an ETag", ({ end }) =>
    Effect.gen(function* () {
      const { content, ended, names } = yield* downloading((request) =>
        request.number === 0 ? cutOf({ ETag: '"1"' }, end) : rest(request)
      )
      succeeded(ended)
      assert.isTrue(content?.equals(file))
      assert.deepStrictEqual(names, ["export.csv"])
      assert.strictEqual(ended.requests.length, 2)
      const headers = ended.requests[1]?.headers
      assert.strictEqual(headers?.["if-range"], '"1"')
      const from = Number(/^bytes=(\d+)-$/.exec(headers?.["range"] ?? "")?.[1])
      assert.isAtMost(from, cutAt)
      assert.isAbove(from, 0)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("C85 a download that breaks off by a service that knows no ranges begins again, and is right", () =>
    Effect.gen(function* () {
      const { content, ended, names } = yield* downloading([
        cutOf({ ETag: '"1"' }, reset),
        [respond(wholeOf({ ETag: '"1"' }))]
      ])
      succeeded(ended)
      assert.isTrue(content?.equals(file))
      assert.deepStrictEqual(names, ["export.csv"])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  const wrong: ReadonlyArray<readonly [what: string, scripts: ReadonlyArray<Script>]> = [
    ["ends early every time", [cutOf({}, finish)]],
    ["has no rest the second time", [cutOf({ ETag: '"1"' }, reset), [respond({ status: 416 })]]],
    [
      "is another file the second time, whole",
      [cutOf({ ETag: '"1"' }, reset), [respond({ ...wholeOf({ ETag: '"2"' }), body: Buffer.alloc(file.length, "x") })]]
    ],
    [
      "is another file the second time, without ETags, of another length",
      [cutOf({}, reset), [respond({ ...wholeOf({}), body: Buffer.alloc(file.length + 5, "x") })]]
    ],
    [
      "gives another part than was asked for",
      [
        cutOf({ ETag: '"1"' }, reset),
        [
          respond({
            status: 206,
            headers: { ...csv, "Content-Range": `bytes ${cutAt + 5}-${file.length - 1}/${file.length}` },
            body: file.subarray(cutAt + 5)
          })
        ]
      ]
    ],
    ["has expired", [[respond({ status: 410 })]]],
    ["is not there yet", [[respond({ status: 404 })]]],
    ["is a page", [[respond({ status: 200, headers: { "Content-Type": "text/html" }, body: "<html>Sign in</html>" })]]]
  ]

  it.live.each(wrong)(
    "C85 a download that %s is a typed failure, or the right file, and never half of one",
    ([, scripts]) =>
      Effect.gen(function* () {
        const { content, ended, names } = yield* downloading(scripts)
        if (Exit.isSuccess(ended.exit)) {
          const right = [file, Buffer.alloc(file.length, "x"), Buffer.alloc(file.length + 5, "x")]
          assert.isTrue(
            right.some((whole) => content?.equals(whole)),
            `${content?.length} bytes that are no file that was sent`
          )
          assert.deepStrictEqual(names, ["export.csv"])
        } else {
          failure(ended)
          assert.deepStrictEqual(names, [])
        }
        assert.isAtMost(ended.requests.length, 4)
      }).pipe(Effect.provide(NodeServices.layer))
  )

  const impatient = { attemptTimeout: Duration.millis(300) }

  it.live("C85 a stalled download resumes where it was", () =>
    Effect.gen(function* () {
      const { content, ended } = yield* downloading(
        (request) => (request.headers["range"] === undefined ? cutOf({ ETag: '"1"' }, stall) : rest(request)),
        impatient
      )
      succeeded(ended)
      assert.isTrue(content?.equals(file))
      assert.strictEqual(ended.requests.length, 2)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live.each([
    ["says nothing", [readBody(), stall], "TimedOut", 3],
    ["asks for an hour", [respond({ status: 429, headers: { "Retry-After": "3600" } })], "RateLimited", 1]
  ] as const)("C85 a download of a service that %s ends", ([, script, tag, count]) =>
    Effect.gen(function* () {
      const { ended, names } = yield* downloading(() => script, impatient)
      reason(ended, tag)
      assert.strictEqual(ended.requests.length, count)
      assert.deepStrictEqual(names, [])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("C85 a download that is interrupted leaves no file, not even a part of one", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-fault-" })
      const bytes = answerBytes(wholeOf({}))
      const ended = yield* trial({
        plan: { requests: [[write(bytes.subarray(0, cutAt)), stall]] },
        call: (server) =>
          Effect.gen(function* () {
            const fiber = yield* Effect.forkChild(
              downloadTo(`${server.origin}/f`, `${folder}/export.csv`).pipe(Effect.provide(NodeServices.layer))
            )
            yield* server.ledger.until((ledger) => ledger.requests().length > 0)
            yield* Fiber.interrupt(fiber)
          })
      })
      assert.isTrue(Exit.isSuccess(ended.exit))
      assert.deepStrictEqual(yield* fileSystem.readDirectory(folder), [])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live.each([
    ["Error", "ExportFailed"],
    ["Expired", "ExportExpired"]
  ] as const)("C86 an export that ends as %s: %s, and no other is asked for", ([last, tag]) =>
    Effect.gen(function* () {
      const folder = yield* Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
        fileSystem.makeTempDirectoryScoped({ prefix: "roster-fault-" })
      )
      const link = { status: 202, body: JSON.stringify({ Link: "http://127.0.0.1:9/none", PublicExportID: exportId }) }
      const ended = yield* trial({
        plan: { requests: [[respond(link)], [respond(status("Loading"))], [respond(status(last))]] },
        call: exportTo({}, `${folder}/export.csv`, quickly).pipe(Effect.provide(NodeServices.layer))
      })
      refusedAs(ended, tag)
      assert.deepStrictEqual(
        ended.requests.map((request) => request.method),
        ["POST", "GET", "GET"]
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("C86 nothing is left open: a server, its sockets and a client come and go", () =>
    Effect.gen(function* () {
      const before = openSockets()
      for (const { answer, call } of everyOperation.slice(0, 5))
        yield* Effect.scoped(trial({ plan: { requests: [[respond(answer)]] }, call }))
      yield* Effect.scoped(faultServer({}))
      yield* until(() => openSockets() <= before)
    })
  )
})
