/** Contacts that are found in Chromium: by words, an address, clicks and pasted addresses, and the view in the address of the page. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { actionTimeout, hasBrowser } from "../browser/Browser.ts"
import {
  assertAccessible,
  assertIntact,
  assertReachable,
  hostileTexts,
  openStudio,
  servedStudio
} from "./StudioPage.ts"

const filled = Effect.gen(function* () {
  const studio = yield* servedStudio
  yield* studio.contacts.add([
    ...Array.from({ length: 60 }, (_, at) => ({
      email: `c${at}@example.com`,
      firstName: `N${at}`,
      lastName: at % 2 === 0 ? "O'Hara" : "Meyer",
      status: at % 3 === 0 ? ("Stale" as const) : ("Active" as const),
      customFields: { Stadt: at % 2 === 0 ? "Köln" : "Paris" }
    })),
    ...hostileTexts.map((text, at) => ({ email: `h${at}@example.com`, firstName: text.slice(0, 1000) }))
  ])
  return studio
})

describe.skipIf(!hasBrowser)("finding contacts in Chromium", () => {
  it.live(
    "takes words, an address and a rule with a mistake for what they are, clicks for the same rule, and the address of the page for the view",
    () =>
      Effect.gen(function* () {
        const { page, reports, requests } = yield* openStudio(yield* filled)
        const box = page.getByRole("combobox", { name: "Name, address or filter" })
        const hash = () => page.evaluate(() => decodeURIComponent(location.hash).replaceAll("+", " "))
        const find = async (text: string): Promise<void> => {
          await box.fill(text)
          await page.keyboard.press("Escape")
          await page.keyboard.press("Enter")
        }
        yield* Effect.promise(async () => {
          await page.getByText("1 to 50 of 64 contacts").waitFor()
          await find("o'hara n1")
          await page.getByText("Whoever has “o'hara” and “n1” in the address, first or last name.").waitFor()
          await page.getByText("5 contacts", { exact: true }).waitFor()
          await find("Ann <C3@example.com>")
          await page.getByRole("dialog", { name: "c3@example.com" }).waitFor()
          await page.keyboard.press("Escape")
          await find("nobody@example.com")
          await page.getByText("Nobody has the address nobody@example.com.").waitFor()
          await page.getByRole("button", { name: "Add this contact…" }).waitFor()
          // A rule with a mistake says so, and is words only if somebody wants that.
          await find("Status = Activ")
          assert.include(await page.getByRole("alert").innerText(), "^^^^^")
          assert.strictEqual(await box.inputValue(), "Status = Activ")
          await page.getByRole("button", { name: "Look for Status and Activ in addresses and names instead" }).waitFor()
        })
        yield* assertAccessible(page, "a rule with a mistake")

        yield* Effect.promise(async () => {
          await find("meyer")
          await page.getByText("30 contacts", { exact: true }).waitFor()
          await page.getByText("Filters", { exact: true }).focus()
          await page.keyboard.press("Enter")
          await page.getByRole("checkbox", { name: "Stale" }).focus()
          await page.keyboard.press("Space")
          await page.getByText("10 contacts", { exact: true }).waitFor()
          assert.match(await box.inputValue(), /lastname contains 'meyer'\) AND status = Stale$/)
          await page.getByLabel("Field").selectOption("Stadt")
          await page.getByLabel("Its value").fill("O'Köln")
          await page.keyboard.press("Enter")
          await page.getByText("No contact matches").waitFor()
          assert.match(await hash(), /^#contacts\?rule=.* AND Stadt = 'O''Köln'$/)
        })
        yield* assertAccessible(page, "the filters")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Remove the filter Stadt: O'Köln" }).click()
          await page.getByText("10 contacts", { exact: true }).waitFor()
          await page.getByRole("button", { name: "Remove the filter Status: Stale" }).click()
          await page.getByText("30 contacts", { exact: true }).waitFor()
          assert.strictEqual(await box.inputValue(), "meyer")
          // The button of the browser leads back, rule, words and all.
          await page.goBack()
          await page.getByText("10 contacts", { exact: true }).waitFor()
          await page.goForward()
          await page.getByText("30 contacts", { exact: true }).waitFor()
          assert.strictEqual(await box.inputValue(), "meyer")
          await page.getByRole("link", { name: "Import" }).click()
          await page.getByRole("link", { name: "Contacts" }).click()
          await page.getByText("30 contacts", { exact: true }).waitFor()
        })

        yield* Effect.promise(async () => {
          const open = (text: string) => page.evaluate((text) => (location.hash = text), text)
          await open("contacts?column=Stadt&sort=-added&page=2&rows=25&rule=email+contains+'c'")
          await page.getByText("26 to 50 of 64 contacts").waitFor()
          await page.getByRole("columnheader", { name: "Stadt" }).waitFor()
          await open(`contacts?rule=${hostileTexts[0]}&x=<b>${hostileTexts[0]}&page=-1`)
          await page.getByText("The filter in the address has a mistake").waitFor()
          await page.getByText("1 to 50 of 64 contacts").waitFor()
          await open(`nowhere?${"x".repeat(5000)}`)
          await page.getByText("The address names no view of this page").waitFor()
        })
        yield* assertIntact(page)
        assert.deepStrictEqual(reports(), [])
        // No server learns what is looked for by an address of its own.
        assert.notMatch(requests.join("\n"), /nobody@example\.com|nobody%40/)
      }),
    3 * actionTimeout
  )

  it.live(
    "makes pasted addresses chosen contacts, adds those that nobody has by a plan, and fits a window of 375 pixels",
    () =>
      Effect.gen(function* () {
        const studio = yield* filled
        const { page, reports } = yield* openStudio(studio, { viewport: { width: 375, height: 700 } })
        const dialog = page.getByRole("dialog", { name: "Pasted addresses" })
        const text = `"C, D" <c1@example.com>; C2@example.com\r\nmailto:c3@example.com\tc2@example.com\nnew@example.com, x@@example.com ${hostileTexts[0]}`
        yield* Effect.promise(async () => {
          await page.getByText("1 to 50 of 64 contacts").waitFor()
          await page.getByRole("combobox", { name: "Name, address or filter" }).focus()
          await page.evaluate((text) => {
            const clipboardData = new DataTransfer()
            clipboardData.setData("text/plain", text)
            const options = { clipboardData, bubbles: true, cancelable: true }
            document.activeElement?.dispatchEvent(new ClipboardEvent("paste", options))
          }, text)
          await dialog.getByText(/^4 addresses: 3 known, 1 unknown, 1 repeated; \d parts? of the text/).waitFor()
          for (const summary of await dialog.locator("summary").all()) await summary.click()
        })
        yield* assertAccessible(page, "pasted addresses")
        yield* assertReachable(page, "pasted addresses")
        yield* assertIntact(page)
        yield* Effect.promise(async () => {
          await dialog.getByRole("button", { name: "Add 1 contact…" }).click()
          await page.getByText("This would add 1 contact").waitFor()
          await page.getByRole("button", { name: "Add 1 contact", exact: true }).click()
          await page.getByText("1 to 50 of 65 contacts").waitFor()
          await page.getByRole("button", { name: "Paste addresses…" }).click()
          await dialog.getByRole("textbox").fill(text)
          await dialog.getByRole("button", { name: "Look them up" }).click()
          await dialog.getByRole("button", { name: "Choose 4 contacts and show them" }).click()
          await page.getByText("4 contacts", { exact: true }).waitFor()
          assert.isTrue(await page.getByLabel("Show the chosen alone").isChecked())
          await page.getByText("4 chosen").waitFor()
          await page.getByText("Filters", { exact: true }).click()
          await page.getByRole("checkbox", { name: "Stale" }).waitFor()
        })
        yield* assertIntact(page)
        assert.strictEqual((yield* studio.contacts.get("new@example.com")).status, "Active")
        assert.deepStrictEqual(reports(), [])
      }),
    3 * actionTimeout
  )
})
