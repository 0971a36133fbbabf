/**
 * What the service records of a run, beside what a reader sees before and after each of its calls: whatever they add, update,
 * change, delete and import, the record has each contact that differs, with its fields, its lists and the dates of its status, and no
 * other one.
 */
import { assert } from "@effect/vitest"
import {
  allJobs,
  canonicalEmail,
  type Contact,
  ContactFilter,
  ContactsService,
  EmailAddress,
  NamedRun,
  type RecordedChange,
  RuleText,
  RunsService
} from "@roster/domain"
import { ContactStates } from "@roster/domain/internal"
import { Arbitrary, DateTime, Effect, Schema, Stream, Struct } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"

const people = ["ada", "bob", "Cy", "dot", "eve"].map((name) => `${name}@example.com`)

const Person = Schema.Literals([...people, ...people.map((email) => email.toUpperCase())])
const Lists = Schema.Array(Schema.Literals(["News", "news", "Other list"])).check(Schema.isMaxLength(2))
const Range = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Content = Schema.Struct({
  email: Person,
  firstName: Schema.Literals(["", "Ann", "Bö", "x"]),
  city: Schema.Literals(["", "Ann", "x"]),
  status: Schema.Literals(["Active", "Unsubscribed", "Bounced", "Engaged", "none"]),
  consents: Schema.Boolean
})

const contentOf = ({ city, consents, email, firstName, status }: typeof Content.Type) => ({
  email: EmailAddress.make(email),
  firstName,
  ...(status === "none" ? {} : { status }),
  customFields: { city },
  ...(consents ? { consent: { ip: "192.0.2.1", tracking: "Allow" as const } } : {})
})

const Call = Schema.Struct({
  /** The number of its kind. */
  kind: Range(0, 7),
  first: Content,
  others: Schema.Array(Content).check(Schema.isMaxLength(3)),
  lists: Lists,
  off: Lists,
  isRight: Schema.Boolean,
  ofOthers: Range(0, 4)
})
type Call = typeof Call.Type

/** A call of a run, or in one of five cases of others. */
export const calls = Arbitrary.schema(Schema.Array(Call).check(Schema.isMinLength(1), Schema.isMaxLength(12)))

const rules = ["FirstName = 'Ann'", "Status = Active", "All"].map((rule) => RuleText.make(rule))

/** A contact as a flat record, made of what a reader gets. */
const flat = (contact: Contact, names: ReadonlyArray<string>) => {
  const { consent = {}, customFields = {}, email, firstName, lastName, status } = contact
  const fields: Record<string, string | number | null | undefined> = {
    Email: email,
    Status: status,
    FirstName: firstName,
    LastName: lastName,
    "Consent.ConsentIP": consent.ip,
    "Consent.ConsentTracking": consent.tracking === "Unknown" ? undefined : consent.tracking
  }
  for (const [name, value] of Object.entries(customFields)) fields[`CustomFields.${name}`] = value
  const filled: Record<string, string | number> = {}
  for (const [name, value] of Object.entries(fields)) if (value != null && value !== "") filled[name] = value
  const spelled = new Map(names.map((name) => [`Lists.${name.toLowerCase()}`, name]))
  for (const field of spelled.keys()) filled[field] = ""
  const { dateAdded, statusChangeDate: changed } = contact
  const date = changed ?? dateAdded
  const iso = date == null ? "" : DateTime.formatIso(date).replace(".000", "")
  return { fields: filled, spelled, dateAdded, date: changed == null ? `added ${iso}` : iso }
}
type Flat = ReturnType<typeof flat>

/** All contacts with their lists, which the answer to a change that cannot be made shows. */
const everybody = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const answers = yield* contacts.change(
    people.map((email) => ({ email: EmailAddress.make(email), seen: { firstName: "none such" }, write: {} })),
    { dryRun: true }
  )
  const all = new Map<string, Flat>()
  for (const answer of answers) {
    if (answer._tag !== "Outdated") return assert.fail(`${answer._tag}`)
    const { contact, lists = [] } = answer
    if (contact) all.set(canonicalEmail(contact.email), flat(contact, lists))
  }
  return all
})

const withheld = new Set<string | number | undefined>(["Abuse", "Unsubscribed", "Bounced", "NotConfirmed"])

