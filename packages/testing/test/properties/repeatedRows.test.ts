/**
 * The rows of one address in one file have the outcome of being imported one after the other, by each way in: the upload, a plan
 * that is applied, and the import of the service.
 */
import { assert, layer } from "@effect/vitest"
import { type AddOptions, ContactFilter, ContactsService, ContactStatus, readContacts, RuleText } from "@roster/domain"
import { contactOf, contentOf } from "@roster/domain/internal"
import { importContacts, planImport, type RunLog } from "@roster/workflows"
import { Effect, Schema, Stream } from "effect"
import { file, utf8 } from "../../src/conformance/jobs/Importing.ts"
import { layerMemory, withRuns } from "../../src/layers/ServiceLayers.ts"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"

const Row = Schema.Struct({
  email: Schema.Literals(["ann@example.com", "Ann@example.com", "bob@example.com"]),
  status: Schema.Literals(["", ...ContactStatus.literals]),
  firstName: Schema.Literals(["", "A", "B"]),
  phone: Schema.Literals(["", "1", "2"]),
  order: Schema.Literals(["", "x", "y"])
})
type Row = typeof Row.Type

/** A row that often gives no status. */
const SilentRow = Schema.Struct({
  ...Row.fields,
  email: Schema.Literals(["ann@example.com", "Ann@example.com"]),
  status: Schema.Literals(["", "", "", "Active", "Unsubscribed", "Bounced", "Stale", "Abuse"])
})

const textOf = (rows: ReadonlyArray<Row>): string =>
  ["Email,Status,FirstName,Phone,Order", ...rows.map((row) => Object.values(row).join(","))].join("\n")

const rowsOf = (rows: ReadonlyArray<Row>) => readContacts(Stream.make(utf8(textOf(rows))))

const everyone = ContactFilter.ByRule({ rule: RuleText.make("All") })

type Lifts = Pick<AddOptions, "resubscribe">

/** The statuses that an import lifts. */
const lifts: ReadonlyArray<Lifts> = [
  {},
  { resubscribe: [] },
  { resubscribe: ["Bounced"] },
  { resubscribe: ["NotConfirmed"] },
  { resubscribe: true },
  { resubscribe: ["Abuse", "Unsubscribed", "Bounced", "NotConfirmed"] }
]

const ways = {
  upload: (rows: ReadonlyArray<Row>, options: Lifts) => Effect.asVoid(importContacts(rowsOf(rows), options)),
  plan: (rows: ReadonlyArray<Row>, options: Lifts) =>
    Effect.scoped(Effect.flatMap(planImport(rowsOf(rows), options), (plan) => Effect.asVoid(plan.apply))),
  service: (rows: ReadonlyArray<Row>, options: Lifts) =>
    ContactsService.use((contacts) => Effect.asVoid(contacts.import(file(utf8(textOf(rows))), options)))
}

/** Each row is an add of its own. */
const oneByOne = (rows: ReadonlyArray<Row>, { resubscribe = false }: Lifts = {}) =>
  ContactsService.use((contacts) =>
    Stream.runForEach(rowsOf(rows), (row) =>
      Effect.flatMap(Effect.fromResult(contactOf(row)), (contact) => contacts.add([contact], { resubscribe }))
    )
  )

layer(withRuns(layerMemory))("rows of one address", (it) => {
  it.effect.prop(
    "are imported as if each were a file of its own, by every way in",
    [
      Schema.Array(Row).check(Schema.isMaxLength(2)),
      Schema.NonEmptyArray(Row).check(Schema.isMaxLength(6)),
      Schema.Literals(lifts.map((_, index) => index))
    ],
    ([stored, rows, index]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const options = lifts[index] ?? {}
        const { resubscribe } = options
        const isPartial = resubscribe === true || (typeof resubscribe === "object" && resubscribe.length % 4 > 0)
        const outcome = Effect.fnUntraced(function* (write: Effect.Effect<void, unknown, ContactsService | RunLog>) {
          yield* contacts.deleteMany(everyone)
          // A status that some row gives and another lifts takes the place of a stored one only where each row is written by itself.
          if (!isPartial) yield* oneByOne(stored)
          yield* write
          const all = (yield* contacts.list()).map((contact) => ({ email: contact.email, ...contentOf(contact) }))
          return all.sort((one, other) => one.email.localeCompare(other.email))
        })
        // A contact that is there never becomes NotConfirmed, and that of one file is so where a row says it.
        const isSequence = rows.every(({ status }) => status !== "NotConfirmed")
        const expected = yield* outcome(isSequence ? oneByOne(rows, options) : ways.upload(rows, options))
        for (const [name, way] of Object.entries(ways)) {
          assert.deepStrictEqual(yield* outcome(way(rows, options)), expected, `${name} ${JSON.stringify(options)}`)
        }
      }),
    {
      arbitrary: { runs: amount({ ci: 25, long: 2000 }), seed: runSeed("rows of one address"), size: 20 },
      timeout: amount({ ci: 120_000, long: 3_600_000 })
    }
  )

  it.effect.prop(
    "give a new person the default status as if the first of them were a file of its own",
    [
      Schema.Literals(ContactStatus.literals),
      Schema.Literals([false, true]),
      Schema.Array(Row).check(Schema.isMaxLength(1)),
      Schema.NonEmptyArray(SilentRow).check(Schema.isMaxLength(5))
    ],
    ([defaultStatus, resubscribe, stored, rows]) =>
      Effect.gen(function* () {
        const options = { defaultStatus, resubscribe }
        const statuses = Effect.fnUntraced(function* (
          write: Effect.Effect<unknown, unknown, ContactsService | RunLog>
        ) {
          const contacts = yield* ContactsService
          yield* contacts.deleteMany(everyone)
          yield* oneByOne(stored)
          yield* write
          const all = (yield* contacts.list()).map(({ email, status }) => `${email.toLowerCase()} ${status}`)
          return all.sort()
        })
        const expected = yield* statuses(
          Effect.forEach(rows, (row) => importContacts(rowsOf([row]), options), { discard: true })
        )
        assert.deepStrictEqual(yield* statuses(importContacts(rowsOf(rows), options)), expected)
        const planned = Effect.scoped(Effect.flatMap(planImport(rowsOf(rows), options), ({ apply }) => apply))
        assert.deepStrictEqual(yield* statuses(planned), expected)
      }),
    {
      arbitrary: { runs: amount({ ci: 40, long: 2000 }), seed: runSeed("default status of one address"), size: 20 },
      timeout: 120_000
    }
  )
})
