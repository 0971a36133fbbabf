/**
 * The rows of one address in one file have the outcome of being imported one after the other, by each way in: the upload, a plan
 * that is applied, and the import of the service.
 */
import { assert, layer } from "@effect/vitest"
import {
  ContactFilter,
  contactOf,
  ContactsService,
  ContactStatus,
  contentOf,
  readContacts,
  RuleText
} from "@roster/domain"
import { importContacts, planImport, RunLog } from "@roster/workflows"
import { Effect, Layer, Schema, Stream } from "effect"
import { file, utf8 } from "../../src/conformance/jobs/Importing.ts"
import { layerMemory } from "../../src/index.ts"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"

const Row = Schema.Struct({
  email: Schema.Literals(["ann@example.com", "Ann@example.com", "bob@example.com"]),
  status: Schema.Literals(["", ...ContactStatus.literals]),
  firstName: Schema.Literals(["", "A", "B"]),
  phone: Schema.Literals(["", "1", "2"]),
  order: Schema.Literals(["", "x", "y"])
})
type Row = typeof Row.Type

const textOf = (rows: ReadonlyArray<Row>): string =>
  ["Email,Status,FirstName,Phone,Order", ...rows.map((row) => Object.values(row).join(","))].join("\n")

const rowsOf = (rows: ReadonlyArray<Row>) => readContacts(Stream.make(utf8(textOf(rows))))

const everyone = ContactFilter.ByRule({ rule: RuleText.make("All") })

const ways = {
  upload: (rows: ReadonlyArray<Row>) => Effect.asVoid(importContacts(rowsOf(rows))),
  plan: (rows: ReadonlyArray<Row>) =>
    Effect.scoped(Effect.flatMap(planImport(rowsOf(rows)), (plan) => Effect.asVoid(plan.apply))),
  service: (rows: ReadonlyArray<Row>) =>
    ContactsService.use((contacts) => Effect.asVoid(contacts.import(file(utf8(textOf(rows))))))
}

/** Each row is an add of its own. */
const oneByOne = (rows: ReadonlyArray<Row>) =>
  ContactsService.use((contacts) =>
    Stream.runForEach(rowsOf(rows), (row) =>
      Effect.flatMap(Effect.fromResult(contactOf(row)), (contact) => contacts.add([contact], { resubscribe: false }))
    )
  )

layer(Layer.merge(layerMemory, RunLog.layerMemory()))("rows of one address", (it) => {
  it.effect.prop(
    "are imported as if each were a file of its own, by every way in",
    [Schema.Array(Row).check(Schema.isMaxLength(2)), Schema.NonEmptyArray(Row).check(Schema.isMaxLength(6))],
    ([stored, rows]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const outcome = Effect.fnUntraced(function* (write: Effect.Effect<void, unknown, ContactsService | RunLog>) {
          yield* contacts.deleteMany(everyone)
          yield* oneByOne(stored)
          yield* write
          const all = (yield* contacts.list()).map((contact) => ({ email: contact.email, ...contentOf(contact) }))
          return all.sort((one, other) => one.email.localeCompare(other.email))
        })
        // A contact that is there never becomes NotConfirmed, and that of one file is so where a row says it.
        const isSequence = rows.every(({ status }) => status !== "NotConfirmed")
        const expected = yield* outcome(isSequence ? oneByOne(rows) : ways.upload(rows))
        for (const [name, way] of Object.entries(ways)) {
          assert.deepStrictEqual(yield* outcome(way(rows)), expected, name)
        }
      }),
    {
      arbitrary: { runs: amount({ ci: 25, long: 2000 }), seed: runSeed("rows of one address"), size: 20 },
      timeout: 120_000
    }
  )
})
