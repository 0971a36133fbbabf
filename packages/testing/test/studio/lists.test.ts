/** Choosing, lists and what is done to many in Chromium: by keyboard, on a small window, with hostile names. */
import { assert, describe, it } from "@effect/vitest"
import { Rule } from "@roster/domain"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { actionTimeout, hasBrowser } from "../browser/Browser.ts"
import {
  assertAccessible,
  assertIntact,
  assertReachable,
  hostileTexts,
  openStudio,
  servedStudio
} from "./StudioPage.ts"

const [markup, turned] = hostileTexts

const filled = Effect.gen(function* () {
  const studio = yield* servedStudio
  yield* studio.contacts.add(
    Array.from({ length: 60 }, (_, index) => ({
      email: `c${index}@example.com`,
      status: index === 0 ? ("Unsubscribed" as const) : ("Inactive" as const)
    }))
  )
  yield* studio.lists.create({ listName: "Newsletter" })
  yield* studio.lists.create({ listName: markup, emails: ["c5@example.com", "c6@example.com"] })
  yield* studio.lists.create({ listName: turned })
  const countOn = (name: string) =>
    Effect.map(studio.contacts.count({ rule: Rule.print(Rule.onList(name)) }), ({ count }) => count)
  return { ...studio, countOn }
})

