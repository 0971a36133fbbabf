/** Lists on every layer: what makes, renames and deletes one, who is on it, and what a run records of that. */
import { assert } from "./cases/Assert.ts"
import type { Cases } from "./cases/Cases.ts"
import {
  type Contact,
  ContactFilter,
  ContactsService,
  ListsService,
  ListsText,
  maximumListName,
  NamedRun,
  Rule,
  RunsService,
  RuleText,
  ServiceError
} from "@roster/domain"
import { Effect, Result, Stream } from "effect"
import { place } from "./cases/Place.ts"
import { csvRecordsOf, jsonRecordsOf, textOf, xmlOf } from "./jobs/ExportedFile.ts"
import { exported } from "./jobs/Exporting.ts"
import { refused } from "./cases/Refused.ts"
import { unchecked } from "./cases/Unchecked.ts"

/** A list that no other case names, and three contacts. */
const arranged = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const lists = yield* ListsService
  const { domain, email, where } = place()
  const [ada, bob, cy] = [email("ada"), email("bob"), email("cy")]
  yield* contacts.add([ada, bob, cy].map((email) => ({ email, firstName: email.slice(0, 3) })))
  const on = (name: string) => Effect.map(lists.contacts(name), (found) => found.map(({ email }) => String(email)))
  const of = (...emails: readonly [string, ...ReadonlyArray<string>]) => ContactFilter.ByEmails({ emails })
  const by = (rule: RuleText) => ContactFilter.ByRule({ rule })
  return { contacts, lists, name: `List of ${domain}`, ada, bob, cy, email, where, on, of, by }
})

