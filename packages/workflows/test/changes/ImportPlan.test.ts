import { assert, describe, it } from "@effect/vitest"
import { canonicalEmail, type Contact, ContactNotFound, layerTestContacts, readContacts } from "@roster/domain"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Result, Stream } from "effect"
import {
  type ContactLookup,
  makeContactLookup,
  makeImportPlan,
  maximumCountedFields,
  maximumShownRows,
  type PlanHeader,
  readPlan,
  surveyContacts
} from "../../src/index.ts"

const contact = (index: number): Contact => ({
  email: `C${index}@example.com`,
  status: "Unsubscribed",
  firstName: `F${index}`,
  customFields: { n: String(index) }
})

/** A service with contacts that counts its calls. */
const serviceOf = (count: number) => {
  const contacts = Array.from({ length: count }, (_, index) => contact(index))
  const known = new Map(contacts.map((one) => [canonicalEmail(one.email), one]))
  const calls = { get: 0, stream: 0 }
  const layer = layerTestContacts({
    get: (email) =>
      Effect.suspend(() => {
        calls.get++
        const found = known.get(canonicalEmail(email))
        return found === undefined ? Effect.fail(new ContactNotFound({ email })) : Effect.succeed(found)
      }),
    list: ({ limit = 20, offset = 0 } = {}) => Effect.succeed(contacts.slice(offset, offset + limit)),
    stream: () => {
      calls.stream++
      return Stream.fromIterable(contacts)
    }
  })
  return { calls, layer: Layer.merge(layer, NodeServices.layer) }
}

const header: PlanHeader = {
  plan: "roster contacts import",
  version: 1,
  target: "a service",
  made: "",
  sha256: "",
  listNames: [],
  resubscribe: false
}

const planOf = Effect.fnUntraced(function* (csv: string, lookup: ContactLookup, given: Partial<PlanHeader> = {}) {
  const rows = readContacts(Stream.make(new TextEncoder().encode(csv)))
  const plan = makeImportPlan(rows, yield* surveyContacts(rows), { header: { ...header, ...given }, lookup })
  const text = (yield* Stream.runCollect(plan.lines)).join("")
  return { text, summary: yield* plan.summary }
})

const read = (text: string) => Effect.result(Stream.runCollect(readPlan(Stream.make(new TextEncoder().encode(text)))))

describe("a lookup over the interface", () => {
  it.effect("reads single contacts if few are asked for, or if the account is far larger", () =>
    Effect.gen(function* () {
      for (const [expected, stored] of [
        [50, 10],
        [51, 5000]
      ] as const) {
        const { calls, layer } = serviceOf(stored)
        const found = yield* Effect.flatMap(makeContactLookup({ expected }), ({ find }) =>
          find(["c1@EXAMPLE.com", "nobody@example.com"])
        ).pipe(Effect.provide(layer), Effect.scoped)
        assert.deepStrictEqual(
          found.map((state) => state?.["Email"]),
          ["C1@example.com", undefined]
        )
        assert.deepStrictEqual(calls, { get: 2, stream: 0 })
      }
    })
  )

  it.effect("reads all contacts once if many are asked for, and finds the same", () =>
    Effect.gen(function* () {
      const { calls, layer } = serviceOf(1999)
      const emails = Array.from({ length: 2100 }, (_, index) => `c${(index * 7) % 2100}@example.com`)
      const found = yield* Effect.flatMap(makeContactLookup({ expected: 2100 }), ({ find }) => find(emails)).pipe(
        Effect.provide(layer),
        Effect.scoped
      )
      assert.deepStrictEqual(
        found,
        emails.map((email) => {
          const index = Number(/\d+/.exec(email)?.[0])
          return index < 1999
            ? {
                Email: `C${index}@example.com`,
                Status: "Unsubscribed",
                FirstName: `F${index}`,
                "CustomFields.n": String(index)
              }
            : undefined
        })
      )
      assert.deepStrictEqual(calls, { get: 0, stream: 1 })
    })
  )
})

describe("the copy of all contacts on disk", () => {
  it.effect("has no name while it is read, which a kill could leave behind", () => {
    const folders: Array<string> = []
    const watched = Layer.effect(
      FileSystem.FileSystem,
      Effect.map(FileSystem.FileSystem, (fs) => {
        const note = <E, R>(made: Effect.Effect<string, E, R>) =>
          Effect.tap(made, (folder) => Effect.sync(() => folders.push(folder)))
        return FileSystem.FileSystem.of({
          ...fs,
          makeTempDirectory: (options) => note(fs.makeTempDirectory(options)),
          makeTempDirectoryScoped: (options) => note(fs.makeTempDirectoryScoped(options))
        })
      })
    ).pipe(Layer.provideMerge(serviceOf(1999).layer))
    return Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { find } = yield* makeContactLookup({ expected: 2100 })
      assert.strictEqual(folders.length, 1)
      for (const folder of folders) assert.isFalse(yield* fs.exists(folder))
      assert.deepStrictEqual(
        (yield* find(["c7@example.com"])).map((state) => state?.["Email"]),
        ["C7@example.com"]
      )
    }).pipe(Effect.scoped, Effect.provide(watched))
  })
})

