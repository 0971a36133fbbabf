/** The ten most frequent tasks by the keyboard alone, from signing in on: no pointer is moved, and the focus goes where one goes on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { actionTimeout, browser, hasBrowser, openIn } from "../browser/Browser.ts"
import { servedStudio } from "./StudioPage.ts"

/** More presses of Tab than any view has stops. */
const mostStops = 150

/** What a person does with the keyboard. */
const keyboardOf = (page: Page) => {
  const press = (key: string) => page.keyboard.press(key)
  /** Goes to something by Tab, from where the focus is. */
  const to = async (target: Locator): Promise<void> => {
    await target.waitFor()
    for (let at = 0; at < mostStops; at++) {
      if (await target.evaluate((one) => one === document.activeElement)) return
      await press("Tab")
    }
    assert.fail(`Tab does not come to ${String(target)}`)
  }
  return {
    press,
    to,
    /** Writes a text in place of what a field has. */
    write: async (field: Locator, text: string): Promise<void> => {
      await to(field)
      await press("ControlOrMeta+A")
      await page.keyboard.type(text)
    },
    /** Chooses by the first letters of what is to be chosen. */
    choose: async (field: Locator, letters: string): Promise<void> => {
      await to(field)
      await page.keyboard.type(letters)
    },
    use: async (target: Locator): Promise<void> => {
      await to(target)
      await press("Enter")
    }
  }
}

describe.skipIf(!hasBrowser)("the page in Chromium, by the keyboard alone", () => {
  it.live(
    "does the ten most frequent tasks",
    () =>
      Effect.gen(function* () {
        const studio = yield* servedStudio
        const { contacts, key, lists, url } = studio
        yield* contacts.add(
          ["ann", "bob", "cem", "dora"].map((name) => ({
            email: `${name}@example.com`,
            firstName: name,
            lastName: "Meyer"
          }))
        )
        yield* lists.create({ listName: "News" })
        const { page } = yield* openIn(yield* browser, url)
        const { choose, press, to, use, write } = keyboardOf(page)
        const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true })
        const dialog = page.getByRole("dialog")
        const view = (name: string) => page.getByRole("navigation").getByRole("link", { name, exact: true })
        const box = page.getByRole("combobox", { name: "Name, address or filter" })
        const done = page.getByRole("group", { name: "What was done" })
        const get = (name: string) => contacts.get(`${name}@example.com`, { lists: true })

        yield* Effect.promise(async () => {
          await write(page.getByLabel("API key"), key)
          await press("Enter")

          // 1. Find somebody by a part of the name. 2. Correct a name.
          await page.getByText("4 contacts").waitFor()
          await write(box, "ann mey")
          await press("Escape")
          await press("Enter")
          await page.getByText("1 contact", { exact: true }).waitFor()
          await use(button("ann@example.com"))
          await write(dialog.getByLabel("First name"), "Annabel")
          await press("Enter")
          await page.getByText("Saved.").waitFor()

          // 3. Unsubscribe.
          await choose(dialog.getByLabel("Status"), "Uns")
          await use(button("Save"))
          await dialog.getByText("gets none while the status is Unsubscribed").waitFor()
          await press("Escape")
          await dialog.waitFor({ state: "detached" })
          // Back at the row that was opened.
          assert.strictEqual(await page.evaluate(() => document.activeElement?.textContent), "ann@example.com")

          // 4. Add somebody.
          await use(button("Show all"))
          await page.getByText("4 contacts").waitFor()
          await use(button("Add a contact…"))
          await write(dialog.getByLabel("E-mail address"), "eve@example.com")
          await press("Enter")
          await page.getByRole("dialog", { name: "eve@example.com" }).waitFor()
          await press("Escape")

          // 5. Put some on a list.
          await to(page.getByLabel("Choose bob@example.com"))
          await press("Space")
          await press("Shift+ArrowDown")
          await page.getByText("2 chosen").waitFor()
          await use(button("Lists…"))
          await write(dialog.getByLabel("Name of the list"), "News")
          await press("Enter")
          await use(button("Put 2 contacts on the list News"))
          await done.getByText("2 contacts changed").waitFor()

          // 6. Export the chosen.
          await use(page.getByRole("link", { name: "Export…" }))
          await to(page.getByLabel("Only the 2 chosen"))
          await use(button("Export the chosen: 2"))
          await page.getByText("ready", { exact: true }).waitFor()

          // 7. Delete somebody, and take it back.
          await use(view("Contacts"))
          await write(box, "dora@example.com")
          await press("Enter")
          await use(dialog.getByRole("button", { name: "Delete…" }))
          await use(button("Delete 1 contact"))
          await done.getByText("1 contact deleted").waitFor()
          await use(done.getByRole("button", { name: "Undo" }))
          await done.getByText("1 contact added again").waitFor()

          // 8. Import a file.
          await use(view("Import"))
          const chooser = page.waitForEvent("filechooser")
          await use(page.locator("input[type=file]"))
          const buffer = Buffer.from("Email,FirstName\nfay@example.com,Fay\n")
          await (await chooser).setFiles({ name: "people.csv", mimeType: "text/csv", buffer })
          await use(button("Continue"))
          await page.getByText("2. Columns").waitFor()
          await use(button("Continue"))
          await page.getByText("3. Check").waitFor()
          await use(button("Plan").last())
          await use(button("Add 1 contact"))
          await page.getByText("The import came to its end:").waitFor()

          // 9. Undo it in the history.
          await use(view("History"))
          await use(page.getByRole("row", { name: /Import: people\.csv/ }).getByRole("button", { name: /^Undo/ }))
          await use(button("Undo: change 1 contact"))
          await page.getByText("Undone: 1 contact deleted.").waitFor()

          // 10. Make a key.
          await use(view("Keys"))
          await use(button("New key…"))
          await write(dialog.getByLabel("Name, such as the program that uses it"), "shop")
          await to(dialog.getByLabel(/^Read all contacts/))
          await press("Space")
          await use(button("Make it, and show its secret"))
          await to(dialog.getByLabel("I have kept the secret"))
          await press("Space")
          await use(button("Done"))
          await page
            .getByRole("rowheader", { name: "shop" })
            .or(page.getByRole("cell", { name: "shop" }))
            .first()
            .waitFor()
        })
        const ann = yield* get("ann")
        assert.deepStrictEqual([ann.firstName, ann.status], ["Annabel", "Unsubscribed"])
        assert.deepStrictEqual([(yield* get("bob")).lists, (yield* get("cem")).lists], [["News"], ["News"]])
        assert.strictEqual((yield* contacts.count()).count, 5)
      }),
    4 * actionTimeout
  )
})
