/**
 * Conditional changes on every layer: each is carried out only where its contact still is as it was seen. A layer that says
 * that it is not exact reads first and writes then; it has no lists to compare, and cannot take anything off a contact but
 * its custom fields and names. (docs/decisions/changes.md)
 */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import {
  type ChangeAnswer,
  type Contact,
  type ContactChange,
  type ContactContent,
  ContactSize,
  ContactsService,
  ContactStatus,
  type ContactWrite,
  type EmailAddress,
  maximumChanges
} from "@roster/domain"
import { Clock, DateTime, Effect } from "effect"
import { kept, seconds } from "./ContactFacts.ts"
import { eventually } from "../cases/Eventually.ts"
import { place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"
import { noTexts, unchecked } from "../cases/Unchecked.ts"

const change = (changes: ReadonlyArray<ContactChange>, dryRun?: boolean) =>
  Effect.flatMap(ContactsService, (contacts) => contacts.change(changes, dryRun === undefined ? {} : { dryRun }))

const results = (answers: ReadonlyArray<ChangeAnswer>) => answers.map(({ _tag }) => _tag)

/** The contact, or `null` if there is none. */
const now = (email: EmailAddress) =>
  Effect.flatMap(ContactsService, (contacts) =>
    Effect.catchTag(contacts.get(email), "ContactNotFound", () => Effect.succeed(null))
  )

/** Whether the layer compares and changes in one step. */
const isExact = Effect.suspend(() =>
  Effect.map(
    change([{ email: place().email("nobody"), seen: null, delete: true }]),
    ([answer]) => answer?.exact === true
  )
)

/** The lists of a contact, by the answer to a change that is outdated. */
const listsOf = (email: EmailAddress) =>
  Effect.map(
    change([{ email, seen: { status: "Active", firstName: "nobody has this name" }, write: { lastName: "x" } }]),
    ([answer]) => (answer?._tag === "Outdated" ? answer.lists : undefined)
  )

const nextSecond = (date: DateTime.Utc | null | undefined) =>
  eventually(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000) > (seconds(date) ?? 0))

const date = DateTime.makeUnsafe("2024-02-03T04:05:06Z")
const otherDate = DateTime.makeUnsafe("2024-02-03T04:05:07Z")

/** A contact with everything that a change compares. */
const whole = {
  status: "Engaged",
  firstName: "Ada",
  lastName: "Lovelace",
  customFields: { City: "London", plan: "gold" },
  consent: { ip: "192.0.2.1", date, tracking: "Allow" }
} as const satisfies ContactContent

/** Contents with one difference. */
const others: ReadonlyArray<readonly [what: string, content: ContactContent | null]> = [
  ["another status", { ...whole, status: "Active" }],
  ["no status", { ...whole, status: undefined }],
  ["another first name", { ...whole, firstName: "ada" }],
  ["no last name", { ...whole, lastName: undefined }],
  ["another field", { ...whole, customFields: { City: "London", plan: "silver" } }],
  ["a field more", { ...whole, customFields: { ...whole.customFields, more: "1" } }],
  ["a field fewer", { ...whole, customFields: { City: "London" } }],
  ["no fields", { ...whole, customFields: undefined }],
  ["another address of the consent", { ...whole, consent: { ...whole.consent, ip: "192.0.2.2" } }],
  ["another date of the consent", { ...whole, consent: { ...whole.consent, date: otherDate } }],
  ["no tracking", { ...whole, consent: { ip: whole.consent.ip, date } }],
  ["no consent", { ...whole, consent: undefined }],
  ["no contact", null]
]

/** Equal contents in other words. */
const sameContents: ReadonlyArray<readonly [what: string, content: ContactContent]> = [
  ["the spelling of a field", { ...whole, customFields: { PLAN: "gold", city: "London" } }],
  ["a part of a second", { ...whole, consent: { ...whole.consent, date: DateTime.add(date, { milliseconds: 900 }) } }]
]

const fields = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, "x"]))

const long = "x".repeat(ContactSize.maximumContactBytes)

