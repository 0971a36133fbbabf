/**
 * Under a mixed load with faults the service stays within bounds: its memory, its file descriptors and its WAL. The
 * load lasts for 3 minutes in the nightly run, or for `ROSTER_LOAD_MINUTES`.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Predicate } from "effect"
import { connect } from "node:net"
import { fileForm } from "./BrokenRequest.ts"
import { askServe, killableServe, type KillableServe, servePlace } from "./KillableServe.ts"
import { longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { settledHeapMiB, type Usage, usageOf } from "./ServeUsage.ts"
import { assertWhole } from "./StoreLook.ts"
import { faultProxy } from "../faults/server/FaultProxy.ts"

/** In seconds. */
const duration = 60 * Number(process.env["ROSTER_LOAD_MINUTES"] ?? 3)

/** The resident memory of the process, at any moment. */
const maximumRssMiB = 500

/** How much more the heap may hold at the end than after the first quarter, both after a collection of garbage. */
const maximumHeapGrowthMiB = 32

/** File descriptors when all clients are gone, besides those at the start: those of the threads that started meanwhile. */
const maximumDescriptorGrowth = 48

/** The WAL at any moment, and when nobody writes or reads. */
const maximumWalMiB = 64

const faultRate = 0.005

/** In milliseconds. */
const looksEvery = 200

/** The kills fall into the first third, so that the last process lives for long. */
const kills = Math.max(1, Math.min(10, Math.floor(duration / 60)))

const people = 5000

/** What may be answered while the service is asked for too much. */
const isExpected = (status: number): boolean => status < 500 || status === 503

const email = (random: () => number) => `load${Math.floor(random() * people)}@example.com`

