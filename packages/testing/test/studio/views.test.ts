/** Every view of the page in Chromium with texts that would run, turn or break it, at 375 pixels, light and dark. */
import { assert, describe, it } from "@effect/vitest"
import { EmailAddress } from "@roster/domain"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { actionTimeout, browser, hasBrowser, openIn } from "../browser/Browser.ts"
import { assertAccessible, assertIntact, assertReachable, hostedStudio, hostileTexts } from "./StudioPage.ts"

const [markup, turned, script, long] = hostileTexts

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** Goes to a view. */
const goTo = (page: Page, name: string) => page.getByRole("link", { name, exact: true }).click()

const selectBy = async (page: Page, rule: string): Promise<void> => {
  await page.getByRole("combobox", { name: "Name, address or filter" }).fill(rule)
  await page.keyboard.press("Escape")
  await page.keyboard.press("Enter")
}

describe.skipIf(!hasBrowser)("the views of the page in Chromium", () => {
  it.live(
    "show hostile texts as texts and break at none, axe finds nothing, and the Tab key comes to everything",
    () =>
      Effect.gen(function* () {
        const studio = yield* hostedStudio({ name: markup, flags: `--profile '${markup}'`, protectedBy: script })
        yield* studio.contacts.add(
          hostileTexts.map((text, index) => ({
            // The longest address that a list may meet breaks no window.
            email: index === 1 ? `${"h".repeat(64)}@${"d".repeat(60)}.example` : `h${index}@example.com`,
            firstName: text,
            customFields: { Stadt: text.slice(0, 1000), [`<b>${index}`]: "x", [`${turned}${index}`]: turned }
          }))
        )
        yield* studio.contacts.add([{ email: EmailAddress.make("h0@example.com") }], { listNames: [markup, turned] })
        for (const name of [markup, turned, script, long.slice(0, 254)]) {
          yield* studio.credentials.apiKeys.create({ name, accessLevels: ["ViewContacts"] })
        }
        yield* studio.credentials.smtp.create({ name: `${"s".repeat(64)}@${"d".repeat(60)}.example` })
        const viewport = { width: 375, height: 700 }
        const { complaints, page } = yield* openIn(yield* browser, studio.address, { viewport })
        const look = Effect.fnUntraced(function* (what: string) {
          for (const colorScheme of ["light", "dark"] as const) {
            yield* Effect.promise(() => page.emulateMedia({ colorScheme }))
            yield* assertAccessible(page, `${what}, ${colorScheme}`)
          }
          yield* assertIntact(page)
          yield* assertReachable(page, what)
        })
        const shows = (text: string) => page.getByText(text, { exact: false }).first().waitFor()

        yield* Effect.promise(async () => {
          await page.getByText("4 contacts").waitFor()
          await shows(markup)
          await page.getByText("Columns", { exact: true }).click()
          await page.getByLabel("<b>0").check()
          await page.getByLabel("Stadt", { exact: true }).check()
        })
        yield* look("columns")
        const head = yield* Effect.promise(() => page.locator("header").boundingBox())
        assert.isAtMost(head?.height ?? Infinity, 90)
        yield* Effect.promise(async () => {
          // Escape closes the menu and gives the focus back to its button, and a click beside it closes it too.
          await page.getByLabel("Stadt", { exact: true }).focus()
          await page.keyboard.press("Escape")
          await page.locator("details.columns:not([open]) summary:focus").waitFor()
          await page.keyboard.press("Enter")
          await page.locator("details.columns[open]").waitFor()
          await page.mouse.click(370, 690)
          await page.locator("details.columns:not([open])").waitFor()
          await page.getByRole("button", { name: "h0@example.com" }).focus()
          await page.keyboard.press("End")
          await page.keyboard.press("Enter")
          await page.getByRole("dialog").waitFor()
          assert.strictEqual(await page.getByLabel("First name").inputValue(), long)
          await page.getByLabel("Last name").fill(script)
          await page.getByRole("button", { name: "Save", exact: true }).click()
          await page.getByText("Saved.").waitFor()
        })
        yield* look("contact")
        yield* Effect.promise(async () => {
          await page.getByRole("dialog").getByRole("button", { name: "Delete…" }).click()
          await page.getByText("This would delete 1 contact").waitFor()
        })
        yield* look("deletion")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Close" }).click()
          await selectBy(page, `${markup} = '${long}'`)
          await page.getByRole("alert").first().waitFor()
        })
        yield* look("wrong rule")
        yield* Effect.promise(async () => {
          await selectBy(
            page,
            `FirstName = '${markup.replaceAll("'", "''")}' OR FirstName starts-with '${long.slice(0, 5000)}'`
          )
          await page.getByText("2 contacts").waitFor()
          await goTo(page, "Export")
          await page.getByRole("button", { name: /^Export those/ }).click()
          await page.getByRole("link", { name: "Download" }).waitFor()
        })
        yield* look("exports")
        yield* Effect.promise(async () => {
          await goTo(page, "Overview")
          await page.getByRole("link", { name: /^4\s*Contacts$/ }).waitFor()
          await page.getByText("As a table").click()
        })
        yield* look("overview")
        yield* Effect.promise(async () => {
          const file = page.waitForEvent("download")
          await page.getByRole("button", { name: "Save as a file" }).click()
          assert.strictEqual((await file).suggestedFilename(), "overview.csv")
          // Each number leads to its people.
          await page.getByRole("row", { name: markup }).getByRole("link", { name: "1", exact: true }).click()
          await page.getByRole("button", { name: "h0@example.com" }).waitFor()
          await page.getByText("1 contact", { exact: true }).waitFor()
        })
        yield* Effect.promise(async () => {
          await goTo(page, "Keys")
          await page.getByRole("rowheader", { name: script }).waitFor()
        })
        yield* look("keys")
        yield* Effect.promise(async () => {
          await page.getByRole("row", { name: script }).getByRole("button", { name: "Rotate" }).click()
          await page.getByRole("dialog").waitFor()
        })
        yield* look("secret")
        yield* Effect.promise(async () => {
          await page.getByLabel("I have kept the secret").check()
          await page.getByRole("button", { name: "Done" }).click()
          await page.getByText("Done: the new secret belongs to").waitFor()
          await page
            .getByRole("row", { name: markup })
            .getByRole("button", { name: /^It leaked/ })
            .click()
        })
        yield* look("leaked key")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Keep it" }).click()
          await page.getByRole("button", { name: "New key…" }).click()
          await page.getByLabel(/^Name, such as/).fill(markup)
          await page.getByLabel(/^Read all contacts/).check()
          await page.getByRole("button", { name: /^Make it/ }).click()
          await page.getByRole("dialog").getByRole("alert").getByText(markup).waitFor()
        })
        yield* look("name taken")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Close" }).last().click()
          await page.getByRole("button", { name: "Close without saving" }).click()
          await goTo(page, "Import")
          const header = ["Email", "Status", ...[markup, turned, script].map(quoted), "last"]
          const rows = [0, 1, 2].map((index) => [`i${index}@example.com`, "Maybe", ...hostileTexts.map(quoted)])
          const wrong = [quoted(`${markup}@@`), "Maybe", "", "", "", ""]
          const buffer = Buffer.from([header, ...rows, wrong].map((row) => row.join(",")).join("\n"))
          const file = { name: `${markup}${turned}.csv`, mimeType: "text/csv", buffer }
          await page.locator("input[type=file]").first().setInputFiles(file)
          await page.getByText("4 rows, 6 columns.").waitFor()
        })
        yield* look("file")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Continue" }).click()
          await page.getByLabel("Give all rows the same").selectOption({ label: "Consent to tracking" })
          await page.getByText("Write what all rows get as Consent to tracking").waitFor()
          await page.getByLabel("All rows: Consent to tracking").selectOption("Allow")
        })
        yield* look("columns of the file")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Continue" }).click()
          await page.getByLabel("What Maybe stands for").selectOption("Active")
          await page.getByLabel("Put them on lists").fill(`${markup}\n${turned}`)
          await page.getByText("Which rows are taken").click()
        })
        yield* look("check")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Plan", exact: true }).click()
          await page.getByText("4 rows: 3 new").waitFor()
          await page.getByRole("cell", { name: "i2@example.com" }).last().waitFor()
        })
        yield* look("plan")
        yield* Effect.promise(async () => {
          await page.getByLabel("Rejected").check()
          await page.getByRole("region", { name: "Rows of the plan" }).getByText(`${markup}@@`).first().waitFor()
          await page.getByRole("button", { name: "Add 3 contacts" }).click()
          await page.getByText("The import came to its end:").waitFor()
        })
        yield* look("report")
        yield* Effect.promise(async () => {
          await goTo(page, "History")
          await page.getByRole("row", { name: `Import: ${markup}` }).waitFor()
        })
        yield* look("runs")
        yield* Effect.promise(async () => {
          await page
            .getByRole("row", { name: /Change of contacts/ })
            .getByRole("button")
            .first()
            .click()
          await page.getByRole("cell", { name: script }).waitFor()
        })
        yield* look("run")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Preview the undo…" }).click()
          await page.getByText("1 contact would be changed back.").waitFor()
        })
        yield* look("undo")
        assert.deepStrictEqual(
          complaints.filter((text) => !/status of 40[34] /.test(text)),
          []
        )
      }),
    6 * actionTimeout
  )
})