export const listsConformance = (it: Cases<ContactsService | ListsService>): void => {
  listRules(it)
  it.describe("lists: create, rename and delete", () => {
    it.effect("a list is created empty, is told by its name, and is deleted while its contacts stay", () =>
      Effect.gen(function* () {
        const { ada, contacts, lists, name, of, on } = yield* arranged
        yield* refused(lists.get(name), "ListNotFound")
        const made = yield* lists.create({ listName: name })
        assert.strictEqual(made.listName, name)
        assert.isTrue(made.allowUnsubscribe)
        assert.isTrue(made.dateAdded !== undefined && /^[0-9a-f-]{36}$/.test(made.publicListId ?? ""))
        assert.deepStrictEqual(yield* lists.get(name), made)
        assert.deepStrictEqual(yield* lists.get(name.toUpperCase()), made)
        assert.deepStrictEqual(yield* on(name), [])
        assert.strictEqual(
          (yield* refused(lists.create({ listName: name.toUpperCase() }), "NameTaken")).name,
          name.toUpperCase()
        )
        yield* lists.add(name, of(ada))
        yield* lists.delete(name)
        assert.strictEqual((yield* refused(lists.get(name), "ListNotFound")).name, name)
        yield* refused(lists.delete(name), "ListNotFound")
        assert.strictEqual((yield* contacts.get(ada)).email, ada)
      })
    )

    it.effect("a list begins with the contacts that it names, and ignores addresses without one", () =>
      Effect.gen(function* () {
        const { ada, cy, email, lists, name, on } = yield* arranged
        yield* lists.create({ listName: name, allowUnsubscribe: false, emails: [cy, email("nobody"), ada] })
        assert.deepStrictEqual(yield* on(name), [ada, cy])
        assert.isFalse((yield* lists.get(name)).allowUnsubscribe)
      })
    )

    it.effect("a list that an add made is one", () =>
      Effect.gen(function* () {
        const { bob, contacts, lists, name, on } = yield* arranged
        yield* contacts.add([{ email: bob }], { listNames: [name] })
        assert.deepStrictEqual(yield* on(name), [bob])
        assert.isTrue((yield* lists.get(name)).dateAdded !== undefined)
        assert.include((yield* refused(lists.create({ listName: name }), "NameTaken")).message, "delete the list")
      })
    )

    it.effect("an update changes what it names; another name renames the list, unless it is that of another", () =>
      Effect.gen(function* () {
        const { ada, lists, name, of, on } = yield* arranged
        const other = `${name}, other`
        const { publicListId = "" } = yield* lists.create({ listName: name })
        yield* lists.create({ listName: other })
        yield* lists.add(name, of(ada))
        assert.isFalse((yield* lists.update(name, { allowUnsubscribe: false })).allowUnsubscribe)
        assert.strictEqual((yield* refused(lists.update(name, { newListName: other }), "NameTaken")).name, other)
        const renamed = yield* lists.update(name, { newListName: `${name}, renamed` })
        assert.deepInclude(renamed, { listName: `${name}, renamed`, publicListId, allowUnsubscribe: false })
        yield* refused(lists.get(name), "ListNotFound")
        assert.deepStrictEqual(yield* on(`${name}, renamed`), [ada])
        // Its own name in another case is its own.
        assert.strictEqual(
          (yield* lists.update(`${name}, renamed`, { newListName: `${name}, RENAMED` })).listName,
          `${name}, RENAMED`
        )
        yield* refused(lists.update(name, {}), "ListNotFound")
      })
    )

    it.effect("lists are listed by name, page by page, and tell how many contacts they have if that is asked", () =>
      Effect.gen(function* () {
        const { ada, bob, lists, name } = yield* arranged
        yield* lists.create({ listName: `${name} 2`, emails: [ada, bob] })
        yield* lists.create({ listName: `${name} 1` })
        const all = yield* lists.list({ limit: 1000, counts: true })
        const own = all.filter(({ listName }) => listName.startsWith(name))
        assert.deepStrictEqual(
          own.map(({ contacts, listName }) => [listName, contacts]),
          [
            [`${name} 1`, 0],
            [`${name} 2`, 2]
          ]
        )
        const offset = all.findIndex(({ listName }) => listName === `${name} 2`)
        const [page] = yield* lists.list({ limit: 1, offset })
        assert.strictEqual(page?.listName, `${name} 2`)
        assert.notProperty(page ?? {}, "contacts")
        assert.strictEqual((yield* refused(lists.list({ limit: 1001 }), "InvalidInput")).field, "limit")
      })
    )

    it.effect.each([
      ["no name", " "],
      ["a NUL", "a\0b"],
      ["a line break", "a\nb"],
      ["a dot path", ".."],
      ["a name that is too long", "x".repeat(maximumListName + 1)]
    ] as const)("a list is not made with %s", ([, listName]) =>
      Effect.gen(function* () {
        const { lists, name } = yield* arranged
        assert.strictEqual((yield* refused(lists.create({ listName }), "InvalidInput")).field, "listName")
        yield* lists.create({ listName: name })
        assert.strictEqual(
          (yield* refused(lists.update(name, { newListName: listName }), "InvalidInput")).field,
          "newListName"
        )
      })
    )

    it.effect("what is no list is refused as it is by every operation", () =>
      Effect.gen(function* () {
        const { ada, lists, of } = yield* arranged
        for (const [name, tag] of [
          ["", "InvalidInput"],
          ["..", "InvalidInput"],
          ["a\ud800", "InvalidInput"],
          ["no\nlist", "ListNotFound"],
          ["nobody made this", "ListNotFound"]
        ] as const) {
          yield* refused(lists.get(name), tag)
          yield* refused(lists.update(name, {}), tag)
          yield* refused(lists.delete(name), tag)
          yield* refused(lists.contacts(name), tag)
          yield* refused(lists.add(name, of(ada)), tag)
          yield* refused(lists.remove(name, of(ada)), tag)
        }
        yield* refused(lists.create(unchecked({ listName: "a", Name: "b" })), "InvalidInput")
      })
    )
  })

  it.describe("lists: contacts", () => {
    it.effect(
      "contacts are put on a list and taken off by addresses, which may be unknown, and as often as one likes",
      () =>
        Effect.gen(function* () {
          const { ada, bob, cy, email, lists, name, of, on } = yield* arranged
          const made = yield* lists.create({ listName: name })
          assert.deepStrictEqual(yield* lists.add(name, of(cy, email("nobody"), ada)), made)
          yield* lists.add(name, of(ada.toUpperCase(), bob))
          assert.deepStrictEqual(yield* on(name), [ada, bob, cy])
          yield* lists.remove(name, of(bob, email("nobody")))
          yield* lists.remove(name, of(bob))
          assert.deepStrictEqual(yield* on(name), [ada, cy])
        })
    )

    it.effect("contacts are put on a list and taken off by a rule", () =>
      Effect.gen(function* () {
        const { ada, by, cy, lists, name, on, where } = yield* arranged
        yield* lists.create({ listName: name })
        yield* lists.add(name, by(where("firstname != 'bob'")))
        assert.deepStrictEqual(yield* on(name), [ada, cy])
        yield* lists.remove(name, by(where("firstname = 'ada' OR firstname = 'bob'")))
        assert.deepStrictEqual(yield* on(name), [cy])
        yield* lists.remove(name, by(RuleText.make("All")))
        assert.deepStrictEqual(yield* on(name), [])
      })
    )

    it.effect("a list shows its contacts page by page, and loses those that are deleted", () =>
      Effect.gen(function* () {
        const { bob, contacts, email, lists, name } = yield* arranged
        const emails = Array.from({ length: 25 }, (_, index) => email(`n${index}`))
        yield* contacts.add(
          emails.map((email) => ({ email })),
          { listNames: [name] }
        )
        const page = (page?: Parameters<typeof lists.contacts>[1]) =>
          Effect.map(lists.contacts(name, page), (found) => found.map(({ email }) => email))
        assert.deepStrictEqual(yield* page(), emails.slice(0, 20))
        assert.deepStrictEqual(yield* page({ offset: 20 }), emails.slice(20))
        assert.deepStrictEqual(yield* page({ limit: 2, offset: 1 }), emails.slice(1, 3))
        assert.deepStrictEqual(yield* page({ limit: 0 }), [])
        assert.deepStrictEqual(yield* page({ offset: 25 }), [])
        yield* contacts.delete(emails[0] ?? bob)
        assert.deepStrictEqual(yield* page({ limit: 1000 }), emails.slice(1))
        assert.strictEqual((yield* refused(lists.contacts(name, { offset: -1 }), "InvalidInput")).field, "offset")
      })
    )

    it.effect("a filter that names nothing, or no rule, is refused, and nobody is put on the list", () =>
      Effect.gen(function* () {
        const { lists, name, on } = yield* arranged
        yield* lists.create({ listName: name })
        for (const change of [lists.add, lists.remove]) {
          const none = ContactFilter.ByEmails({ emails: unchecked<[string]>([]) })
          assert.strictEqual((yield* refused(change(name, none), "InvalidInput")).field, "emails")
          const bad = ContactFilter.ByRule({ rule: unchecked<RuleText>("city =") })
          assert.strictEqual((yield* refused(change(name, bad), "InvalidRule")).rule, "city =")
        }
        assert.deepStrictEqual(yield* on(name), [])
      })
    )
  })
}

