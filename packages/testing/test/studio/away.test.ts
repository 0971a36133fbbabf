/**
 * The network away at each click that asks the service, in every view: one sentence says so, nothing that was chosen or written is
 * lost, and the same click works once the network is back.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { actionTimeout, hasBrowser } from "../browser/Browser.ts"
import { openStudio, servedStudio } from "./StudioPage.ts"

const calls = /\/(v4|health)\//

/** Clicks while no call gets through, looks at what is said, and clicks again once calls do. */
const awayAt = (page: Page) => {
  const told = page.getByRole("alert").filter({ hasText: /the connection to \S+ broke/ })
  return async (what: string, click: (page: Page) => Promise<void>, done: Locator): Promise<void> => {
    await page.route(calls, (route) => route.abort("internetdisconnected"))
    await click(page)
    await told.first().waitFor()
    assert.strictEqual(await page.getByRole("alert").count(), 1, what)
    await page.unroute(calls)
    await click(page)
    await done.waitFor()
    assert.deepStrictEqual(await told.allInnerTexts(), [], what)
  }
}

const press =
  (name: string | RegExp) =>
  (page: Page): Promise<void> =>
    page
      .getByRole("button", { name, exact: typeof name === "string" })
      .last()
      .click()

const undo = press(/^Undo( the rest)?$/)

describe.skipIf(!hasBrowser)("the page in Chromium, with the network away at each click", () => {
  it.live(
    "says one sentence, loses nothing, and does it when asked again",
    () =>
      Effect.gen(function* () {
        const studio = yield* servedStudio
        yield* studio.contacts.add(
          ["ann", "bob", "cem"].map((name) => ({ email: `${name}@example.com`, firstName: name }))
        )
        const { page } = yield* openStudio(studio)
        const away = awayAt(page)
        const dialog = page.getByRole("dialog")
        const done = page.getByRole("group", { name: "What was done" })
        const to = (view: string) => page.getByRole("navigation").getByRole("link", { name: view }).click()
        const box = page.getByRole("combobox", { name: "Name, address or filter" })

        // One contact

        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "ann@example.com" }).waitFor()
          await box.fill("ann@example.com")
          await away("an address", press("Find"), page.getByRole("dialog", { name: "ann@example.com" }))
          await dialog.getByLabel("First name").fill("Annabel")
          await away("save", press("Save"), page.getByText("Saved."))
          await away("undo of a change", undo, page.getByText("Undone: 1 contact changed back."))
          await dialog.getByLabel("Another list").fill("News")
          await away("on a list", press("Put on it"), page.getByText("On the list News"))
          await away("off a list", press("Take off News"), page.getByText("Off the list News"))
          await page.keyboard.press("Escape")
        })

        // Some of them

        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Add a contact…" }).click()
          await dialog.getByLabel("E-mail address").fill("dora@example.com")
          await away("add", press("Add the contact"), page.getByRole("dialog", { name: "dora@example.com" }))
          await page.keyboard.press("Escape")
          await page.getByLabel("Choose ann@example.com").check()
          await page.getByRole("button", { name: "Status…" }).click()
          await dialog.getByLabel("New status").selectOption("Stale")
          await away("a plan", press("Show what changes"), page.getByText("This would change 1 contact"))
          await away(
            "a plan applied",
            (page) => page.getByRole("button", { name: /^(Change 1 contact|Go on where it stopped)$/ }).click(),
            done.getByText("1 contact changed")
          )
          await away("undo of a plan", undo, done.getByText("Undone: 1 contact changed back."))
          await page.getByRole("button", { name: "Delete…" }).click()
          await page.getByRole("button", { name: "Delete 1 contact" }).waitFor()
          await away(
            "a deletion",
            (page) => page.getByRole("button", { name: /^(Delete 1 contact|Go on where it stopped)$/ }).click(),
            done.getByText("1 contact deleted")
          )
          await away("undo of a deletion", undo, done.getByText("1 contact added again"))
          await page.getByRole("button", { name: "Paste addresses…" }).click()
          await dialog.getByRole("textbox").fill("bob@example.com, eve@example.com")
          await away("pasted addresses", press("Look them up"), page.getByText("2 addresses: 1 known, 1 unknown"))
          await page.keyboard.press("Escape")
          await box.fill("status = Active")
          await page.keyboard.press("Escape")
          await page.getByText("Saved filters").click()
          await page.getByLabel("Name for this filter").fill("mine")
          await away("save a filter", press("Save it"), page.getByText("@mine is saved."))
          await away("remove a filter", press("Remove @mine"), page.getByText("No filter is saved yet."))
        })

        // Lists

        yield* Effect.promise(async () => {
          await to("Lists")
          await page.getByLabel("New list").fill("Guests")
          await away("make a list", press("Make it"), page.getByText("The list Guests is made."))
          await page.getByRole("button", { name: "Rename Guests" }).click()
          await dialog.getByLabel("Its new name").fill("Friends")
          await away("rename a list", press("Rename it"), page.getByText("The list Guests is now Friends."))
          await away("undo of a name", undo, page.getByText("The list Friends is now Guests."))
          await page.getByRole("button", { name: "Delete Guests" }).click()
          await away(
            "delete a list",
            (page) => page.getByRole("button", { name: /^(Delete the list|Go on where it stopped)$/ }).click(),
            page.getByText("The list Guests is deleted")
          )
        })

        // Files

        yield* Effect.promise(async () => {
          await to("Import")
          const file = { name: "people.csv", mimeType: "text/csv", buffer: Buffer.from("Email\nfay@example.com\n") }
          await page.locator("input[type=file]").setInputFiles(file)
          await page.getByRole("button", { name: "Continue" }).click()
          await page.getByRole("button", { name: "Continue" }).click()
          await away("plan an import", press(/^Plan( again)?$/), page.getByRole("button", { name: "Add 1 contact" }))
          await away("import", press(/^(Add 1 contact|Go on|Try again)/), page.getByText("The import came to its end:"))
          await away("undo an import", press(/^Undo the (import|rest)$/), page.getByText("Undone: 1 contact deleted."))
          await to("Export")
          await away("export", press(/^Export /), page.getByText("ready"))
        })

        // What was done, and keys

        yield* Effect.promise(async () => {
          await to("History")
          await page
            .getByRole("row", { name: /Addition of contacts/ })
            .getByRole("button")
            .first()
            .click()
          await away(
            "preview of an undo",
            press("Preview the undo…"),
            page.getByText("1 contact that the run added would be deleted.")
          )
          await away("undo of a run", press(/^Undo/), page.getByText("Undone: 1 contact deleted."))
          await to("Keys")
          await page.getByRole("button", { name: "New key…" }).click()
          await dialog.getByLabel("Name, such as the program that uses it").fill("shop")
          await dialog.getByLabel(/^Read all contacts/).check()
          await away(
            "make a key",
            press("Make it, and show its secret"),
            page.getByRole("dialog", { name: "The secret of shop" })
          )
          await dialog.getByLabel("I have kept the secret").check()
          await dialog.getByRole("button", { name: "Done" }).click()
          await page.getByRole("button", { name: /^Delete shop/ }).click()
          await away("delete a key", press("Delete it"), page.getByText("shop is deleted."))
        })
        assert.strictEqual((yield* studio.contacts.count()).count, 3)
      }),
    6 * actionTimeout
  )
})