const beyondBounds: ReadonlyArray<readonly [field: string, write: ContactWrite]> = [
  ["customFields", { customFields: fields(ContactSize.maximumCustomFields + 1) }],
  ["customFields", { customFields: { ["n".repeat(ContactSize.maximumCustomFieldName + 1)]: "x" } }],
  ["customFields", { customFields: { note: long } }],
  ["firstName", { firstName: long }],
  ["consent.ip", { consent: { ip: long } }]
]

const badWrites: ReadonlyArray<readonly [field: string, write: unknown]> = [
  ...[...noTexts, "Hibernating"].map((value) => ["status", { status: value }] as const),
  ...[7, {}].map((value) => ["firstName", { firstName: value }] as const),
  ...[null, 7, "x"].map((value) => ["customFields", { customFields: value }] as const),
  ["customFields.age", { customFields: { age: 7 } }],
  ["customFields", { customFields: { City: "1", city: null } }],
  ["consent.tracking", { consent: { tracking: "Perhaps" } }],
  ["addToLists", { addToLists: "news" }],
  ["resubscribe", { resubscribe: "yes" }],
  ["firstname", { firstname: "Ada" }],
  ["source", { source: "WebForm" }],
  ["dateAdded", { dateAdded: date }]
]

/** The same numbers in every run. */
const dice = (seed: number) => {
  let state = seed
  return (sides: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

/** What the generated changes compare, in a form of one's own: a status, a name and one field. */
interface Small {
  readonly status: "Active" | "Unsubscribed"
  readonly firstName: string
  readonly city: string
}

const contentOf = ({ city, firstName, status }: Small): ContactContent => ({
  status,
  ...(firstName === "" ? {} : { firstName }),
  ...(city === "" ? {} : { customFields: { city } })
})

interface SmallWrite extends Partial<Small> {
  readonly resubscribe?: boolean
}

/** The rules of docs/decisions/changes.md, written down once more. */
const expected = (current: Small | null, seen: Small | null, write: SmallWrite | null) => {
  const after = (from: Small | null): Small | null => {
    if (write === null) return null
    const { resubscribe = false, status, ...rest } = write
    const before = from ?? { status: "Active", firstName: "", city: "" }
    const keeps = from?.status === "Unsubscribed" && status === "Active" && !resubscribe
    return { ...before, ...rest, status: keeps ? before.status : (status ?? before.status) }
  }
  const same = (a: Small | null, b: Small | null) => JSON.stringify(a) === JSON.stringify(b)
  if (same(current, after(seen))) return { result: "AlreadySo", next: current } as const
  if (same(current, seen)) return { result: "Done", next: after(current) } as const
  return { result: "Outdated", next: current } as const
}

export const contactChangeConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: change", () => {
    it.effect("makes a new contact where none was seen, once", () =>
      Effect.gen(function* () {
        const own = place()
        const [bare, full] = [own.email("bare"), own.email("full")]
        const changes: ReadonlyArray<ContactChange> = [
          { email: bare, seen: null, write: {} },
          { email: full, seen: null, write: whole }
        ]
        assert.deepStrictEqual(results(yield* change(changes)), ["Done", "Done"])
        const [one, other] = [yield* now(bare), yield* now(full)]
        assert.deepStrictEqual([one?.status, one?.source, one?.dateUpdated ?? null], ["Active", "ContactApi", null])
        assert.deepStrictEqual(one?.customFields ?? {}, {})
        assert.deepInclude<Partial<Contact>>(other ?? {}, whole)
        assert.deepStrictEqual(results(yield* change(changes)), ["AlreadySo", "AlreadySo"])
        assert.deepStrictEqual([yield* now(bare), yield* now(full)], [one, other])
      })
    )

    it.effect("changes what still is as it was seen, once, and takes a contact that was read as it is", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("seen")
        const [added] = yield* contacts.add([{ email, ...whole }])
        yield* nextSecond(added?.dateAdded)
        const seen = yield* contacts.get(email)
        const changes = [{ email, seen, write: { lastName: "Byron", customFields: { plan: "silver", new: "1" } } }]
        assert.deepStrictEqual(results(yield* change(changes)), ["Done"])
        const after = yield* contacts.get(email)
        assert.deepStrictEqual(
          [after.firstName, after.lastName, after.customFields],
          ["Ada", "Byron", { City: "London", plan: "silver", new: "1" }]
        )
        assert.deepStrictEqual([kept(after), after.consent], [kept(seen), seen.consent])
        assert.isAbove(seconds(after.dateUpdated) ?? 0, seconds(seen.dateAdded) ?? Infinity)
        assert.deepStrictEqual(results(yield* change(changes)), ["AlreadySo"])
        // What changes nothing is already so.
        assert.deepStrictEqual(results(yield* change([{ email, seen: after, write: {} }])), ["AlreadySo"])
        assert.deepStrictEqual(yield* contacts.get(email), after)
        const status = [{ email, seen: after, write: { status: "Inactive" } }] as const
        assert.deepStrictEqual(results(yield* change(status)), ["Done"])
        const last = yield* contacts.get(email)
        assert.strictEqual(last.status, "Inactive")
        assert.isAbove(seconds(last.statusChangeDate) ?? 0, seconds(seen.dateAdded) ?? Infinity)
      })
    )

    it.effect.each(others)("leaves alone what is not as it was seen: %s", ([, seen]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("other")
        yield* contacts.add([{ email, ...whole }])
        const before = yield* contacts.get(email)
        const answers = yield* change([
          { email, seen, write: { firstName: "Never" } },
          { email, seen, delete: true }
        ])
        assert.deepStrictEqual(
          answers.map((answer) => answer._tag === "Outdated" && answer.contact),
          [before, before]
        )
        assert.deepStrictEqual(yield* contacts.get(email), before)
        const nobody = place().email("nobody")
        const absent = yield* change([{ email: nobody, seen: seen ?? whole, write: { firstName: "Never" } }])
        assert.deepStrictEqual(results(absent), ["Outdated"])
        assert.strictEqual(absent[0]?._tag === "Outdated" && absent[0].contact, null)
        assert.strictEqual(yield* now(nobody), null)
      })
    )

    it.effect("answers an outdated change with what the one before it wrote, as it is then read", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("twice")
        const write = { consent: { date: DateTime.makeUnsafe("2021-01-01T12:00:00.987Z") } }
        const [, second] = yield* change([
          { email, seen: null, write },
          { email, seen: null, write: { firstName: "Never" } }
        ])
        assert.strictEqual(second?._tag, "Outdated")
        if (!(yield* isExact)) return
        assert.deepStrictEqual(second?._tag === "Outdated" && second.contact, yield* contacts.get(email))
      })
    )

    it.effect.each(sameContents)("compares values and not how they are written: %s", ([, seen]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("same")
        yield* contacts.add([{ email, ...whole }])
        const changes = [{ email, seen, write: { customFields: { CITY: "Paris" } } }]
        assert.deepStrictEqual(results(yield* change(changes)), ["Done"])
        assert.deepStrictEqual((yield* contacts.get(email)).customFields, { City: "Paris", plan: "gold" })
        assert.deepStrictEqual(results(yield* change(changes)), ["AlreadySo"])
      })
    )

    it.effect("compares neither lists nor dates", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const email = own.email("dates")
        yield* contacts.add([{ email, firstName: "A" }])
        const seen = yield* contacts.get(email)
        yield* nextSecond(seen.dateAdded)
        yield* contacts.add([{ email, firstName: "A" }], { listNames: [own.domain] })
        assert.deepStrictEqual(results(yield* change([{ email, seen, write: { firstName: "B" } }])), ["Done"])
      })
    )

    it.effect("deletes what still is as it was seen, and one that is not there is already so", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("gone")
        yield* contacts.add([{ email, ...whole }])
        const changes = [{ email, seen: whole, delete: true }] as const
        assert.deepStrictEqual(results(yield* change(changes)), ["Done"])
        assert.strictEqual(yield* now(email), null)
        const again = [...changes, { email, seen: null, delete: true }, { email, seen: {}, delete: true }] as const
        assert.deepStrictEqual(results(yield* change(again)), ["AlreadySo", "AlreadySo", "AlreadySo"])
      })
    )

    it.effect("removes names and fields that are null", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("null")
        yield* contacts.add([{ email, ...whole }])
        const write = { firstName: null, customFields: { CITY: null, plan: "", none: null } } satisfies ContactWrite
        const changes = [{ email, seen: whole, write }]
        assert.deepStrictEqual(results(yield* change(changes)), ["Done"])
        const after = yield* contacts.get(email)
        assert.deepStrictEqual([after.firstName ?? "", after.lastName, after.customFields ?? {}], ["", "Lovelace", {}])
        assert.deepStrictEqual(results(yield* change(changes)), ["AlreadySo"])
        const { consent: _, ...rest } = whole
        const noConsent = [
          {
            email,
            seen: { ...rest, firstName: undefined, customFields: {}, consent: whole.consent },
            write: { consent: { ip: null } }
          },
          {
            email,
            seen: { ...rest, firstName: undefined, customFields: {}, consent: { date, tracking: "Allow" } },
            write: { consent: null }
          }
        ] as const
        if (!(yield* isExact)) {
          for (const one of noConsent) {
            assert.strictEqual((yield* refused(change([one]), "InvalidInput")).field, "[0].write.consent")
          }
          return
        }
        assert.deepStrictEqual(results(yield* change(noConsent)), ["Done", "Done"])
        assert.isUndefined((yield* contacts.get(email)).consent)
      })
    )

    it.effect("takes the changes of one address in their order, however it is written", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const email = own.email("Order")
        const other = own.email("oRDER")
        const answers = yield* change([
          { email, seen: null, write: { firstName: "1" } },
          { email: other, seen: null, write: { firstName: "2" } },
          { email: other, seen: { status: "Active", firstName: "1" }, write: { firstName: "3" } },
          { email, seen: { status: "Active", firstName: "3" }, delete: true },
          { email, seen: { status: "Active", firstName: "3" }, write: { firstName: "4" } },
          { email: other, seen: null, write: { lastName: "5", status: "Stale" } }
        ])
        assert.deepStrictEqual(results(answers), ["Done", "Outdated", "Done", "Done", "Outdated", "Done"])
        const [, second, , , fifth] = answers
        assert.deepStrictEqual(
          [second?._tag === "Outdated" && second.contact?.firstName, fifth?._tag === "Outdated" && fifth.contact],
          ["1", null]
        )
        const found = yield* contacts.list({ rule: own.rule })
        assert.deepStrictEqual(
          found.map(({ firstName, lastName, status }) => [firstName, lastName, status]),
          [[undefined, "5", "Stale"]]
        )
        const listed = [email, other].includes(found[0]?.email as EmailAddress)
        assert.isTrue(listed)
      })
    )

    it.effect("a dry run answers the same and changes nothing", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        yield* contacts.add([{ email: own.email("there"), ...whole }])
        const changes: ReadonlyArray<ContactChange> = [
          { email: own.email("new"), seen: null, write: { firstName: "N", addToLists: [own.domain] } },
          { email: own.email("new"), seen: { status: "Active", firstName: "N" }, write: { firstName: "M" } },
          { email: own.email("there"), seen: whole, delete: true },
          { email: own.email("there"), seen: whole, write: { firstName: "X" } },
          { email: own.email("none"), seen: null, delete: true }
        ]
        const before = yield* contacts.list({ rule: own.rule })
        const planned = yield* change(changes, true)
        assert.deepStrictEqual(yield* contacts.list({ rule: own.rule }), before)
        assert.deepStrictEqual(results(planned), ["Done", "Done", "Done", "Outdated", "AlreadySo"])
        assert.deepStrictEqual(yield* change(changes), planned)
        assert.deepStrictEqual(
          (yield* contacts.list({ rule: own.rule })).map(({ firstName }) => firstName),
          ["M"]
        )
      })
    )

    it.effect("puts contacts on lists and takes them off, where their content is as it was seen or already so", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const email = own.email("lists")
        const [a, b, c] = [`a ${own.domain}`, `b ${own.domain}`, `c ${own.domain}`]
        const seen = { status: "Active", firstName: "A" } as const
        yield* contacts.add([{ email, firstName: "A" }])
        const put = { email, seen, write: { firstName: "B", addToLists: [b, a, b] } }
        assert.deepStrictEqual(results(yield* change([put])), ["Done"])
        const off = { email, seen, write: { firstName: "B", addToLists: [c], removeFromLists: [a, `d ${own.domain}`] } }
        if (!(yield* isExact)) {
          // It cannot know whether the contact is on the lists, so it puts it on them again.
          assert.deepStrictEqual(results(yield* change([put])), ["Done"])
          assert.strictEqual((yield* refused(change([off]), "InvalidInput")).field, "[0].write.removeFromLists")
          return
        }
        assert.deepStrictEqual(yield* listsOf(email), [a, b])
        assert.deepStrictEqual(results(yield* change([put])), ["AlreadySo"])
        assert.deepStrictEqual(results(yield* change([off, off])), ["Done", "AlreadySo"])
        assert.deepStrictEqual(yield* listsOf(email), [b, c])
        // The lists of an outdated change stay.
        const outdated = yield* change([{ ...off, seen: { status: "Stale" }, write: { removeFromLists: [b] } }])
        assert.deepStrictEqual(
          outdated.map((answer) => answer._tag === "Outdated" && answer.lists),
          [[b, c]]
        )
        const fresh = own.email("fresh")
        const made = yield* change([
          { email: fresh, seen: null, write: { addToLists: [c, a] } },
          { email: fresh, seen: null, write: { firstName: "never" } },
          { email, seen: { status: "Active", firstName: "B" }, delete: true },
          { email, seen: null, write: {} },
          { email, seen: whole, delete: true }
        ])
        assert.deepStrictEqual(
          made.map((answer) => (answer._tag === "Outdated" ? answer.lists : answer._tag)),
          ["Done", [a, c], "Done", "Done", []]
        )
        assert.deepStrictEqual(yield* listsOf(email), [])
        const both = change([{ email, seen: null, write: { addToLists: [a], removeFromLists: [a] } }])
        assert.strictEqual((yield* refused(both, "InvalidInput")).field, "[0].write.removeFromLists")
        for (const name of ["", " ", "a\nb", "\ud800"]) {
          for (const [field, write] of [
            ["addToLists", { addToLists: [a, name] }],
            ["removeFromLists", { removeFromLists: [name] }]
          ] as const) {
            const call = change([
              { email, seen: null, delete: true },
              { email, seen: null, write }
            ])
            assert.strictEqual((yield* refused(call, "InvalidInput")).field, `[1].write.${field}`)
          }
        }
        assert.deepStrictEqual(yield* listsOf(email), [])
      })
    )

    it.effect("resubscribes nobody unless it is told to, and writes the rest", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const withheld = new Set<string>(["Unsubscribed", "Abuse", "Bounced", "NotConfirmed"])
        const mailed = ["Active", "Engaged", "Transactional"] as const
        const people = ContactStatus.literals.flatMap((from) =>
          mailed.map((to) => ({ email: own.email(`${from}-${to}`), from, to }))
        )
        yield* contacts.add(people.map(({ email, from }) => ({ email, status: from })))
        const before = yield* contacts.list({ rule: own.rule, limit: 1000 })
        const changes = (resubscribe?: boolean) =>
          people.map(({ email, from, to }) => ({
            email,
            seen: { status: from },
            write: { status: to, firstName: "After", ...(resubscribe === undefined ? {} : { resubscribe }) }
          }))
        const done = people.map(() => "Done")
        const again = people.map(() => "AlreadySo")
        assert.deepStrictEqual(results(yield* change(changes())), done)
        assert.deepStrictEqual(results(yield* change(changes(false))), again)
        const after = yield* contacts.list({ rule: own.rule, limit: 1000 })
        const statuses = people.map(({ from, to }) => [withheld.has(from) ? from : to, "After"])
        assert.deepStrictEqual(
          after.map(({ firstName, status }) => [status, firstName]),
          statuses
        )
        for (const [index, { from }] of people.entries()) {
          if (!withheld.has(from)) continue
          assert.strictEqual(seconds(after[index]?.statusChangeDate), seconds(before[index]?.statusChangeDate), from)
        }
        const told = people.map(({ email, from, to }, index) => ({
          email,
          seen: { status: withheld.has(from) ? from : to, firstName: "After" },
          write: { status: to, resubscribe: from === "Abuse" ? (["Abuse"] as const) : true, lastName: String(index) }
        }))
        assert.deepStrictEqual(results(yield* change(told)), done)
        assert.deepStrictEqual(
          (yield* contacts.list({ rule: own.rule, limit: 1000 })).map(({ status }) => status),
          people.map(({ to }) => to)
        )
      })
    )

    it.effect("refuses what is beyond a bound, and makes no change of the call", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const there = own.email("there")
        yield* contacts.add([{ email: there, lastName: "x".repeat(20_000) }])
        const before = yield* contacts.list({ rule: own.rule })
        const seen = { status: "Active", lastName: "x".repeat(20_000) } as const
        const good: ContactChange = { email: own.email("good"), seen: null, write: {} }
        for (const [field, write] of beyondBounds) {
          for (const bad of [
            { email: own.email("bad"), seen: null, write },
            { email: there, seen, write }
          ]) {
            const call = change([good, bad])
            assert.strictEqual(
              (yield* refused(call, "InvalidInput")).field.split("].").at(-1)?.replace("write.", ""),
              field
            )
          }
        }
        const merged = change([good, { email: there, seen, write: { customFields: { note: "y".repeat(20_000) } } }])
        assert.match((yield* refused(merged, "InvalidInput")).field, /customFields$/)
        const many = Array.from({ length: maximumChanges + 1 }, () => good)
        assert.deepInclude(yield* refused(change(many), "TooManyContacts"), {
          count: maximumChanges + 1,
          maximum: maximumChanges
        })
        const large = Array.from({ length: 300 }, (_, index) => ({
          email: own.email(`${index}`),
          seen: null,
          write: { customFields: { note: "x".repeat(30_000) } }
        }))
        const error = yield* refused(change(large), "InvalidInput")
        assert.deepStrictEqual([error.field, error.issue.includes("8 MiB")], ["body", true])
        assert.deepStrictEqual(yield* contacts.list({ rule: own.rule }), before)
      })
    )

    it.effect("names what is wrong with a change by its place, and makes no change of the call", () =>
      Effect.gen(function* () {
        const own = place()
        const email = own.email("bad")
        const good: ContactChange = { email: own.email("good"), seen: null, write: {} }
        const cases: ReadonlyArray<readonly [field: string, change: unknown]> = [
          ...badWrites.map(([field, write]) => [`[1].write.${field}`, { email, seen: null, write }] as const),
          ...[...noTexts, undefined, "nobody"].map(
            (value) => ["[1].email", { email: value, seen: null, delete: true }] as const
          ),
          ["[1].seen", { email, delete: true }],
          ["[1].seen", { email, seen: 7, delete: true }],
          ["[1].seen.status", { email, seen: { status: 7 }, delete: true }],
          ["[1].seen.customFields", { email, seen: { customFields: { City: "1", city: "2" } }, delete: true }],
          ["[1].seen.firstname", { email, seen: { firstname: "Ada" }, delete: true }],
          ["[1].delete", { email, seen: null, delete: false }],
          ["[1]", { email, seen: null }],
          ["[1]", { email, seen: null, write: {}, delete: true }],
          ["[1].remove", { email, seen: null, remove: true }],
          ...[null, 7, "x"].map((value) => ["[1]", value] as const)
        ]
        for (const [field, bad] of cases) {
          const call = change([good, unchecked<ContactChange>(bad)])
          assert.strictEqual((yield* refused(call, "InvalidInput")).field, field, JSON.stringify(bad))
        }
        for (const bad of [null, undefined, 7, "x", {}]) yield* refused(change(unchecked(bad)), "InvalidInput")
        assert.strictEqual(yield* now(own.email("good")), null)
        assert.deepStrictEqual(yield* change([]), [])
      })
    )

    it.effect("answers a thousand changes in their order, also where the answer is large", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const emails = Array.from({ length: 200 }, (_, index) => own.email(`p${index}`))
        const note = "é\n".repeat(4000)
        yield* contacts.add(emails.map((email, index) => ({ email, lastName: `${index}`, customFields: { note } })))
        const answers = yield* change(
          Array.from({ length: maximumChanges }, (_, index) => ({
            email: emails[(index * 7) % 200] ?? own.email("none"),
            seen: index % 5 === 0 ? null : whole,
            write: { firstName: "Never" }
          }))
        )
        assert.deepStrictEqual(
          answers.map((answer) => answer._tag === "Outdated" && answer.contact?.lastName),
          answers.map((_, index) => `${(index * 7) % 200}`)
        )
        const seen = (index: number) => ({ status: "Active", lastName: `${index}`, customFields: { note } }) as const
        const first = yield* change(
          emails.map((email, index) => ({ email, seen: index < 100 ? seen(index) : null, delete: true }))
        )
        assert.deepStrictEqual(
          results(first),
          emails.map((_, index) => (index < 100 ? "Done" : "Outdated"))
        )
        assert.deepStrictEqual(
          (yield* contacts.list({ rule: own.rule, limit: 1000 })).map(({ lastName }) => lastName),
          emails.flatMap((_, index) => (index < 100 ? [] : [`${index}`]))
        )
      })
    )

    it.effect("lists new contacts in the order of the changes that made them", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const emails = ["c", "a", "d", "b"].map((local) => own.email(local))
        yield* change(emails.map((email) => ({ email, seen: null, write: {} })))
        const [, a, d] = emails
        if (a === undefined || d === undefined) return assert.fail("there are four")
        const active = { status: "Active" } as const
        yield* change([
          { email: d, seen: active, delete: true },
          { email: a, seen: active, delete: true },
          { email: d, seen: null, write: {} },
          { email: own.email("0"), seen: null, write: {} },
          { email: a, seen: null, write: {} }
        ])
        assert.deepStrictEqual(
          (yield* contacts.list({ rule: own.rule })).map(({ email }) => email.split("@")[0]),
          ["c", "b", "d", "0", "a"]
        )
      })
    )

    it.effect("does with generated changes what the rules say", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const roll = dice(40)
        const pick = <A>(values: ReadonlyArray<A>): A | undefined => values[roll(values.length)]
        const model = new Map<EmailAddress, Small | null>()
        const emails = Array.from({ length: 6 }, (_, index) => own.email(`g${index}`))
        const small = (): Small => ({
          status: pick(["Active", "Unsubscribed"] as const) ?? "Active",
          firstName: pick(["", "A", "B"]) ?? "",
          city: pick(["", "Bonn"]) ?? ""
        })
        const part = (): SmallWrite => {
          const { city, firstName, status } = small()
          return {
            ...(roll(2) === 0 ? { firstName } : {}),
            ...(roll(2) === 0 ? { city } : {}),
            ...(roll(3) === 0 ? { status } : {}),
            ...(roll(3) === 0 ? { resubscribe: roll(2) === 0 } : {})
          }
        }
        for (let round = 0; round < 30; round++) {
          const wanted: Array<string> = []
          const changes = Array.from({ length: 1 + roll(12) }, (): ContactChange => {
            const email = pick(emails) ?? own.email("none")
            const current = model.get(email) ?? null
            const seen = roll(3) > 0 ? current : roll(3) === 0 ? null : small()
            const write = roll(5) === 0 ? null : part()
            const { next, result } = expected(current, seen, write)
            model.set(email, next)
            wanted.push(result)
            const base = { email, seen: seen === null ? null : contentOf(seen) }
            if (write === null) return { ...base, delete: true }
            const { city, firstName, ...rest } = write
            return {
              ...base,
              write: {
                ...rest,
                ...(firstName === undefined ? {} : { firstName: firstName === "" ? null : firstName }),
                ...(city === undefined ? {} : { customFields: { city: city === "" ? null : city } })
              }
            }
          })
          const asked = JSON.stringify(changes)
          assert.deepStrictEqual(results(yield* change(changes, true)), wanted, asked)
          assert.deepStrictEqual(results(yield* change(changes)), wanted, asked)
          for (const email of emails) {
            const found = yield* now(email)
            const expected = model.get(email) ?? null
            const { customFields, firstName = "", status } = found ?? {}
            assert.deepStrictEqual<unknown>(
              found && { status, firstName, city: customFields?.["city"] ?? "" },
              expected,
              asked
            )
          }
        }
        yield* contacts.deleteMany({ _tag: "ByRule", rule: own.rule })
      })
    )
  })
}
