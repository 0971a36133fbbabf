/** Runs and exports in Chromium: an undo as it was previewed, a file that is saved. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { actionTimeout, hasBrowser } from "../browser/Browser.ts"
import { assertAccessible, assertIntact, hostileTexts, openStudio, servedStudio } from "./StudioPage.ts"

const filled = Effect.gen(function* () {
  const studio = yield* servedStudio
  yield* studio.contacts.add(
    [0, 1, 2].map((index) => ({
      email: `c${index}@example.com`,
      firstName: "A",
      customFields: { Stadt: hostileTexts[0] }
    }))
  )
  return studio
})

describe.skipIf(!hasBrowser)("the work on the page in Chromium", () => {
  it.live(
    "undoes a run as it was previewed, and leaves what others did since",
    () =>
      Effect.gen(function* () {
        const studio = yield* filled
        const small = { viewport: { width: 375, height: 700 }, colorScheme: "dark" } as const
        const { page, reports } = yield* openStudio(studio, small)
        yield* Effect.promise(async () => {
          await page.getByText("3 contacts").waitFor()
          await page.getByRole("button", { name: "c0@example.com" }).click()
          await page.getByLabel("First name").fill(hostileTexts[0])
          await page.getByLabel("Last name").fill("B")
          await page.getByRole("button", { name: "Save", exact: true }).click()
          await page.getByText("Saved.").waitFor()
          await page.keyboard.press("Escape")
        })
        yield* studio.contacts.update("c0@example.com", { lastName: "Theirs" })
        yield* Effect.promise(async () => {
          await page.getByRole("link", { name: "History" }).click()
          await page
            .getByRole("row", { name: /Change of contacts/ })
            .getByRole("button")
            .first()
            .click()
          await page.getByRole("cell", { name: hostileTexts[0] }).waitFor()
        })
        yield* assertAccessible(page, "a run")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Preview the undo…" }).click()
          await page.getByText("1 contact would be changed back.").waitFor()
          await page.getByText("1 contact changed since: what others wrote would stay.").waitFor()
          await page.getByRole("cell", { name: "Theirs stays" }).waitFor()
        })
        yield* assertAccessible(page, "the preview of an undo")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Undo: change 1 contact" }).click()
          await page.getByText("Undone: 1 contact changed back.").waitFor()
        })
        assert.deepInclude(yield* studio.contacts.get("c0@example.com"), { firstName: "A", lastName: "Theirs" })
        yield* assertIntact(page)
        assert.deepStrictEqual(reports(), [])
      }),
    3 * actionTimeout
  )

  it.live(
    "exports a file",
    () =>
      Effect.gen(function* () {
        const studio = yield* filled
        const { page, reports } = yield* openStudio(studio)
        yield* Effect.promise(async () => {
          await page.getByRole("link", { name: "Export" }).click()
          await page.getByRole("button", { name: "Export all contacts: 3" }).click()
          const link = page.getByRole("link", { name: "Download" })
          await link.waitFor()
          const [download] = await Promise.all([page.waitForEvent("download"), link.click()])
          assert.include(readFileSync(await download.path(), "utf8"), "c2@example.com")
        })
        yield* assertAccessible(page, "the exports")
        assert.deepStrictEqual(reports(), [])
      }),
    4 * actionTimeout
  )
})
