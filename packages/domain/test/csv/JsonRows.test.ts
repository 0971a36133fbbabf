import { assert, it } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { readContacts } from "../../src/csv/ContactCsv.ts"

const outcomes = (text: string) =>
  readContacts(Stream.make(new TextEncoder().encode(text))).pipe(
    Stream.map(({ contact }) => Result.getOrElse(contact, (reason) => reason)),
    Stream.runCollect,
    Effect.catchTag("UnreadableFile", ({ reason }) => Effect.succeed(reason))
  )

const good = '{"Email":"bob@example.com"}'
const bob = { email: "bob@example.com" }

it.effect.each<readonly [string, unknown]>([
  [
    `{"Email":"ann@example.com","tags":["a"]}\n${good}`,
    ['"tags" is a list, an object or a number of too many digits, not a text', bob]
  ],
  [
    `[{"Email":"ann@example.com","Email":"b@example.com"},${good}]`,
    ["an object gives a name twice, the second time at character 28", bob]
  ],
  [`{"Email" "ann@example.com"}\n${good}`, ["the object is no valid JSON", bob]],
  ['{"Mail":"ann@example.com"}', 'the object has no column "Email"; it reads "Mail"'],
  ["{}", 'the object has no column "Email"; it is empty'],
  ["_error\nb\n", 'the header has no column "Email"; it is empty']
])("an object that cannot be read is rejected alone, also as the first: %s", ([text, expected]) =>
  Effect.map(outcomes(text), (found) => assert.deepStrictEqual<unknown>(found, expected))
)

const Names = Schema.Array(Schema.Literals(["data", "a b", "it's", "1", "dé"])).check(Schema.isMaxLength(2))

/** What jq gives for a path of the steps that errors show. */
const taken = (path: string, json: unknown): ReadonlyArray<unknown> =>
  Array.from(path.matchAll(/\.\["((?:[^"\\]|\\.)*)"\]|\.?\[\]|\.(\w+)/g)).reduce<ReadonlyArray<unknown>>(
    (values, [all, quoted, plain]) =>
      values.flatMap((value) =>
        all.endsWith("[]") ? Object.values(Object(value)) : [Object(value)[quoted ?? plain ?? ""]]
      ),
    [json]
  )

const within = (names: ReadonlyArray<string>, value: unknown): unknown =>
  names.reduceRight((inner, name) => ({ total: 2, [name]: inner }), value)

it.effect.prop(
  "contacts that stand deeper are found, and the program that the error shows takes them out",
  [Names, Names, Schema.Boolean, Schema.Boolean],
  ([outer, inner, isInArray, isById]) =>
    Effect.gen(function* () {
      const contacts = ["ann", "bob"].map((name) => ({ Email: `${name}@example.com` }))
      const each = contacts.map((contact) => within(inner, contact))
      const list = isById && inner.length === 0 ? { x1: each[0], x2: each[1] } : each
      const page = within(outer, list)
      // Without a name around it, the list is the file.
      if (Array.isArray(page) && inner.length === 0) return
      const json = isInArray && !Array.isArray(page) ? [page] : page
      const reason = String(yield* outcomes(JSON.stringify(json)))
      const [, path = ""] = /jq -c '((?:[^']|'\\'')*)'/.exec(reason) ?? []
      assert.deepStrictEqual<unknown>(taken(path.replaceAll("'\\''", "'"), json), contacts, reason)
      assert.strictEqual(reason.includes("page of an interface"), outer.length > 0 && Array.isArray(list), reason)
    })
)

it.effect.each<readonly [string, string]>([
  ['{"emails":["ann@example.com"],"next":null}', "jq -r '.emails[]'"],
  ['{"items":[{"id":1}]}', "jq -c '.items[]'"],
  ['[["Email","FirstName"],["ann@example.com","Ann"]]', "jq -r '.[] | @csv'"],
  ['["ann@example.com"]', "jq -r '.[]'"],
  [`{"rows":[${`{"Email":"ann@example.com","note":"${"x".repeat(99)}"},`.repeat(80_000)}{}]}`, "jq -c '.rows[]'"]
])("other forms are named with a program that makes what can be imported: %.40s", ([text, says]) =>
  Effect.map(outcomes(text), (reason) => assert.include(String(reason), says))
)

it.effect("a contact with a list in it is one, also by its mapping", () =>
  Effect.gen(function* () {
    const orders = '"orders":[{"Email":"x@example.com"}]'
    assert.match(String(yield* outcomes(`{"Email":"ann@example.com",${orders}}`)), /^"orders" is a list/)
    const bytes = new TextEncoder().encode(`{"Post":"ann@example.com",${orders}}`)
    const rows = yield* Stream.runCollect(readContacts(Stream.make(bytes), { columns: { Post: "Email" } }))
    assert.strictEqual(rows.length, 1)
  })
)