describe("S.5 mixed load", () => {
  it.live.skipIf(!longRun)(
    `${Math.round(duration)} s of mixed load with faults leave memory, file descriptors and WAL bounded (nightly)`,
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("load"))
        const place = yield* servePlace
        const proxy = yield* faultProxy({ random, rate: faultRate })
        const answers: Record<string, number> = {}
        const count = (what: string) => {
          answers[what] = (answers[what] ?? 0) + 1
        }
        const highest = { rssMiB: 0, descriptors: 0, walMiB: 0 }
        const note = (usage: Usage) => {
          highest.rssMiB = Math.max(highest.rssMiB, usage.rssMiB)
          highest.descriptors = Math.max(highest.descriptors, usage.descriptors)
          highest.walMiB = Math.max(highest.walMiB, usage.walMiB)
          return usage
        }
        /** As clients see the service, by way of the proxy. */
        let seen: Pick<KillableServe, "apiKey" | "baseUrl"> = { apiKey: "", baseUrl: "" }
        const ask = Effect.fnUntraced(
          function* (method: string, path: string, body?: FormData | object) {
            // Of the process it needs nothing but the address and the key.
            const answer = yield* askServe(seen as KillableServe, method, path, body)
            count(String(answer.status))
            if (!isExpected(answer.status)) return assert.fail(`${method} ${path}: ${answer.status} ${answer.text}`)
            return answer
          },
          Effect.catchTag("NoAnswer", () => Effect.sync(() => count("broken")))
        )

        const contact = (index: number) => ({
          Email: email(random),
          FirstName: `n${index}`,
          CustomFields: { city: `c${Math.floor(random() * 50)}`, note: "x".repeat(Math.floor(random() * 400)) }
        })
        const contacts = (most: number) =>
          Array.from({ length: 1 + Math.floor(random() * most) }, (_, at) => contact(at))
        const form = () => {
          const rows = contacts(2000).map(({ Email, FirstName }) => `${Email},${FirstName}`)
          const form = new FormData()
          form.append("file", new Blob([`Email,FirstName\r\n${rows.join("\r\n")}`]), "people.csv")
          return form
        }
        const pause = (millis: number) => Effect.sleep(random() * millis)
        const kinds: ReadonlyArray<() => Effect.Effect<unknown>> = [
          () => ask("POST", "/contacts?listnames=load", contacts(100)),
          () => ask("POST", "/contacts", contacts(3)),
          () => ask("GET", `/contacts/${email(random)}`),
          () => ask("PUT", `/contacts/${email(random)}`, { LastName: "changed" }),
          () => ask("DELETE", `/contacts/${email(random)}`),
          () => ask("GET", `/contacts?limit=1000&offset=${Math.floor(random() * people)}`),
          () => ask("GET", `/contacts?rule=${encodeURIComponent(`city = 'c7' OR firstname contains '9'`)}`),
          () =>
            ask("POST", "/contacts/delete", { Rule: `city = 'c${Math.floor(random() * 50)}' AND firstname = 'n3'` }),
          () =>
            ask("POST", "/emails", {
              Recipients: [{ Email: "somebody@elsewhere.test" }],
              Content: { From: "ann@example.com", Subject: "x".repeat(1000) }
            }),
          () =>
            Effect.andThen(
              ask("POST", "/security/apikeys", { Name: "of the load", AccessLevel: ["Export"] }),
              ask("DELETE", "/security/apikeys/of%20the%20load")
            )
        ]
        const imports = () => Effect.andThen(ask("POST", "/contacts/import", form()), pause(4000))
        /** Asks for a file, and downloads it, not always to its end. */
        const exports = Effect.fnUntraced(function* () {
          const format = random() < 0.5 ? "Json&compressionFormat=Zip" : "Csv"
          const answer = yield* ask(
            "POST",
            `/contacts/export?fileFormat=${format}&rule=${encodeURIComponent("city < 'c2'")}`
          )
          yield* pause(2000)
          const link = answer === undefined ? undefined : parsedLink(answer.text)
          if (link === undefined) return
          yield* Effect.promise(async (signal) => {
            try {
              const response = await fetch(link, { signal })
              count(`file ${response.status}`)
              if (random() < 0.3) await response.body?.cancel()
              else await response.arrayBuffer()
            } catch {
              count("broken")
            }
          })
        })
        /** Holds a connection with half a request, or one whose body never comes. */
        const slow = () =>
          Effect.scoped(
            Effect.gen(function* () {
              const { body, contentType } = fileForm("Email\r\n".repeat(1000))
              const { host, port } = new URL(seen.baseUrl)
              const head = `POST /v4/contacts/import HTTP/1.1\r\nHost: ${host}\r\nX-Service-ApiKey: ${seen.apiKey}\r\n`
              const text = `${head}Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
              const socket = yield* Effect.acquireRelease(
                Effect.sync(() => connect(Number(port), "127.0.0.1").on("error", () => {})),
                (socket) => Effect.sync(() => socket.resetAndDestroy())
              )
              socket.write(text.slice(0, Math.floor(random() * text.length)))
              count("slow")
              yield* pause(10_000)
            })
          )
        const some = () => (kinds[Math.floor(random() * kinds.length)] ?? assert.fail("there are no kinds"))()

        const load = Effect.suspend(() => {
          const forever = (call: () => Effect.Effect<unknown>, clients: number) =>
            Array.from({ length: clients }, () => Effect.forever(Effect.suspend(call)))
          return Effect.all(
            [
              ...forever(() => Effect.andThen(some(), pause(10)), 8),
              ...forever(imports, 2),
              ...forever(exports, 2),
              ...forever(slow, 20)
            ],
            { concurrency: "unbounded", discard: true }
          )
        })

        const serving = Effect.fnUntraced(function* () {
          const serve = yield* killableServe(place, { args: ["--allow-sender", "*@example.com"], inspect: true })
          seen = { apiKey: serve.apiKey, baseUrl: `http://127.0.0.1:${proxy.port}/v4` }
          yield* proxy.leadTo(Number(new URL(serve.baseUrl).port))
          const watch = Effect.sync(() => note(usageOf(serve, place)))
          return { serve, watch }
        })
        const watched = (watch: Effect.Effect<unknown>, seconds: number) =>
          Effect.repeat(Effect.andThen(watch, Effect.sleep(looksEvery)), {
            times: Math.ceil((seconds * 1000) / looksEvery)
          })

        const isServed = Effect.repeat(Effect.sleep(looksEvery), { until: () => seen.baseUrl !== "" })
        const loading = yield* Effect.forkChild(Effect.andThen(isServed, load))
        for (let kill = 0; kill < kills; kill++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { serve, watch } = yield* serving()
              yield* watched(watch, duration / 3 / kills)
              serve.killNow()
              yield* serve.ended
            })
          )
          assertWhole(place)
        }
        const { serve, watch } = yield* serving()
        const start = usageOf(serve, place)
        yield* watched(watch, duration / 6)
        const heapEarly = yield* settledHeapMiB(serve)
        const early = usageOf(serve, place)
        yield* watched(watch, duration / 2)
        yield* Fiber.interrupt(loading)
        yield* proxy.refuse
        // What is under way comes to its end.
        const settled = yield* Effect.sync(() => note(usageOf(serve, place))).pipe(
          Effect.delay(looksEvery),
          Effect.repeat({ until: ({ descriptors }) => descriptors <= start.descriptors + maximumDescriptorGrowth }),
          Effect.timeout("2 minutes")
        )
        const heapLate = yield* settledHeapMiB(serve)
        const end = usageOf(serve, place)
        const round = (usage: Usage) => ({
          rssMiB: Math.round(usage.rssMiB),
          descriptors: usage.descriptors,
          walMiB: Math.round(usage.walMiB * 10) / 10
        })
        const figures = {
          seconds: Math.round(duration),
          kills,
          faults: proxy.faults(),
          answers,
          highest: round(highest),
          start: round(start),
          early: { ...round(early), heapMiB: Math.round(heapEarly) },
          end: { ...round(end), heapMiB: Math.round(heapLate) }
        }
        process.stdout.write(`load: ${JSON.stringify(figures)}\n`)
        assert.isBelow(highest.rssMiB, maximumRssMiB)
        assert.isBelow(heapLate - heapEarly, maximumHeapGrowthMiB)
        assert.isAtMost(settled.descriptors, start.descriptors + maximumDescriptorGrowth)
        assert.isBelow(highest.walMiB, maximumWalMiB)
        yield* serve.stop
        assertWhole(place)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    // Busy machines take longer.
    (2 * duration + 120) * 1000
  )
})

const parsedLink = (text: string): string | undefined => {
  try {
    const json: unknown = JSON.parse(text)
    const link = Predicate.isObject(json) ? json["Link"] : undefined
    return typeof link === "string" ? link : undefined
  } catch {
    return undefined
  }
}
