/** S75 Single calls of several callers at once: no change is lost, none is done twice, and what is answered is so. */
import { assert, describe } from "@effect/vitest"
import { type Contact, ContactFilter, ContactsService, RuleText } from "@roster/domain"
import { Clock, Effect, Exit, Stream } from "effect"
import { anyFault, layer, layers, valueOf, workload } from "./Workload.ts"

const ann = "ann@example.com"

const add = (...emails: ReadonlyArray<string>) =>
  ContactsService.use((contacts) => contacts.add(emails.map((email) => ({ email }))))

/** The addresses of all contacts, in alphabetical order. */
const allEmails = ContactsService.use((contacts) =>
  Effect.map(contacts.list({ limit: 1000 }), (all) => all.map(({ email }) => email).toSorted())
)

/** Repeats a call until it has an answer. */
const answered = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => Effect.retry(call, { times: 20 })

const pointsOf = ({ customFields }: Contact) => Number(customFields?.["points"] ?? 0)

/** Gives a point by a change of what it has seen, and looks again where another was faster. */
const givePoint = Effect.gen(function* () {
  const contacts = yield* ContactsService
  for (;;) {
    const seen = yield* contacts.get(ann)
    const write = { customFields: { points: String(pointsOf(seen) + 1) } }
    const [answer] = yield* contacts.change([{ email: ann, seen, write }])
    if (answer?._tag === "Done") return
  }
})

const gold = ContactFilter.ByRule({ rule: RuleText.make("plan = 'gold'") })

