/** What the keys view does, without a browser: secrets that are shown once, findings, rotations and the last managing key. */
import { assert, describe, it } from "@effect/vitest"
import type { ApiKey } from "@roster/domain"
import { DateTime, Effect, Fiber, Redacted } from "effect"
import * as KeyAtoms from "../../src/keys/KeyAtoms.ts"
import { actionOf, findingWords } from "../../src/keys/KeyWords.ts"
import { studioStore } from "../StudioStore.ts"
import { takenCommand } from "../TakenCommand.ts"

const settings = {
  name: "reporting",
  levels: ["ViewContacts"],
  days: 90,
  addresses: "192.0.2.0/24\n2001:db8::1"
} as const satisfies KeyAtoms.KeySettings

const secretOf = (store: Effect.Success<typeof studioStore>) => store.until(KeyAtoms.shownSecret, (shown) => shown)

describe("the keys view", () => {
  it.effect("makes a key with what was chosen, shows its secret once, and changes only what is given", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      assert.strictEqual(
        takenCommand(KeyAtoms.createCommand("apikeys", settings, "")),
        "roster apikeys create reporting --access ViewContacts --expires 90d --ip-range 192.0.2.0/24 --ip-range 2001:db8::1"
      )
      yield* store.run(KeyAtoms.create, { kind: "apikeys", settings })
      const shown = store.registry.get(KeyAtoms.shownSecret)
      assert.match(Redacted.value(shown?.secret ?? Redacted.make("")), /^roster_\w{20,}$/)
      const [made] = yield* store.result(KeyAtoms.keys)
      assert.deepStrictEqual([made?.levels, made?.key.ipRanges], [["ViewContacts"], ["192.0.2.0/24", "2001:db8::1"]])
      yield* store.run(KeyAtoms.change, { kind: "apikeys", name: "reporting", days: null })
      const [changed] = yield* store.result(KeyAtoms.keys)
      assert.deepInclude(changed?.key, { expires: null, ipRanges: ["192.0.2.0/24", "2001:db8::1"] })
      const refused = yield* Effect.flip(
        store.run(KeyAtoms.create, { kind: "apikeys", settings: { ...settings, name: "x", addresses: "here" } })
      )
      assert.include(refused.message, "192.0.2.7")
      yield* store.run(KeyAtoms.remove, { kind: "apikeys", name: "reporting" })
      assert.deepStrictEqual(yield* store.result(KeyAtoms.keys), [])
    })
  )

  it.effect("makes SMTP credentials, whose name is the login", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      yield* store.run(KeyAtoms.create, { kind: "smtp", settings: { ...settings, name: "shop@example.com" } })
      assert.strictEqual(store.registry.get(KeyAtoms.shownSecret)?.name, "shop@example.com")
      assert.deepStrictEqual(
        (yield* store.result(KeyAtoms.smtp)).map(({ key }) => key.name),
        ["shop@example.com"]
      )
    })
  )

  it.effect("rotates only after the secret is kept, and changes nothing if it is thrown away", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      yield* store.run(KeyAtoms.create, { kind: "apikeys", settings })
      store.registry.set(KeyAtoms.shownSecret, undefined)
      const [before] = yield* store.result(KeyAtoms.keys)

      const thrown = yield* Effect.forkChild(
        Effect.flip(store.run(KeyAtoms.rotate, { kind: "apikeys", name: "reporting" }))
      )
      const first = yield* secretOf(store)
      store.registry.set(KeyAtoms.shownSecret, undefined)
      first.onKept?.(false)
      assert.include((yield* Fiber.join(thrown)).message, "thrown away")
      assert.deepStrictEqual(
        (yield* store.result(KeyAtoms.keys)).map(({ key }) => key),
        [before?.key]
      )

      const kept = yield* Effect.forkChild(store.run(KeyAtoms.rotate, { kind: "apikeys", name: "reporting" }))
      const second = yield* secretOf(store)
      second.onKept?.(true)
      const { old } = yield* Fiber.join(kept)
      assert.match(old[0]?.name ?? "", /^reporting~old-\d{4}-\d\d-\d\d$/)
      assert.deepStrictEqual(
        (yield* store.result(KeyAtoms.keys)).map(({ key }) => key.name),
        [old[0]?.name, "reporting"]
      )
      store.registry.set(KeyAtoms.shownSecret, undefined)

      store.registry.set(KeyAtoms.grace, "0 seconds")
      const leaked = yield* Effect.forkChild(store.run(KeyAtoms.rotate, { kind: "apikeys", name: "reporting" }))
      const third = yield* secretOf(store)
      third.onKept?.(true)
      assert.deepStrictEqual(yield* Fiber.join(leaked), { name: "reporting", old, isResumed: false })
    })
  )

  it("finds the last key that manages keys, and names one action for each finding", () => {
    const now = DateTime.makeUnsafe("2026-11-26T12:00:00Z")
    const key = (name: string, expires: DateTime.Utc | null): ApiKey => ({
      name,
      accessLevels: ["ModifyAccessTokens"],
      ipRanges: [],
      expires,
      dateCreated: DateTime.makeUnsafe("2026-01-01T00:00:00Z"),
      lastUse: null
    })
    const past = DateTime.makeUnsafe("2026-11-01T00:00:00Z")
    const listed = KeyAtoms.listedKeys([key("admin", null), key("old", past)], now)
    const used = {
      ...key("ci~old-2026-11-27", DateTime.add(now, { hours: 9 })),
      lastUse: DateTime.add(now, { hours: -23 })
    }
    const [replaced] = KeyAtoms.listedKeys([used], now).flatMap(({ findings }) => findings)
    assert.deepStrictEqual(replaced && [replaced._tag, actionOf(replaced)], ["ReplacedInUse", "Change"])
    assert.notMatch(replaced ? findingWords(replaced) : "", /T\d\d:/)
    assert.deepStrictEqual(
      listed.map(({ isLastManaging }) => isLastManaging),
      [true, false]
    )
    assert.deepStrictEqual(
      listed.map(({ findings }) => findings.map((finding) => [finding._tag, actionOf(finding)])),
      [
        [
          ["NeverUsed", "Delete"],
          ["ManagesKeys", "Change"],
          ["UsableFromEverywhere", "Change"]
        ],
        [
          ["Expired", "Delete"],
          ["NeverUsed", "Delete"],
          ["ManagesKeys", "Change"],
          ["UsableFromEverywhere", "Change"]
        ]
      ]
    )
    for (const { findings } of listed) for (const finding of findings) assert.notMatch(findingWords(finding), /T\d\d:/)
    assert.isFalse(
      KeyAtoms.listedKeys([key("a", null), key("b", null)], now).some(({ isLastManaging }) => isLastManaging)
    )
  })
})