describe.skipIf(!hasBrowser)("choosing and lists in Chromium", () => {
  it.live(
    "chooses by Shift and over pages, puts the chosen on a list whose name it asks about, and takes that back",
    () =>
      Effect.gen(function* () {
        const studio = yield* filled
        const { page, reports } = yield* openStudio(studio, { viewport: { width: 375, height: 700 } })
        const box = (email: string) => page.getByRole("checkbox", { name: `Choose ${email}@example.com` })
        const press = async (...keys: ReadonlyArray<string>): Promise<void> => {
          for (const key of keys) await page.keyboard.press(key)
        }
        yield* Effect.promise(async () => {
          await page.getByText("1 to 50 of 60 contacts").waitFor()
          // By keyboard, from the last one chosen on, and row by row.
          await box("c1").focus()
          await press("Space", "ArrowDown", "ArrowDown", "Shift+Space", "Shift+ArrowDown")
          await page.getByRole("status").getByText("4 chosen", { exact: true }).waitFor()
          // By mouse, also what is left out again, and no text is selected meanwhile.
          await box("c8").click()
          await box("c12").click({ modifiers: ["Shift"] })
          await page.getByText("9 chosen").waitFor()
          await box("c11").click()
          await box("c9").click({ modifiers: ["Shift"] })
          await page.getByText("6 chosen").waitFor()
          assert.strictEqual(await page.evaluate(() => String(getSelection())), "")
          await page.getByRole("button", { name: "Next" }).click()
          await box("c59").waitFor()
          await page.getByRole("checkbox", { name: "Choose all of this page" }).check()
          await page.getByText("16 chosen").waitFor()
        })
        yield* assertAccessible(page, "the chosen")
        yield* assertIntact(page)
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Lists…" }).focus()
          await press("Enter")
          await page.getByLabel("Name of the list").fill("Newslettr")
          await page.getByText("There is no such list, and there is Newsletter.").waitFor()
          assert.isTrue(await page.getByRole("button", { name: "Show what changes" }).isDisabled())
        })
        yield* assertAccessible(page, "a list that is nearly another")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "It is Newsletter" }).focus()
          await press("Enter")
          await page.getByRole("button", { name: "Show what changes" }).focus()
          await press("Enter")
          await page.getByRole("button", { name: "Put 16 contacts on the list Newsletter" }).focus()
          await press("Enter")
          await page.getByText("Done: 16 contacts changed.").waitFor()
          await page.locator(":focus").getByText("On the list Newsletter").waitFor()
        })
        assert.strictEqual(yield* studio.countOn("newsletter"), 16)
        yield* assertAccessible(page, "what was done")
        yield* assertReachable(page, "what was done")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Undo" }).click()
          await page.getByText("Undone: 16 contacts changed back.").waitFor()
          await page.getByRole("button", { name: "Put away" }).click()
          await page.getByText("Undone:").waitFor({ state: "detached" })

          // All but one: who left keeps the status unless it is said that they asked for mail.
          await page.getByRole("button", { name: "Choose all 60" }).click()
          await page.getByText("All 60 chosen").waitFor()
          await box("c59").uncheck()
          await page.getByText("59 chosen").waitFor()
          await page.getByRole("button", { name: "Status…" }).click()
          assert.isTrue(await page.getByRole("button", { name: "Show what changes" }).isDisabled())
          await page.getByLabel("New status").selectOption("Active")
          await page.getByRole("button", { name: "Show what changes" }).click()
          await page.getByText("This would change 58 contacts. 1 contact left, complained").waitFor()
          await page.getByLabel(/they asked for mail again$/).check()
          await page.getByText("This would change 59 contacts").waitFor()
          await page.getByLabel(/they asked for mail again$/).uncheck()
          await page.getByText("This would change 58 contacts").waitFor()
          const confirm = page.getByRole("button", { name: "Change 58 contacts" })
          assert.isTrue(await confirm.isDisabled())
          await page.getByLabel(/^Type the number/).fill("58")
          await confirm.click()
          await page.getByText("Done: 58 contacts changed.").waitFor()
        })
        assert.strictEqual((yield* studio.contacts.count({ rule: "status = Active" })).count, 58)
        assert.strictEqual((yield* studio.contacts.get("c59@example.com")).status, "Inactive")
        assert.deepStrictEqual(reports(), [])
      }),
    4 * actionTimeout
  )

  it.live(
    "makes, renames, exports and deletes a list, whose people stay, and changes the lists of a contact",
    () =>
      Effect.gen(function* () {
        const studio = yield* filled
        const small = { viewport: { width: 375, height: 700 }, colorScheme: "dark" } as const
        const { page, reports } = yield* openStudio(studio, small)
        yield* Effect.promise(async () => {
          await page.getByRole("link", { name: "Lists", exact: true }).click()
          await page.getByRole("rowheader", { name: markup }).waitFor()
          await page.getByLabel("New list").fill("VIP")
          await page.getByRole("button", { name: "Make it" }).click()
          await page.getByText("The list VIP is made.").waitFor()
        })
        yield* assertAccessible(page, "the lists")
        yield* assertIntact(page)
        yield* assertReachable(page, "the lists")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Rename VIP" }).click()
          await page.getByLabel("Its new name").fill("newsletter")
          await page.getByRole("button", { name: "Rename it" }).click()
          await page.getByRole("alert").getByText("is taken").waitFor()
          await page.getByLabel("Its new name").fill("VIPs")
          await page.getByRole("button", { name: "Rename it" }).click()
          await page.getByText("The list VIP is now VIPs.").waitFor()
          await page.getByRole("button", { name: `Delete ${markup}` }).click()
          await page.getByText("2 contacts on it: they stay").waitFor()
        })
        yield* assertAccessible(page, "the deletion of a list")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Delete the list" }).click()
          await page.getByText(`The list ${markup} is deleted`).waitFor()
        })
        assert.deepStrictEqual([(yield* studio.lists.list()).length, (yield* studio.contacts.count()).count], [3, 60])
        yield* Effect.promise(async () => {
          await page.getByRole("group", { name: "What was done" }).getByRole("button", { name: "Undo" }).click()
          await page.getByText("Undone: 2 contacts changed back.").waitFor()
          await page.getByRole("button", { name: "Put away" }).click()
        })
        assert.strictEqual(yield* studio.countOn(markup), 2)
        yield* Effect.promise(async () => {
          await page.getByRole("link", { name: markup, exact: true }).click()
          await page.getByText("2 contacts", { exact: true }).waitFor()
          await page.getByRole("button", { name: "c6@example.com" }).click()
          await page.getByRole("dialog").getByLabel("Another list").fill("VIPs")
          await page.getByRole("button", { name: "Put on it" }).click()
          await page.getByText("On the list VIPs.").waitFor()
        })
        yield* assertAccessible(page, "the lists of a contact")
        assert.strictEqual(yield* studio.countOn("VIPs"), 1)
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: `Take off ${markup}` }).click()
          await page.getByText(`Off the list ${markup}.`).waitFor()
          await page.getByRole("button", { name: "Undo" }).click()
          await page.getByText("Undone: 1 contact changed back.").waitFor()
          await page.keyboard.press("Escape")
          await page.getByRole("checkbox", { name: "Choose c6@example.com" }).check()
          await page.getByRole("link", { name: "Export…" }).click()
          await page.getByLabel("Only the 1 chosen").waitFor()
          await page.getByRole("button", { name: "Export the chosen: 1" }).click()
          const link = page.getByRole("link", { name: "Download" })
          await link.waitFor()
          const [download] = await Promise.all([page.waitForEvent("download"), link.click()])
          const rows = readFileSync(await download.path(), "utf8").match(/c\d+@example/g)
          assert.deepStrictEqual(rows, ["c6@example"])
        })
        assert.strictEqual(yield* studio.countOn(markup), 2)
        assert.deepStrictEqual(
          reports().filter((text) => !/status of 409 /.test(text)),
          []
        )
      }),
    4 * actionTimeout
  )
})
