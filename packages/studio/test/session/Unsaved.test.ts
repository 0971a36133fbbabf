/** What the browser asks about before a reload, which each room says of what its atoms hold. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { draft, editedOf } from "../../src/contacts/ContactEdit.ts"
import { wanted } from "../../src/contacts/ContactSelection.ts"
import * as ContactPlan from "../../src/plans/ContactPlan.ts"
import { choose } from "../../src/imports/ImportApply.ts"
import * as ImportFile from "../../src/imports/ImportFile.ts"
import * as KeyAtoms from "../../src/keys/KeyAtoms.ts"
import { isUnsaved } from "../../src/session/Unsaved.tsx"
import { studioStore } from "../StudioStore.ts"

describe("a reload", () => {
  it.effect("is asked about while a form holds what is saved nowhere, whatever view is shown", () =>
    Effect.gen(function* () {
      const { contacts, registry, run } = yield* studioStore
      const service = yield* contacts
      const [seen] = yield* service.add([{ email: "a@example.com", firstName: "Ada" }])
      if (seen === undefined) return assert.fail("nobody was added")
      const edited = editedOf(seen)
      assert.isFalse(isUnsaved(registry))
      registry.set(draft, { email: seen.email, seen, edited: { ...edited, firstName: "Eve" } })
      assert.isTrue(isUnsaved(registry))
      registry.set(draft, { email: seen.email, seen, edited })
      assert.isFalse(isUnsaved(registry))

      registry.set(KeyAtoms.open, { _tag: "Create", kind: "smtp", levels: [] })
      assert.isFalse(isUnsaved(registry))
      registry.set(KeyAtoms.draft, { name: "shop", levels: [], ends: "90", addresses: "" })
      assert.isTrue(isUnsaved(registry))
      registry.set(KeyAtoms.open, undefined)
      assert.isFalse(isUnsaved(registry))
      registry.set(KeyAtoms.shownSecret, { kind: "smtp", name: "shop", secret: Redacted.make("s") })
      assert.isTrue(isUnsaved(registry))
      registry.set(KeyAtoms.shownSecret, undefined)

      choose(registry, new File(["Email\na@example.com\n"], "people.csv"))
      assert.isFalse(isUnsaved(registry))
      registry.set(ImportFile.edits, ImportFile.setColumn(registry.get(ImportFile.edits), "Email", null))
      assert.isTrue(isUnsaved(registry))
      choose(registry, undefined)
      assert.isFalse(isUnsaved(registry))

      const removal = { _tag: "Delete", meant: { _tag: "Chosen", emails: new Set([seen.email]) } } as const
      registry.set(wanted, removal)
      assert.isFalse(isUnsaved(registry))
      yield* run(ContactPlan.plan, removal)
      assert.isTrue(isUnsaved(registry))
      registry.set(wanted, undefined)
      assert.isFalse(isUnsaved(registry))
    })
  )
})