describe("calls at once", () => {
  const point = Effect.andThen(answered(add(ann)), givePoint)
  for (const [where, layer] of layers) {
    workload(
      `conditional changes of one contact count each success once${where}`,
      {
        layer,
        callers: { one: point, two: point, three: point },
        faults: { "contacts.change": anyFault, "contacts.get": anyFault, "contacts.add": anyFault },
        invariant: (exits) =>
          Effect.gen(function* () {
            const contacts = yield* ContactsService
            const points = pointsOf(yield* contacts.get(ann))
            const all = Object.values(exits)
            const given = all.filter(Exit.isSuccess).length
            // One whose answer was lost may have given its point.
            assert.isAtLeast(points, given)
            assert.isAtMost(points, all.length)
          })
      },
      { known: ["26! contacts.change#3 contacts.get#1"] }
    )
  }

  const sameAdd = answered(
    ContactsService.use((contacts) =>
      contacts.add([{ email: ann, customFields: { from: "both" } }, { email: "ben@example.com" }], {
        listNames: ["both"],
        idempotencyKey: "the-same-call"
      })
    )
  )
  const otherAdd = ContactsService.use((contacts) =>
    Effect.flip(contacts.add([{ email: "other@example.com" }], { idempotencyKey: "the-same-call" }))
  )
  const refusedAfter = Effect.andThen(sameAdd, otherAdd)
  for (const [where, layer] of layers) {
    workload(`a call with a key that two repeat is carried out once, with one answer for both${where}`, {
      layer,
      callers: { one: sameAdd, two: sameAdd, late: refusedAfter },
      faults: { "contacts.add": anyFault },
      invariant: ({ late, one, two }) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(valueOf(one), valueOf(two))
          assert.notStrictEqual(valueOf(late)._tag, "TooManyContacts")
          assert.deepStrictEqual(yield* allEmails, [ann, "ben@example.com"])
        })
    })
  }

  const goldOnes = (name: string) =>
    ContactsService.use((contacts) =>
      contacts.add([1, 2, 3].map((n) => ({ email: `${name}${n}@example.com`, customFields: { plan: "gold" } })))
    )
  workload("a deletion by rule takes all that was there before, and nobody whom the rule does not select", {
    layer,
    callers: {
      deletes: Effect.gen(function* () {
        yield* answered(goldOnes("before"))
        yield* answered(ContactsService.use((contacts) => contacts.deleteMany(gold)))
      }),
      comes: answered(goldOnes("while")),
      others: answered(add("free1@example.com", "free2@example.com")),
      leaves: Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* answered(contacts.add([{ email: ann, customFields: { plan: "gold" } }]))
        // It is no more what the rule selects: it was deleted before, or stays.
        return yield* Effect.exit(contacts.update(ann, { customFields: { plan: "free" } }))
      })
    },
    faults: { "contacts.add": anyFault, "contacts.deleteMany": anyFault, "contacts.update": anyFault },
    invariant: ({ comes, deletes, leaves, others }) =>
      Effect.gen(function* () {
        valueOf(deletes)
        valueOf(others)
        valueOf(comes)
        const left = yield* allEmails
        assert.isFalse(left.some((email) => email.startsWith("before")))
        assert.isTrue(["free1@example.com", "free2@example.com"].every((email) => left.includes(email)))
        const come = left.filter((email) => email.startsWith("while")).length
        // One add is one transaction, before or after the rule looked.
        assert.include([0, 3], come)
        if (Exit.isSuccess(valueOf(leaves))) assert.include(left, ann)
      })
  })

  const fieldsFrom = (first: number) =>
    Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${first + index}`, "x"]))
  const grown = (first: number) => ({ email: ann, customFields: fieldsFrom(first) })
  workload("an add that is refused after it has written leaves nothing, beside adds that share its commit", {
    layer,
    callers: {
      refused: Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* answered(contacts.add([grown(0)]))
        return yield* Effect.flip(contacts.add([{ email: "ghost@example.com" }, grown(200)]))
      }),
      one: answered(add("one1@example.com")),
      two: Effect.andThen(answered(add("two1@example.com")), answered(add("two2@example.com")))
    },
    faults: { "contacts.add": anyFault },
    invariant: ({ one, refused, two }) =>
      Effect.gen(function* () {
        valueOf(one)
        valueOf(two)
        assert.include(["InvalidInput", "ServiceError"], valueOf(refused)._tag)
        assert.deepStrictEqual(yield* allEmails, [ann, "one1@example.com", "two1@example.com", "two2@example.com"])
      })
  })

  const exported = Effect.fnUntraced(function* (idempotencyKey: string) {
    yield* answered(add(ann, "ben@example.com"))
    const contacts = yield* ContactsService
    const { id, link } = yield* answered(contacts.export({ fileFormat: "Csv" }, { idempotencyKey }))
    // Nobody sees a job of a store in memory that runs.
    assert.strictEqual(yield* contacts.exportStatus(id), "Ready")
    return yield* answered(Stream.mkString(Stream.decodeText(contacts.download(link))))
  })
  workload("an export has all that was there throughout, and each contact once", {
    layer,
    callers: {
      exports: exported("one"),
      again: exported("one"),
      others: exported("two"),
      writes: Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* answered(add("come@example.com"))
        yield* answered(contacts.update("come@example.com", { firstName: "Come" }))
        yield* answered(contacts.delete("come@example.com").pipe(Effect.catchTag("ContactNotFound", () => Effect.void)))
      })
    },
    faults: { "contacts.add": anyFault, "contacts.export": anyFault, "contacts.download": anyFault },
    invariant: ({ again, exports, others, writes }) =>
      Effect.gen(function* () {
        valueOf(writes)
        for (const file of [exports, again, others].map(valueOf)) {
          const emails = file
            .split("\r\n")
            .slice(1)
            .flatMap((row) => (row === "" ? [] : [row.split(",")[0]]))
          assert.includeMembers(emails, [ann, "ben@example.com"])
          assert.strictEqual(new Set(emails).size, emails.length)
        }
        assert.deepStrictEqual(yield* allEmails, [ann, "ben@example.com"])
        // Nor does a job wait for the next look at the queue.
        assert.isBelow(yield* Clock.currentTimeMillis, 3_600_000)
      })
  })
})
