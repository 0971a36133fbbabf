/**
 * Whatever contacts runs add, change and delete, undoing them brings back the content and the lists of each of them; and
 * undoing that brings back what the run had made of them.
 */
import { assert, layer } from "@effect/vitest"
import { canonicalEmail, ContactFilter, ContactsService, RuleText } from "@roster/domain"
import { contentOf, sameContent } from "@roster/domain/internal"
import { importContacts, type ImportContactsOptions, planDelete, planUpdate, undoRun } from "@roster/workflows"
import { Effect, Predicate, Stream } from "effect"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"
import { layerEmbedded, layerFile, layerMemory, layerServed, withRuns } from "../../src/layers/ServiceLayers.ts"
import { awkwardContacts } from "../../src/properties/AwkwardContacts.ts"

const seed = runSeed("undo of generated runs")

const everyone = ContactFilter.ByRule({ rule: RuleText.make("All") })

/** Every layer, and how many runs are undone there: an undo is the same on all of them, so that few do on each. */
const layers = [
  { name: "SQL in memory", services: withRuns(layerMemory), runs: amount({ ci: 8, long: 2000 }) },
  { name: "SQL on a file", services: withRuns(layerFile), runs: amount({ ci: 4, long: 1000 }) },
  { name: "HTTP in one process", services: withRuns(layerEmbedded), runs: amount({ ci: 4, long: 2000 }) },
  { name: "HTTP over a socket", services: layerServed, runs: amount({ ci: 4, long: 500 }) }
] as const

for (const { name, runs, services } of layers) {
  layer(services, { excludeTestServices: true, timeout: "60 seconds" })(`an undo, ${name}`, (it) => {
    const two = [
      awkwardContacts({ minLength: 1, maxLength: 30 }),
      awkwardContacts({ minLength: 1, maxLength: 30 })
    ] as const
    it.effect.prop(
      "brings back all of what any runs changed",
      [...two],
      ([base, given]) =>
        Effect.gen(function* () {
          const service = yield* ContactsService
          yield* service.deleteMany(everyone)
          yield* service.add(base, { listNames: ["Old"] })
          const emails = [...base, ...given].map(({ email }) => email)
          /** What is there now of each, with its lists: no contact has this name. */
          const content = Effect.map(
            service.change(
              emails.map((email) => ({ email, seen: { firstName: "none \u{1F47B} such" }, write: {} })),
              { dryRun: true }
            ),
            (answers) =>
              answers.map((answer, index) => {
                if (answer._tag !== "Outdated") return assert.fail(`${emails[index]} is ${answer._tag}`)
                const { contact = null, lists = [] } = answer
                return { email: canonicalEmail(emails[index] ?? ""), content: contact && contentOf(contact), lists }
              })
          )
          type Content = Effect.Success<typeof content>
          const isSame = (actual: Content, expected: Content, what: string) => {
            for (const [index, { content, email, lists }] of expected.entries()) {
              const now = actual[index]?.content ?? null
              // Says what differs.
              if (!sameContent(now, content)) assert.deepStrictEqual(now, content, `${what}: ${email}`)
              assert.deepStrictEqual(actual[index]?.lists, lists, `${what}: ${email}`)
            }
          }
          const before = yield* content

          const half = Math.ceil(given.length / 2)
          const [first, second, ...rest] = emails.filter((_, index) => index % 3 === 0)
          const found = (some: ReadonlyArray<string | undefined>) =>
            Stream.fromIterableEffect(
              Effect.map(service.getMany(some.filter(Predicate.isNotUndefined)), ({ contacts }) => contacts)
            )
          const imported = (some: typeof given, options: ImportContactsOptions) =>
            Effect.map(importContacts(Stream.fromIterable(some), options), (report) => ({ report }))
          const changes = { firstName: "X", customFields: { x: "y" } }
          const runs: Array<string> = []
          for (const program of [
            imported(given.slice(0, half), { listNames: ["New", "Old"] }),
            imported(given.slice(half), { listNames: ["New"], resubscribe: true }),
            Effect.flatMap(planDelete(found([first, ...rest])), ({ apply }) => apply),
            Effect.flatMap(planUpdate(found([second]), changes), ({ apply }) => apply)
          ]) {
            const { report } = yield* program
            assert.deepInclude(report, { outdated: 0, notSent: 0, unknown: 0 })
            // A run that changed nothing has nothing to undo.
            if (report.run !== undefined) runs.push(report.run)
          }
          const after = yield* content

          /** Undoes runs from the last to the first, and gives those that this made. */
          const undoAll = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
            const made: Array<string> = []
            for (const id of ids.toReversed()) {
              const undone = yield* undoRun(id)
              assert.deepInclude(undone, { outdated: 0, partlyDone: 0, incomplete: 0, untold: 0 })
              if (undone.run !== undefined) made.push(undone.run)
            }
            return made
          })
          const undone = yield* undoAll(runs)
          isSame(yield* content, before, "undone")
          assert.strictEqual(
            (yield* service.list({ limit: 1000 })).length,
            new Set(base.map(({ email }) => canonicalEmail(email))).size
          )
          yield* undoAll(undone)
          isSame(yield* content, after, "undone again")
        }),
      {
        arbitrary: { runs, seed, size: 100 },
        timeout: amount({ ci: 60_000, long: 3_600_000 })
      }
    )
  })
}
