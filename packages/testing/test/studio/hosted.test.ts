/** The page of `roster studio` in Chromium, served by this process: a protected profile, and two tabs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { actionTimeout, browser, hasBrowser, openIn } from "../browser/Browser.ts"
import { hostedStudio, toStep } from "./StudioPage.ts"

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
          await page.getByText("Done: 1 contact deleted.").waitFor()
          assert.isTrue(await page.getByRole("button", { name: "Undo" }).isDisabled())
          await page.getByRole("button", { name: "Put away" }).click()
          await page.getByRole("link", { name: "History" }).click()
          await page
            .getByRole("row", { name: /Deletion/ })
            .getByRole("button")
            .first()
            .click()
          await page.getByRole("button", { name: "Preview the undo…" }).click()
          const undo = page.getByRole("button", { name: "Undo: change 1 contact" })
          await undo.waitFor()
          assert.isTrue(await undo.isDisabled())
          await name.fill("production")
          await undo.click()
          await page.getByText("Undone: 1 contact added again.").waitFor()
        })
        assert.strictEqual((yield* studio.contacts.count()).count, 2)
      }),
    3 * actionTimeout
  )

  it.live(
    "says in a second tab which run another one is at, and goes on with it once that tab was left",
    () =>
      Effect.gen(function* () {
        const studio = yield* hostedStudio({})
        const window = yield* browser
        const { page } = yield* openIn(window, studio.address)
        const { page: other } = yield* openIn(window, studio.address)
        const file = {
          name: "people.csv",
          mimeType: "text/csv",
          buffer: Buffer.from("Email\nann@example.com\nbob@example.com\n")
        }
        const planIn = async (tab: Page): Promise<void> => {
          await tab.getByRole("link", { name: "Import", exact: true }).click()
          await tab.locator("input[type=file]").first().setInputFiles(file)
          await toStep(tab, "Check")
          await tab.getByRole("button", { name: "Plan", exact: true }).click()
          await tab.getByText("2 rows: 2 new").waitFor()
        }
        /** Calls that change something. */
        const changes = /\/v4\/contacts\/changes$/
        const importRun = other.getByRole("row", { name: /Import: people\.csv/ })
        yield* Effect.promise(async () => {
          await planIn(page)
          // It gets no answer.
          await page.route(changes, () => undefined)
          page.on("dialog", (dialog) => dialog.accept())
          await page.getByRole("button", { name: "Add 2 contacts" }).click()
          await page.getByText("Keep this page open until all rows are done.").waitFor()
          await other.getByRole("link", { name: "History" }).click()
          await importRun.getByText("going on").waitFor()
          await importRun.getByRole("button").first().click()
          assert.isTrue(await other.getByRole("button", { name: "Preview the undo…" }).isDisabled())
          await page.reload()
          await page.unroute(changes)
          await page.getByRole("link", { name: "Import", exact: true }).click()
          await page.getByText("This page was left before an import of 2 rows came to its end.").waitFor()
          await other.getByText("interrupted", { exact: true }).waitFor()
          assert.isTrue(await other.getByRole("button", { name: "Preview the undo…" }).isEnabled())
          await planIn(page)
          await page.getByText("This is its file").waitFor()
          await page.getByRole("button", { name: "Add 2 contacts" }).click()
          await page.getByText("The import came to its end:").waitFor()
          await other.getByRole("button", { name: "Back to the history" }).click()
          await importRun.getByText("finished").waitFor()
        })
        assert.strictEqual((yield* studio.contacts.count()).count, 2)
      }),
    3 * actionTimeout
  )
})
