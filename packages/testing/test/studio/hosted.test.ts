/** The page of `roster studio` in Chromium, served by this process: a protected profile. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { actionTimeout, browser, hasBrowser, openIn } from "../browser/Browser.ts"
import { hostedStudio } from "./StudioPage.ts"

describe.skipIf(!hasBrowser)("the page of roster studio in Chromium", () => {
  it.live(
    "asks for the name of a protected profile before anything is deleted or undone",
    () =>
      Effect.gen(function* () {
        const studio = yield* hostedStudio({ protectedBy: "production", isStore: false })
        yield* studio.contacts.add([{ email: "ann@example.com" }, { email: "bob@example.com" }])
        const { page } = yield* openIn(yield* browser, studio.address)
        const name = page.getByLabel(/^The profile is protected/)
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "ann@example.com" }).click()
          await page.getByRole("dialog").getByRole("button", { name: "Delete…" }).click()
          const confirm = page.getByRole("button", { name: "Delete 1 contact" })
          await name.fill("prod")
          assert.isTrue(await confirm.isDisabled())
          await name.press("Enter")
          assert.isTrue(await confirm.isVisible())
          await name.fill("production")
          await name.press("Enter")
          await page.getByText("Deleted 1 contact.").waitFor()
          assert.isTrue(await page.getByRole("button", { name: "Undo" }).isDisabled())
          await page.getByRole("button", { name: "Close" }).click()
          await page.getByRole("link", { name: "Runs" }).click()
          await page
            .getByRole("row", { name: /Deletion/ })
            .getByRole("button")
            .click()
          await page.getByRole("button", { name: "Preview the undo…" }).click()
          const undo = page.getByRole("button", { name: "Undo: change 1 contact" })
          await undo.waitFor()
          assert.isTrue(await undo.isDisabled())
          await name.fill("production")
          await undo.click()
          await page.getByText("Undone: 1 contact added again.").waitFor()
        })
        assert.strictEqual(yield* studio.contacts.count(), 2)
      }),
    3 * actionTimeout
  )
})