/** Rules that ask who is on a list. */
const listRules = (it: Cases<ContactsService | ListsService>): void => {
  it.describe("lists: rules", () => {
    it.effect("a rule selects who is on a list, and who is not, also beside other conditions", () =>
      Effect.gen(function* () {
        const { ada, bob, contacts, cy, lists, name, where } = yield* arranged
        const other = `${name}'s "other"`
        yield* lists.create({ listName: name, emails: [ada, bob] })
        yield* lists.create({ listName: other, emails: [bob, cy] })
        const on = (list: string) => Rule.print(Rule.onList(list))
        const not = (list: string) => Rule.print(Rule.onList(list, false))
        const cases: ReadonlyArray<readonly [rule: string, ReadonlyArray<string>]> = [
          [on(name), [ada, bob]],
          [not(name), [cy]],
          [on(name.toUpperCase()), [ada, bob]],
          [on(other), [bob, cy]],
          [`${on(name)} AND ${on(other)}`, [bob]],
          [`${on(name)} AND ${not(other)}`, [ada]],
          [`firstname = 'cy' OR ${on(name)}`, [ada, bob]],
          [`firstname starts-with 'cy' OR ${on(name)}`, [ada, bob, cy]],
          [on("nobody made this"), []],
          [not("nobody made this"), [ada, bob, cy]]
        ]
        for (const [rule, expected] of cases) {
          const found = yield* contacts.list({ rule: where(rule), limit: 1000 })
          assert.deepStrictEqual(
            found.map(({ email }) => String(email)),
            expected,
            rule
          )
          assert.strictEqual((yield* contacts.count({ rule: where(rule) })).count, expected.length, rule)
          assert.strictEqual((yield* contacts.fields({ rule: where(rule) })).contacts, expected.length, rule)
        }
        const [one] = yield* contacts.list({ rule: RuleText.make(`email = '${bob}' AND ${on(name)}`) })
        assert.strictEqual(one?.email, bob)
        assert.notProperty(one ?? {}, "lists")
        const [last] = yield* contacts.list({ rule: where(on(name)), limit: 1, offset: 1 })
        assert.strictEqual(last?.email, bob)
      })
    )

    it.effect("a contact tells its lists where they are asked for, and nowhere else", () =>
      Effect.gen(function* () {
        const { ada, bob, cy, contacts, lists, name, where } = yield* arranged
        yield* lists.create({ listName: `${name} b`, emails: [ada, bob] })
        yield* lists.create({ listName: `${name} a`, emails: [ada] })
        const listsOf = (email: string) => Effect.map(contacts.get(email, { lists: true }), ({ lists }) => lists)
        assert.deepStrictEqual(yield* listsOf(ada), [`${name} a`, `${name} b`])
        assert.deepStrictEqual(yield* listsOf(bob), [`${name} b`])
        assert.deepStrictEqual(yield* listsOf(cy), [])
        assert.notProperty(yield* contacts.get(ada), "lists")

        const rule = where("email != ''")
        const expected = [
          [ada, [`${name} a`, `${name} b`]],
          [bob, [`${name} b`]],
          [cy, []]
        ]
        const told = (found: ReadonlyArray<Contact>) => found.map(({ email, lists }) => [email, lists])
        const all = [ada, bob, cy]
        for (const limit of [3, 1000]) {
          assert.deepStrictEqual(told(yield* contacts.list({ rule, limit, lists: true })), expected)
        }
        const onA = where(Rule.print(Rule.onList(`${name} a`)))
        assert.deepStrictEqual(told(yield* contacts.list({ rule: onA, lists: true })), expected.slice(0, 1))
        assert.deepStrictEqual(told(yield* Stream.runCollect(contacts.stream({ rule, lists: true }))), expected)
        assert.deepStrictEqual(told((yield* contacts.getMany(all, { lists: true })).contacts), expected)
        for (const limit of [2, 1000]) {
          assert.deepStrictEqual(told(yield* lists.contacts(`${name} b`, { limit, lists: true })), expected.slice(0, 2))
        }
        const [first] = yield* contacts.list({ limit: 1, lists: true })
        assert.isArray(first?.lists)
        for (const found of [
          yield* contacts.list({ rule, limit: 1000 }),
          (yield* contacts.getMany(all)).contacts,
          yield* lists.contacts(`${name} b`)
        ]) {
          for (const contact of found) assert.notProperty(contact, "lists")
        }
      })
    )

    it.effect("an export has the lists of its contacts where they are asked for, and nowhere else", () =>
      Effect.gen(function* () {
        const { ada, bob, by, cy, lists, name, of, where } = yield* arranged
        const awkward = `=${name}; \\ "b"`
        yield* lists.create({ listName: name, emails: [ada, bob] })
        yield* lists.create({ listName: awkward, emails: [ada] })
        const filter = of(ada, bob, cy)
        const expected = [[awkward, name].toSorted(), [name], []]
        const csv = csvRecordsOf(textOf(yield* exported({ filter, lists: true })))
        assert.deepStrictEqual(
          csv.map((record) => Result.getOrThrow(ListsText.readLists(record.get("Lists") ?? ""))),
          expected
        )
        const json = jsonRecordsOf(textOf(yield* exported({ filter, lists: true, fileFormat: "Json" })))
        assert.deepStrictEqual<ReadonlyArray<unknown>>(
          json.map((record) => record["Lists"]),
          expected
        )
        const xml = xmlOf(textOf(yield* exported({ filter, lists: true, fileFormat: "Xml" })))
        const [first] = xml.children.map(({ children }) => children.find((child) => child.name === "Lists"))
        assert.deepStrictEqual(
          first?.children.map(({ text }) => text),
          expected[0]
        )
        // A rule about lists reads them too.
        const onName = by(where(Rule.print(Rule.onList(name))))
        assert.isFalse(csvRecordsOf(textOf(yield* exported({ filter: onName }))).some((record) => record.has("Lists")))
        for (const record of jsonRecordsOf(textOf(yield* exported({ filter: onName, fileFormat: "Json" })))) {
          assert.notProperty(record, "Lists")
        }
        assert.notInclude(textOf(yield* exported({ filter: onName, fileFormat: "Xml" })), "<Lists>")
      })
    )

    it.effect("what a rule about lists selects is put on a list, taken off and deleted", () =>
      Effect.gen(function* () {
        const { ada, bob, by, contacts, cy, lists, name, on, where } = yield* arranged
        const other = `${name}, other`
        yield* lists.create({ listName: name, emails: [ada, bob] })
        yield* lists.create({ listName: other })
        const onName = Rule.print(Rule.onList(name))
        yield* lists.add(other, by(where(Rule.print(Rule.onList(name, false)))))
        assert.deepStrictEqual(yield* on(other), [cy])
        yield* lists.add(other, by(RuleText.make(onName)))
        assert.deepStrictEqual(yield* on(other), [ada, bob, cy])
        yield* lists.remove(other, by(RuleText.make(`${onName} AND firstname = 'ada'`)))
        assert.deepStrictEqual(yield* on(other), [bob, cy])
        yield* contacts.deleteMany(by(RuleText.make(onName)))
        yield* refused(contacts.get(ada), "ContactNotFound")
        assert.deepStrictEqual(yield* on(other), [cy])
      })
    )
  })
}

