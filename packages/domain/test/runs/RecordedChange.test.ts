import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Schema } from "effect"
import {
  type ContactState,
  digestOf,
  FieldValue,
  hasPart,
  isAddedAt,
  partsOf,
  stateOf,
  writeOf
} from "../../src/runs/ContactState.ts"
import { changeOf, checkRunPage, erasedChange, type RunChangesPage } from "../../src/runs/RecordedChange.ts"

// Few names and values, so that states often share some.
const state = Arbitrary.schema(
  Schema.Record(
    Schema.Literals(["Status", "FirstName", "CustomFields.city", "Lists.news"]),
    Schema.optionalKey(FieldValue)
  )
)
const pair = Arbitrary.schema(Schema.Tuple([Schema.Literals(["a", "b"]), Schema.Literals(["a", "b", "c"])]))

// JSON has no -0.
const withValues = (fields: object): ContactState =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value === 0 ? 0 : value]]))
  )

/** A state in which who is on a list is on it, however that was spelled. */
const unspelled = (fields: ContactState): ContactState =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, name === "Lists.news" ? "" : value]))

describe("a recorded change", () => {
  it.prop("holds what leads from either state to the other", [state, state, pair], ([one, other]) => {
    const [before, after] = [withValues(one), withValues(other)]
    const change = changeOf("ada@example.com", before, after)
    const forth = { ...before }
    const back = { ...after }
    for (const [field, [old, value]] of Object.entries(change?.fields ?? {})) {
      if (value === null) delete forth[field]
      else forth[field] = value
      if (old === null) delete back[field]
      else back[field] = old
    }
    assert.deepStrictEqual([forth, back].map(unspelled), [after, before].map(unspelled))
    assert.strictEqual(change?.after, change === undefined ? undefined : digestOf(after))
  })

  it("of a new contact is digests alone, of a deleted one all that it was, and of no change nothing", () => {
    const ada = { Email: "ada@example.com", FirstName: "Ada", "Lists.news": "" }
    assert.deepStrictEqual(changeOf("ada@example.com", undefined, ada), {
      email: "ada@example.com",
      effect: "Created",
      fields: {},
      after: digestOf(ada),
      parts: partsOf(ada)
    })
    assert.deepStrictEqual(changeOf("ada@example.com", ada, undefined), {
      email: "ada@example.com",
      effect: "Deleted",
      fields: { Email: ["ada@example.com", null], FirstName: ["Ada", null], "Lists.news": ["", null] },
      after: null
    })
    assert.isUndefined(changeOf("ada@example.com", ada, { ...ada }))
    assert.isUndefined(changeOf("ada@example.com", undefined, undefined))
  })

  it.effect("gives a list back as it was spelled, and takes no other spelling for another list", () =>
    Effect.gen(function* () {
      const before = stateOf("ada@example.com", {}, ["News"], { spelled: true })
      const after = stateOf("ada@example.com", {}, ["NEWS"])
      assert.isUndefined(changeOf("ada@example.com", before, after))
      assert.strictEqual(digestOf(before), digestOf(after))
      const off = changeOf("ada@example.com", before, stateOf("ada@example.com", {}))
      assert.deepStrictEqual(off?.fields, { "Lists.news": ["News", null] })
      assert.deepStrictEqual(yield* writeOf({ "Lists.news": "News" }), { addToLists: ["News"] })
      // Records of earlier versions have the folded name alone.
      assert.deepStrictEqual(yield* writeOf({ "Lists.news": "", "Lists.old": null }), {
        addToLists: ["news"],
        removeFromLists: ["old"]
      })
    })
  )

  it("is one too where a status was given again", () => {
    const dates = { given: "2026-11-28T10:00:01Z", before: "2026-11-28T10:00:00Z" }
    const change = changeOf("ada@example.com", { Status: "Bounced" }, { Status: "Bounced" }, { statusDate: dates })
    assert.deepStrictEqual([change?.effect, change?.fields, change?.statusDate], ["Changed", {}, dates])
  })

  it("keeps its effect alone once its person was erased", () => {
    const change = changeOf("ada@example.com", { FirstName: "Ada" }, { FirstName: "Augusta" })
    if (change === undefined) return assert.fail("nothing changed")
    assert.deepStrictEqual(erasedChange(change), { email: null, effect: "Changed", fields: {}, after: null })
  })
})

describe("the digests of the fields of a new contact", () => {
  it.prop("tell each value that it had, and no other one", [state, state], ([one, other]) => {
    const [fields, others] = [withValues(one), withValues(other)]
    const parts = partsOf(fields)
    for (const [field, value] of [...Object.entries(fields), ...Object.entries(others)]) {
      if (field !== "Email") assert.strictEqual(hasPart(parts, field, value), fields[field] === value, field)
    }
  })

  it("tell the date of its adding, and nothing of a record that has none", () => {
    const date = DateTime.makeUnsafe("2026-11-28T10:00:00Z")
    const parts = partsOf({ Status: "Active" }, date)
    assert.isTrue(isAddedAt(parts, date))
    assert.isFalse(isAddedAt(parts, DateTime.add(date, { seconds: 1 })))
    assert.isFalse(hasPart("", "Status", "Active"))
  })
})

describe("a page of changes", () => {
  const refused: ReadonlyArray<readonly [RunChangesPage, string]> = [
    [{ limit: 1001 }, "limit"],
    [{ limit: -1 }, "limit"],
    [{ after: 1.5 }, "after"],
    [{ before: -1 }, "before"],
    [{ after: 1, before: 9 }, "before"]
  ]
  it.effect.each(refused)("is refused: %j", ([page, field]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(checkRunPage(page))).field, field)
    })
  )

  it.effect.each([{}, { limit: 0 }, { limit: 1000, after: 0 }, { before: 12 }])("is taken: %j", (page) =>
    checkRunPage(page)
  )
})
