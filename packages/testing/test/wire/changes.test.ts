/** Conditional changes on the wire: who sees what is there now, how large an answer may be, and who wins. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { everyRequest, makeKey } from "../security/Access.ts"
import { type Answered, ask, askJson, refusedWith, succeeded, succeededEmpty, Wire } from "./Wire.ts"

const path = "/contacts/changes"

interface Answer {
  readonly Result: string
  readonly Contact?: { readonly Email: string; readonly FirstName?: string; readonly CustomFields?: object } | null
  readonly Lists?: ReadonlyArray<string>
}

const answersOf = (value: unknown): ReadonlyArray<Answer> =>
  Array.isArray(value) ? value : assert.fail("the answer is no list")

const change = (changes: ReadonlyArray<object>, key?: string) =>
  Effect.map(askJson("POST", path, changes, key === undefined ? {} : { key }), (answer) => answersOf(succeeded(answer)))

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("changes on the wire", (it) => {
  it.effect("are announced on every answer, refusals included", () =>
    Effect.gen(function* () {
      for (const { id, method, path } of everyRequest) {
        assert.strictEqual((yield* ask(method, path)).headers["roster-changes"], "honoured", id)
      }
      for (const [method, path, key] of [
        ["GET", "/contacts", null],
        ["GET", "/nothing", undefined],
        ["PATCH", "/contacts", undefined]
      ] as const) {
        const answer = yield* ask(method, path, key === undefined ? {} : { key })
        assert.strictEqual(answer.headers["roster-changes"], "honoured", path)
      }
    })
  )

  it.effect("show what is there now, and are for keys that may view contacts", () =>
    Effect.gen(function* () {
      const mayView = yield* makeKey({ Name: "both", AccessLevel: ["ModifyContacts", "ViewContacts"] })
      const mayNot = yield* makeKey({ Name: "modifies", AccessLevel: ["ModifyContacts"] })
      const email = "seen@example.com"
      succeeded(yield* askJson("POST", "/contacts?listnames=b&listnames=a", [{ Email: email, FirstName: "Secret" }]))
      const outdated = [
        { Email: email, Seen: null, Write: { FirstName: "X" } },
        { Email: email, Seen: { Status: "Stale" }, Delete: true },
        { Email: "nobody@example.com", Seen: {}, Write: {} }
      ]
      const [one, other, absent] = yield* change(outdated, mayView)
      assert.deepStrictEqual([one?.Result, one?.Contact?.FirstName, one?.Lists], ["Outdated", "Secret", ["a", "b"]])
      assert.deepStrictEqual(other, one)
      assert.deepStrictEqual(absent, { Result: "Outdated", Contact: null, Lists: [] })
      const right = [{ Email: email, Seen: { Status: "Active", FirstName: "Secret" }, Write: { FirstName: "New" } }]
      // What became of a change, or would become of it, tells what was there.
      for (const changes of [outdated, right]) {
        for (const query of ["", "?dryRun=true"]) {
          refusedWith(yield* askJson("POST", `${path}${query}`, changes, { key: mayNot }), 403)
        }
      }
      refusedWith(
        yield* askJson("POST", path, right, { key: yield* makeKey({ Name: "views", AccessLevel: ["ViewContacts"] }) }),
        403
      )
    })
  )

  it.effect("a dry run changes nothing, and is true or false", () =>
    Effect.gen(function* () {
      const one = [{ Email: "dry@example.com", Seen: null, Write: { AddToLists: ["dry"] } }]
      for (const query of ["dryRun=true", "DryRun=true", "dry_run=true"]) {
        assert.deepStrictEqual(succeeded(yield* askJson("POST", `${path}?${query}`, one)), [{ Result: "Done" }], query)
      }
      refusedWith(yield* ask("GET", "/contacts/dry@example.com"), 404)
      for (const query of ["dryRun=yes", "dryRun=", "dryRun=1", "dryRun=true&dryRun=true"]) {
        assert.match(refusedWith(yield* askJson("POST", `${path}?${query}`, one), 400), /dryRun/, query)
      }
      assert.deepStrictEqual(succeeded(yield* askJson("POST", `${path}?dryRun=false`, one)), [{ Result: "Done" }])
      succeeded(yield* ask("GET", "/contacts/dry@example.com"))
    })
  )

  it.effect("are answered to an Idempotency-Key as the first time, and a dry run by what is there now", () =>
    Effect.gen(function* () {
      const email = "keyed@example.com"
      const changes = [
        { Email: email, Seen: null, Write: {} },
        { Email: email, Seen: null, Delete: true }
      ]
      const headers = { "Idempotency-Key": "the-changes" }
      const asked = (query = "", key?: string) =>
        askJson("POST", `${path}${query}`, changes, key === undefined ? { headers } : { headers, key })
      const results = (answered: Answered) => answersOf(succeeded(answered)).map(({ Result }) => Result)
      assert.deepStrictEqual(results(yield* asked("?dry_run=true")), ["Done", "Outdated"])
      const first = succeeded(yield* asked())
      assert.deepStrictEqual(succeeded(yield* asked()), first)
      succeededEmpty(yield* ask("DELETE", `/contacts/${email}`))
      assert.deepStrictEqual(succeeded(yield* asked()), first)
      assert.deepStrictEqual(results(yield* asked("?dry_run=true")), ["Done", "Outdated"])
      refusedWith(yield* ask("GET", `/contacts/${email}`), 404)
      refusedWith(yield* askJson("POST", path, [changes[0]], { headers }), 409)
      // The answer holds a contact, which this key may not view.
      refusedWith(yield* asked("", yield* makeKey({ Name: "changes", AccessLevel: ["ModifyContacts"] })), 409)
    })
  )

  it.effect("are bounded, and a refused one refuses all", () =>
    Effect.gen(function* () {
      const good = { Email: "bounded@example.com", Seen: null, Write: {} }
      const many = yield* askJson(
        "POST",
        path,
        Array.from({ length: 1001 }, () => good)
      )
      assert.match(refusedWith(many, 400), /^1001 contacts in one request, but at most 1000/)
      const large = Array.from({ length: 300 }, () => ({ ...good, Write: { LastName: "x".repeat(30_000) } }))
      assert.match(refusedWith(yield* askJson("POST", path, large), 413), /8 MiB.*in parts/)
      const bad = [good, { ...good, Write: { Status: "Hibernating" } }]
      const text = refusedWith(yield* askJson("POST", path, bad), 400)
      assert.match(text, /^Invalid \[1\]\.Write\.Status: /)
      assert.notMatch(text, /Hibernating/)
      const lists = Array.from({ length: 1001 }, (_, index) => `list ${index}`)
      const named = [good, { ...good, Write: { AddToLists: lists } }]
      assert.match(refusedWith(yield* askJson("POST", path, named), 400), /at most 1000 lists/)
      refusedWith(yield* ask("GET", "/contacts/bounded@example.com"), 404)
    })
  )

  it.effect("answer with many large contacts, in the order of the changes", () =>
    Effect.gen(function* () {
      const note = "é".repeat(10_000)
      const emails = Array.from({ length: 120 }, (_, index) => `large${index}@example.com`)
      const contacts = emails.map((Email, index) => ({ Email, FirstName: `${index}`, CustomFields: { note } }))
      for (const from of [0, 60]) {
        succeeded(yield* askJson("POST", "/contacts?listnames=large", contacts.slice(from, from + 60)))
      }
      const answers = yield* change([
        ...emails.map((Email) => ({ Email, Seen: null, Write: {} })),
        { Email: "none@example.com", Seen: {}, Write: {} },
        ...emails.map((Email, index) => ({
          Email,
          Seen: { Status: "Active", FirstName: `${index}`, CustomFields: { note } },
          Write: { LastName: "L" }
        })),
        ...emails.map((Email) => ({ Email, Seen: null, Delete: true }))
      ])
      const of = (part: ReadonlyArray<Answer>) =>
        part.map(({ Contact, Lists, Result }) => [Result, Contact?.FirstName, Contact?.CustomFields, Lists])
      const shown = emails.map((_, index) => ["Outdated", `${index}`, { note }, ["large"]])
      assert.deepStrictEqual<unknown>(of(answers.slice(0, 120)), shown)
      assert.deepStrictEqual(answers[120], { Result: "Outdated", Contact: null, Lists: [] })
      assert.isTrue(answers.slice(121, 241).every(({ Result }) => Result === "Done"))
      assert.deepStrictEqual<unknown>(of(answers.slice(241)), shown)
    })
  )

  it.effect("of many who saw the same, one wins, and a change of one address waits for no other", () =>
    Effect.gen(function* () {
      const email = "race@example.com"
      for (const seen of [null, { Status: "Active", FirstName: "0" }]) {
        const changes = Array.from({ length: 30 }, (_, index) =>
          change([
            { Email: email, Seen: seen, Write: { FirstName: seen === null ? "0" : `n${index}`, LastName: `${index}` } }
          ])
        )
        const answers = (yield* Effect.all(changes, { concurrency: "unbounded" })).flat()
        const done = answers.flatMap(({ Result }, index) => (Result === "Done" ? [index] : []))
        assert.strictEqual(done.length, 1)
        assert.isTrue(answers.every(({ Result }) => Result === "Done" || Result === "Outdated"))
        const now = Object(succeeded(yield* ask("GET", `/contacts/${email}`)))
        assert.strictEqual(now.LastName, `${done[0]}`)
        succeeded(yield* askJson("PUT", `/contacts/${email}`, { LastName: "" }))
      }
    })
  )
})
