/** The import view in Chromium: a file that its worker reads, mapped, planned, applied and undone; hostile texts as texts. */
import { assert, describe, it } from "@effect/vitest"
import { csvToWorkbook } from "@roster/workflows/Workbook"
import { Effect, Stream } from "effect"
import type { Page } from "playwright-core"
import { actionTimeout, hasBrowser } from "../browser/Browser.ts"
import { assertAccessible, openStudio, servedStudio, signIn, toStep } from "./StudioPage.ts"

/** Chooses a file of a text in Latin-1. */
const choose = async (page: Page, text: string): Promise<void> => {
  await page.getByRole("link", { name: "Import", exact: true }).click()
  const buffer = Buffer.from(text, "latin1")
  await page.locator("input[type=file]").first().setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer })
  await page.getByText(/^\d+ rows?, \d+ columns?/).waitFor()
}

/** Fails if a step is longer than the window: its tables scroll in it, and what leads on stays in view. */
const assertFits = async (page: Page, step: string): Promise<void> => {
  const beyond = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll("main")].map(
      ({ clientHeight, scrollHeight }) => scrollHeight - clientHeight
    )
  )
  assert.deepStrictEqual(beyond, [0, 0], `${step} is longer than the window`)
}

const members =
  "Kunde;E-Mail;Status;Stadt\r\n1;ada@example.com;subscribed;Köln\r\n2;bob@example.com;vielleicht;Århus\r\n" +
  "3;left@example.com;subscribed;Bonn\r\n4;nobody;cleaned;Bonn\r\n"

describe.skipIf(!hasBrowser)("the import view in Chromium", () => {
  it.live(
    "maps a file in any encoding, plans, lists rejected rows, applies exactly the plan and undoes it",
    () =>
      Effect.gen(function* () {
        const studio = yield* servedStudio
        yield* studio.contacts.add([{ email: "left@example.com", status: "Unsubscribed" }])
        const { page, reports } = yield* openStudio(studio, { viewport: { width: 1280, height: 800 } })
        yield* Effect.promise(async () => {
          await choose(page, members)
          assert.strictEqual(await page.getByRole("combobox", { name: "Encoding" }).inputValue(), "windows-1252")
          await page.getByRole("cell", { name: "Århus", exact: true }).waitFor()
          await assertFits(page, "the file")
          await toStep(page, "Check")
          await assertFits(page, "the check")
          await page
            .getByText(
              "2 rows give a status with mail, 1 row gives one without. The plan says who will receive mail. 1 row has a word"
            )
            .waitFor()
          await page.getByLabel("What vielleicht stands for").selectOption("NotConfirmed")
          await toStep(page, "Columns")
          await assertFits(page, "the columns")
          await page.getByLabel("What Kunde becomes").selectOption({ label: "Left out" })
          await toStep(page, "Check")
          await page.getByText("2 rows give a status with mail, 2 rows give one without.").waitFor()
          await page.getByRole("button", { name: "Plan", exact: true }).click()
          await page.getByText("4 rows: 2 new, 1 changed, 0 already so, 1 rejected, 0 duplicates.").waitFor()
          await page.getByLabel("Rejected").check()
          await page.getByText("first in line 5").waitFor()
          await assertFits(page, "the plan")
          await page.getByRole("button", { name: "Correct…" }).click()
          await page.getByRole("form", { name: "Line 5" }).getByLabel("E-Mail").fill("nobody@example.com")
          await page.getByText("It can be imported, as the contact nobody@example.com.").waitFor()
        })
        yield* assertAccessible(page, "a row that is corrected")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Leave it as it was" }).click()
          await page.getByLabel("Kept because of consent").check()
          await page.getByRole("region", { name: "Rows of the plan" }).getByText("left@example.com").waitFor()
          await page
            .getByText("roster contacts import people.csv --mapping people.mapping.json --plan")
            .waitFor({ state: "attached" })
          await toStep(page, "Columns")
          const saved = page.waitForEvent("download")
          await page.getByRole("button", { name: "Save these choices" }).click()
          assert.strictEqual((await saved).suggestedFilename(), "people.mapping.json")
          await toStep(page, "Plan")
          await page.getByRole("button", { name: "Add 2 contacts and change 1 contact" }).click()
          await page.getByText("The import came to its end:").waitFor()
          await assertFits(page, "the report")
        })
        const found = yield* studio.contacts.getMany(["ada@example.com", "bob@example.com", "left@example.com"])
        assert.deepStrictEqual(
          found.contacts.map(({ customFields, email, status }) => [email, status, customFields]),
          [
            ["ada@example.com", "Active", { Stadt: "Köln" }],
            ["bob@example.com", "NotConfirmed", { Stadt: "Århus" }],
            ["left@example.com", "Unsubscribed", { Stadt: "Bonn" }]
          ]
        )
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Undo the import" }).click()
          await page.getByText("Undone: 2 contacts deleted, 1 contact changed back.").waitFor()
        })
        assert.strictEqual((yield* studio.contacts.count()).count, 1)
        const workbook = yield* csvToWorkbook(
          Stream.encodeText(Stream.make("Mail,Stadt\neve@example.com,Köln\n"))
        ).pipe(Stream.runCollect, Effect.map(Buffer.concat))
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Import another file" }).click()
          const file = { name: "people.xlsx", mimeType: "application/octet-stream", buffer: workbook }
          await page.locator("input[type=file]").first().setInputFiles(file)
          await page.getByRole("cell", { name: "eve@example.com", exact: true }).waitFor()
          await page.getByLabel("Sheet, by its name or number").fill("Members")
          await page.keyboard.press("Enter")
          await page.getByText('it has no sheet "Members"').waitFor()
          await page.getByRole("button", { name: "Read it as it was proposed" }).click()
          await page.getByRole("cell", { name: "eve@example.com", exact: true }).waitFor()
          await toStep(page, "Check")
          await page.getByRole("button", { name: "Plan", exact: true }).click()
          await page.getByText("1 row: 1 new").waitFor()
        })
        assert.deepStrictEqual(reports(), [])
      }),
    3 * actionTimeout
  )

  it.live(
    "says after a reload in the middle that an import was left, and what is left of it",
    () =>
      Effect.gen(function* () {
        const studio = yield* servedStudio
        const { page } = yield* openStudio(studio)
        yield* Effect.promise(async () => {
          await choose(page, members)
          await toStep(page, "Check")
          await page.getByRole("button", { name: "Plan", exact: true }).click()
          await page.getByText("Nothing is stored yet.").waitFor()
          // The service does not answer any more.
          await page.route(/\/v4\/contacts/, () => undefined)
          page.on("dialog", (dialog) => dialog.accept())
          await page.getByRole("button", { name: /^Add 2 contacts/ }).click()
          await page.getByText("Keep this page open until all rows are done.").waitFor()
          await page.reload()
          await page.unroute(/\/v4\/contacts/)
          await signIn(page, studio.key)
          await page.getByText("This page was left before an import of 2 rows came to its end.").waitFor()
          await choose(page, members)
          await toStep(page, "Check")
          await page.getByRole("button", { name: "Plan", exact: true }).click()
          await page.getByText("This is its file").waitFor()
        })
      }),
    3 * actionTimeout
  )
})
