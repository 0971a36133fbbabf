/**
 * Services that give fewer contacts than they are asked for, while others add and delete: `stream` gives every contact that
 * exists throughout, once, and ends.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { amount } from "../../src/simulation/LongRun.ts"
import { respond } from "./server/FaultScript.ts"
import { trial } from "./FaultTrial.ts"
import { succeeded } from "./Verdict.ts"

const Int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** What others do between two requests. */
const Change = Schema.Struct({ deletes: Int(0, 40), at: Int(0, 99), adds: Int(0, 20) })

describe("Pages of other services", () => {
  it.live.prop(
    "are read to the end, whatever their size, and whoever comes and goes",
    [Schema.Literals([1, 20, 100, 250]), Int(0, 1658), Schema.Array(Change), Schema.Boolean],
    ([cap, count, changes, isDated]) =>
      Effect.gen(function* () {
        let added = 0
        const made = () => {
          const number = added++
          const date = isDated ? { DateAdded: new Date(1.7e12 + number).toISOString() } : {}
          return { Email: `c${number}@example.com`, ...date }
        }
        let contacts = Array.from({ length: cap === 1 ? Math.min(count, 100) : count }, made)
        const initial = contacts.map(({ Email }) => Email)
        const emails: Array<string> = []
        const ended = yield* trial({
          plan: {
            requests: ({ number, target }) => {
              const asked = new URL(target, "http://service.example").searchParams
              const offset = Number(asked.get("offset") ?? "0")
              const page = contacts.slice(offset, offset + Math.min(cap, Number(asked.get("limit") ?? "20")))
              const { adds = 0, at = 0, deletes = 0 } = changes[number] ?? {}
              contacts = [
                ...contacts.toSpliced(Math.floor((contacts.length * at) / 100), deletes),
                ...Array.from({ length: adds }, made)
              ]
              return [respond({ status: 200, body: JSON.stringify(page) })]
            }
          },
          call: Effect.flatMap(ContactsService, (service) =>
            Stream.runForEach(service.stream(), ({ email }) => Effect.sync(() => emails.push(email)))
          )
        })
        succeeded(ended)
        const delivered = new Set(emails)
        assert.strictEqual(emails.length, delivered.size)
        const left = new Set(contacts.map(({ Email }) => Email))
        assert.deepStrictEqual(
          initial.filter((email) => left.has(email) && !delivered.has(email)),
          []
        )
      }).pipe(Effect.scoped),
    { arbitrary: { runs: amount({ ci: 25, long: 500 }) } }
  )
})