describe("a plan", () => {
  const lookupOf = Effect.fnUntraced(function* (count: number) {
    return yield* Effect.provide(makeContactLookup({ expected: 1000 }), serviceOf(count).layer)
  })

  it.effect("shows as many changes as its bound, and counts the others", () =>
    Effect.gen(function* () {
      for (const count of [maximumShownRows, maximumShownRows + 1]) {
        const lookup = yield* lookupOf(count)
        const rows = Array.from({ length: count }, (_, index) => `c${index}@example.com,Active,New`)
        const { summary } = yield* planOf(`Email,Status,FirstName\n${rows.join("\n")}\n`, lookup)
        assert.deepInclude(summary, { changed: count, wouldResubscribe: count, fields: { FirstName: count } })
        assert.strictEqual(summary.sample.length, maximumShownRows)
        assert.strictEqual(summary.wouldResubscribeRows.length, maximumShownRows)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("counts as many fields by name as its bound", () =>
    Effect.gen(function* () {
      const lookup = yield* lookupOf(1)
      for (const count of [maximumCountedFields, maximumCountedFields + 1]) {
        const names = Array.from({ length: count }, (_, index) => `f${index}`)
        const { summary } = yield* planOf(`Email,${names.join()}\nc0@example.com,${names.join()}\n`, lookup)
        assert.strictEqual(Object.keys(summary.fields).length, maximumCountedFields)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("leaves out a status that would resubscribe, unless that is allowed", () =>
    Effect.gen(function* () {
      const lookup = yield* lookupOf(1)
      const csv = "Email,Status\nc0@example.com,Active\n"
      const kept = yield* planOf(csv, lookup)
      assert.deepInclude(kept.summary, { unchanged: 1, changed: 0, wouldResubscribe: 1 })
      const allowed = yield* planOf(csv, lookup, { resubscribe: true })
      assert.deepInclude(allowed.summary, { changed: 1, wouldResubscribe: 1, fields: { Status: 1 } })
      assert.include(allowed.text, '"Status":"Active"')
    }).pipe(Effect.scoped)
  )

  it.effect("over the interface sends unchanged rows for the lists, and says so", () =>
    Effect.gen(function* () {
      const { summary } = yield* planOf("Email\nc0@example.com\n", yield* lookupOf(1), { listNames: ["News"] })
      assert.deepInclude(summary, { changed: 1, onlyLists: 1, unchanged: 0 })
    }).pipe(Effect.scoped)
  )

  it.effect("is read back, and refused if a line is too long", () =>
    Effect.gen(function* () {
      const { text } = yield* planOf("Email\nnew@example.com\n", yield* lookupOf(1))
      const read_ = yield* read(text)
      assert.isTrue(Result.isSuccess(read_))
      const lines = text.split("\n")
      const row = lines[1] ?? ""
      for (const [length, isRead] of [
        [1024 * 1024, true],
        [1024 * 1024 + 1, false]
      ] as const) {
        const long = `${row.slice(0, -1)}${" ".repeat(length - row.length)}}`
        const outcome = yield* read(lines.with(1, long).join("\n"))
        assert.strictEqual(Result.isSuccess(outcome), isRead)
      }
    }).pipe(Effect.scoped)
  )
  it.effect("is refused if a byte of it was damaged", () =>
    Effect.gen(function* () {
      const { text } = yield* planOf("Email,FirstName\nnew@example.com,Zoë\n", yield* lookupOf(1))
      const bytes = new TextEncoder().encode(text)
      const damaged = bytes.slice()
      // The second of the two bytes of ë.
      damaged[bytes.indexOf(0xc3) + 1] = 0x20
      for (const [plan, expected] of [
        [bytes, undefined],
        [damaged, "it is not UTF-8"]
      ] as const) {
        const outcome = yield* Effect.result(Stream.runCollect(readPlan(Stream.make(plan))))
        const failure = Result.isFailure(outcome) ? outcome.failure.reason : undefined
        assert.strictEqual(failure, expected)
      }
    }).pipe(Effect.scoped)
  )
})
