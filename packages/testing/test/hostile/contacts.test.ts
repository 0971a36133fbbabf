/**
 * S37, S38 Many contacts at once, the same contact twice, and an address in all its spellings.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { askServe } from "../durability/KillableServe.ts"
import { contactsIn, rowsOf } from "../durability/StoreLook.ts"
import { Hostile, sendFile, settledImport } from "./Hostile.ts"

const ErrorBody = Schema.fromJsonString(Schema.Struct({ Error: Schema.String }))
const Answered = Schema.Struct({
  Email: Schema.String,
  Status: Schema.String,
  FirstName: Schema.optionalKey(Schema.String),
  LastName: Schema.optionalKey(Schema.String),
  CustomFields: Schema.Record(Schema.String, Schema.String)
})
const One = Schema.fromJsonString(Answered)
const Many = Schema.fromJsonString(Schema.Array(Answered))

const ask = Effect.fnUntraced(function* (method: string, path: string, status: number, body?: object) {
  const answer = yield* askServe((yield* Hostile).serve, method, path, body)
  assert.strictEqual(answer.status, status, answer.text.slice(0, 500))
  return answer.text
})

const added = (contacts: ReadonlyArray<object>) =>
  Effect.flatMap(ask("POST", "/contacts", 200, contacts), (text) => Effect.orDie(Schema.decodeEffect(Many)(text)))

const refusal = (contacts: ReadonlyArray<object>) =>
  ask("POST", "/contacts", 400, contacts).pipe(
    Effect.flatMap((text) => Effect.orDie(Schema.decodeEffect(ErrorBody)(text))),
    Effect.map(({ Error }) => Error)
  )

const stored = Effect.map(Hostile, ({ place }) => contactsIn(place))
const emptied = ask("POST", "/contacts/delete", 200, { Rule: "All" })
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ Email: `n${n}@many.example` }))

layer(Hostile.layer(), { excludeTestServices: true, timeout: "60 seconds" })("S.4 hostile contacts", (it) => {
  it.effect("S37 of 1001 contacts not one is written, and 1000 are answered in their order", () =>
    Effect.gen(function* () {
      yield* emptied
      assert.match(yield* refusal(numbered(1001)), /^1001 contacts in one request, but at most 1000 are allowed/)
      // The same one 1001 times is 1001 contacts.
      assert.match(yield* refusal(numbered(1001).map(() => ({ Email: "a@many.example" }))), /^1001 contacts/)
      assert.deepStrictEqual(yield* stored, [])
      const answers = yield* added(numbered(1000))
      assert.deepStrictEqual(
        answers.map(({ Email }) => Email),
        numbered(1000).map(({ Email }) => Email)
      )
      assert.strictEqual((yield* stored).length, 1000)
    })
  )

  it.effect.each([
    ["an address that is none", { Email: "nobody" }, /\[999\]\.Email/],
    ["no address", { FirstName: "A" }, /\[999\]\.Email/],
    ["a status that is none", { Email: "x@many.example", Status: "Gone" }, /\[999\]\.Status/],
    ["a NUL", { Email: "x@many.example", FirstName: "a\0b" }, /\[999\]\.FirstName/],
    [
      "a custom field named as a column",
      { Email: "x@many.example", CustomFields: { email: "y" } },
      /\[999\]\.CustomFields/
    ],
    ["a custom field that is no text", { Email: "x@many.example", CustomFields: { age: 1 } }, /\[999\]\.CustomFields/],
    ["a list in its place", [], /\[999\]/]
  ] as const)("S37 of 1000 contacts the last of which has %s, not one is written or changed", ([, last, reason]) =>
    Effect.gen(function* () {
      yield* emptied
      yield* added([{ Email: "n0@many.example", FirstName: "First" }])
      const before = yield* stored
      const many = numbered(999).map((contact) => ({ ...contact, FirstName: "Changed" }))
      assert.match(yield* refusal([...many, last]), reason)
      assert.deepStrictEqual(yield* stored, before)
    })
  )

  it.effect(
    "S37 a contact that comes twice is one: its fields merge, the last wins, and each answer is the outcome",
    () =>
      Effect.gen(function* () {
        yield* emptied
        const answers = yield* added([
          {
            Email: "Twice@many.example",
            FirstName: "First",
            LastName: "Kept",
            Status: "Stale",
            CustomFields: { a: "1", b: "1" }
          },
          { Email: "once@many.example" },
          { Email: "twice@many.example", FirstName: "Second", CustomFields: { b: "2", c: "2" } },
          { Email: "TWICE@MANY.EXAMPLE", Status: "Engaged", CustomFields: { c: "3" } }
        ])
        const outcome = {
          Email: "Twice@many.example",
          Status: "Engaged",
          FirstName: "Second",
          LastName: "Kept",
          CustomFields: { a: "1", b: "2", c: "3" }
        }
        assert.deepStrictEqual(answers, [
          outcome,
          { Email: "once@many.example", Status: "Active", CustomFields: {} },
          outcome,
          outcome
        ])
        assert.deepStrictEqual(
          (yield* stored).map(({ email }) => email),
          ["Twice@many.example", "once@many.example"]
        )
      })
  )

  /** The spelling that comes first, and others of the same address. */
  const spellings: ReadonlyArray<readonly [what: string, first: string, ...others: ReadonlyArray<string>]> = [
    ["case", "Ann.Lee@Case.Example", "ann.lee@case.example", "ANN.LEE@CASE.EXAMPLE"],
    ["composition", "zoe\u0301@nfd.example", "zo\u00e9@nfd.example", "ZOE\u0301@NFD.EXAMPLE", "ZO\u00c9@nfd.example"],
    [
      "an accent that composes in lower case only",
      "J\u030cane@j.example",
      "j\u030cane@j.example",
      "\u01f0ane@j.example"
    ],
    ["the sign for Kelvin", "\u212aelvin@k.example", "kelvin@k.example", "KELVIN@k.example"],
    [
      "a domain of other letters",
      "a@bücher.example",
      "a@xn--bcher-kva.example",
      "A@BU\u0308CHER.EXAMPLE",
      "a@XN--BCHER-KVA.example"
    ],
    ["a domain in punycode first", "b@xn--fsqu00a.xn--0zwm56d", "b@例子.测试"]
  ]

  it.effect.each(spellings)("S38 one contact in every spelling: %s", ([, first, ...others]) =>
    Effect.gen(function* () {
      yield* emptied
      yield* added([{ Email: first, FirstName: "First" }])
      for (const [n, spelling] of others.entries()) {
        const [answer] = yield* added([{ Email: spelling, CustomFields: { seen: String(n) } }])
        assert.deepStrictEqual(
          [answer?.Email, answer?.FirstName, answer?.CustomFields],
          [first, "First", { seen: String(n) }]
        )
        const path = `/contacts/${encodeURIComponent(` ${spelling}`)}`
        const found = yield* Effect.orDie(Schema.decodeEffect(One)(yield* ask("GET", path, 200)))
        assert.deepStrictEqual(found, answer)
        yield* ask("PUT", path, 200, { LastName: spelling })
        yield* settledImport(sendFile(`Email,LastName\n${spelling},File\n`))
      }
      assert.deepStrictEqual(
        (yield* stored).map(({ email, last_name }) => [email, last_name]),
        [[first, "File"]]
      )
      for (const spelling of others) {
        yield* ask("POST", "/contacts/delete", 200, { Emails: [`${spelling} `] })
        assert.deepStrictEqual(yield* stored, [])
        yield* added([{ Email: first }])
        yield* ask("DELETE", `/contacts/${encodeURIComponent(spelling)}`, 200)
        assert.deepStrictEqual(yield* stored, [])
        yield* added([{ Email: first }])
      }
    })
  )

  it.effect("S38 what only looks alike is not the same", () =>
    Effect.gen(function* () {
      yield* emptied
      const alike = [
        "ada@alike.example",
        "\u0430da@alike.example",
        "ada+x@alike.example",
        "a.da@alike.example",
        "ada@al\u0131ke.example"
      ]
      yield* added(alike.map((Email) => ({ Email })))
      assert.deepStrictEqual(
        (yield* stored).map(({ email }) => email),
        alike
      )
    })
  )

  const domain = (length: number) =>
    `${`${"d".repeat(60)}.`.repeat(3).slice(0, length - 8)}.example`.replace("..", "d.")
  it.effect("S38 254 characters are an address, and 64 before its @", () =>
    Effect.gen(function* () {
      yield* emptied
      const longest = `${"a".repeat(64)}@${domain(189)}`
      assert.strictEqual(longest.length, 254)
      yield* added([{ Email: longest }])
      assert.deepStrictEqual(
        (yield* stored).map(({ email }) => email),
        [longest]
      )
      yield* ask("DELETE", `/contacts/${encodeURIComponent(longest.toUpperCase())}`, 200)
    })
  )

  it.effect.each([
    ["255 characters", `${"a".repeat(64)}@${domain(190)}`],
    ["65 characters before the @", `${"a".repeat(65)}@long.example`],
    ["a quoted local part", '"a b"@quoted.example'],
    ["a quoted local part without need", '"ab"@quoted.example'],
    ["a dot behind the domain", "a@dot.example."],
    ["a dot before the @", "a.@dot.example"],
    ["two dots", "a..b@dot.example"],
    ["a space in front", " a@space.example"],
    ["a space behind", "a@space.example "],
    ["a space inside", "a @space.example"],
    ["a no-break space", "\u00a0a@space.example"],
    ["a zero-width space in the domain", "a@spa\u200bce.example"],
    ["an address literal", "a@[192.0.2.1]"],
    ["a comment", "a(x)@comment.example"],
    ["a name", "Ann <a@name.example>"]
  ])("S38 %s: refused, and not made into another address", ([, email]) =>
    Effect.gen(function* () {
      yield* emptied
      assert.match(yield* refusal([{ Email: "good@example.com" }, { Email: email }]), /^Invalid \[1\]\.Email: /)
      assert.deepStrictEqual(yield* stored, [])
    })
  )

  it.effect("S38 the store itself has one row for an identity", () =>
    Effect.gen(function* () {
      const { place } = yield* Hostile
      const Index = Schema.Struct({ columns: Schema.String })
      const unique = rowsOf(
        place,
        Index,
        `SELECT (SELECT group_concat(name) FROM pragma_index_info(list.name)) AS columns
         FROM pragma_index_list('contacts') AS list WHERE list."unique" = 1`
      )
      assert.deepInclude(unique, { columns: "account,identity" })
    })
  )
})