/** What a run records of the lists of contacts. */
export const listsInRunsConformance = (it: Cases<ContactsService | ListsService | RunsService>): void => {
  it.describe("lists: in a run", () => {
    it.effect("a run records who came onto a list and who left it, once, and not a rename", () =>
      Effect.gen(function* () {
        const { ada, bob, cy, lists, name, of } = yield* arranged
        const runs = yield* RunsService
        const { id } = yield* runs.begin({ command: "conformance" })
        const inRun = Effect.provideService(NamedRun, id)
        yield* inRun(lists.create({ listName: name, emails: [ada] }))
        yield* inRun(lists.add(name, of(ada, bob)))
        yield* lists.add(name, of(cy))
        yield* inRun(lists.remove(name, of(ada)))
        yield* inRun(lists.remove(name, of(ada)))
        yield* inRun(lists.update(name, { newListName: `${name}, renamed` }))
        yield* inRun(lists.delete(`${name}, renamed`))
        const field = (name: string) => `Lists.${name.toLowerCase()}`
        const renamed = field(`${name}, renamed`)
        assert.deepStrictEqual(
          (yield* runs.changes(id)).map(({ effect, email, fields }) => [effect, email, fields]),
          [
            ["Changed", ada, { [field(name)]: [null, ""] }],
            ["Changed", bob, { [field(name)]: [null, ""] }],
            ["Changed", ada, { [field(name)]: [name, null] }],
            ["Changed", bob, { [renamed]: [`${name}, renamed`, null] }],
            ["Changed", cy, { [renamed]: [`${name}, renamed`, null] }]
          ]
        )
        yield* runs.end(id)
        const late = yield* Effect.flip(inRun(lists.create({ listName: name })))
        assert.isTrue(late instanceof ServiceError && late.reason._tag === "RunRefused")
        yield* refused(lists.get(name), "ListNotFound")
      })
    )
  })
}