/** What has to be recorded of the difference. */
const differences = (before: ReadonlyMap<string, Flat>, after: ReadonlyMap<string, Flat>) => {
  const expected: Array<Omit<RecordedChange, "number">> = []
  for (const identity of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(identity), after.get(identity)]
    // Of a new contact or a deleted one the time of a status counts that stops mail.
    const isTold = (was && is) ?? withheld.has((was ?? is)?.fields["Status"])
    const dates =
      isTold && is?.date !== was?.date ? { statusDate: { given: is?.date ?? null, before: was?.date ?? null } } : {}
    const email = String((is ?? was)?.fields["Email"])
    const digest = is === undefined ? null : ContactStates.digestOf(is.fields)
    const fields: Record<string, [string | number | null, string | number | null]> = {}
    for (const name of new Set([...Object.keys(was?.fields ?? {}), ...Object.keys(is?.fields ?? {})])) {
      const [old, value] = [was?.fields[name] ?? null, is?.fields[name] ?? null]
      // Of a list that is left its name is recorded, as it is spelled.
      if (old !== value) fields[name] = [value === null ? (was?.spelled.get(name) ?? old) : old, value]
    }
    if (was === undefined) {
      const parts = ContactStates.partsOf(is?.fields ?? {}, is?.dateAdded)
      expected.push({ email, effect: "Created", fields: {}, after: digest, parts, ...dates })
    } else if (is === undefined) expected.push({ email, effect: "Deleted", fields, after: null, ...dates })
    else if (Object.keys(fields).length > 0 || "statusDate" in dates) {
      expected.push({ email, effect: "Changed", fields, after: digest, ...dates })
    }
  }
  return expected
}

const inOrder = (changes: ReadonlyArray<Omit<RecordedChange, "number">>) =>
  changes
    .map(({ parts, ...change }) => ({ ...change, parts: parts?.match(/.{6}/g)?.sort() }))
    .toSorted((one, other) => (String(one.email) < String(other.email) ? -1 : 1))

const callOf = Effect.fnUntraced(function* ({ first, isRight, kind, lists, off, others }: Call) {
  const contacts = yield* ContactsService
  const { email, ...write } = contentOf(first)
  const given = [first, ...others].map(contentOf)
  const emails = [email, ...others.map(({ email }) => email)] as const
  switch (kind) {
    case 0:
      return yield* contacts.add(given, { listNames: lists, ...(isRight ? { resubscribe: false } : {}) })
    case 1:
      return yield* contacts.update(email, { firstName: write.firstName, customFields: write.customFields })
    case 2:
      return yield* contacts.delete(email)
    case 3:
      return yield* contacts.deleteMany(ContactFilter.ByEmails({ emails }))
    case 4:
      return yield* contacts.deleteMany(
        ContactFilter.ByRule({ rule: rules[emails.length % 3] ?? RuleText.make("All") })
      )
    case 5:
    case 6: {
      const { contacts: found } = yield* contacts.getMany(emails)
      const seenOf = (of: string) => found.find((one) => canonicalEmail(one.email) === canonicalEmail(of)) ?? null
      return yield* contacts.change(
        given.map(({ email, ...write }, index) => {
          const seen = isRight ? seenOf(email) : null
          return kind === 6 && index % 2 === 1
            ? { email, seen, delete: true as const }
            : { email, seen, write: { ...write, addToLists: lists, removeFromLists: off } }
        })
      )
    }
    default: {
      const rows = given.map(({ customFields, email, firstName, status = "" }) =>
        [email, firstName, status, customFields.city].join(",")
      )
      const file = ["Email,FirstName,Status,city", ...rows, "no address,x,,"].join("\n")
      const source = { _tag: "File", name: "rows.csv", content: Stream.encodeText(Stream.make(file)) } as const
      return yield* contacts.import(source, lists[0] === undefined ? {} : { listName: lists[0] })
    }
  }
})

/** Waits until no import is at work. */
const settled = eventually(Stream.runCollect(allJobs()), (all) => all.every(({ ended }) => ended !== null))

/** Makes the calls, and compares the record of each with what a reader saw. */
export const compareRecord = Effect.fnUntraced(function* (calls: ReadonlyArray<Call>) {
  const contacts = yield* ContactsService
  const runs = yield* RunsService
  yield* contacts.deleteMany(ContactFilter.ByRule({ rule: RuleText.make("All") }))
  const { id } = yield* runs.begin({ command: "test" })
  const counts = { created: 0, changed: 0, deleted: 0 }
  let after = 0
  let before = yield* everybody
  for (const one of calls) {
    const named = one.ofOthers > 0 ? Effect.provideService(callOf(one), NamedRun, id) : callOf(one)
    // A call that is refused changes nothing, and so records nothing.
    yield* Effect.ignore(named)
    yield* settled
    const now = yield* everybody
    const expected = one.ofOthers > 0 ? differences(before, now) : []
    const recorded = yield* runs.changes(id, { after })
    assert.deepStrictEqual(
      recorded.map(({ number }) => number),
      expected.map((_, place) => after + place + 1)
    )
    assert.deepStrictEqual(inOrder(recorded.map((change) => Struct.omit(change, ["number"]))), inOrder(expected))
    for (const { effect, fields } of expected) {
      if (effect === "Created") counts.created++
      else if (effect === "Deleted") counts.deleted++
      else if (Object.keys(fields).length > 0) counts.changed++
    }
    after += recorded.length
    before = now
  }
  const run = yield* runs.get(id)
  assert.deepInclude({ ...run }, { ...counts, changes: after })
  const all = yield* runs.changes(id, { limit: 1000 })
  assert.strictEqual(all.length, after)
  assert.deepStrictEqual(yield* runs.changes(id, { limit: 1000, before: after + 1 }), all.toReversed())
  yield* runs.end(id)
})
