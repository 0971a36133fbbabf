/** What the demo does, through the page in one browser: a realistic file imported, and everything that is then done with it. */
import { assert } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Effect, Layer, Redacted } from "effect"
import { readFileSync } from "node:fs"
import type { Locator, Page } from "playwright-core"
import { customersCsv } from "../../../../demo/customers.ts"
import { actionTimeout } from "../browser/Browser.ts"
import { assertAccessible, openStudio, toStep } from "./StudioPage.ts"

/** Everything that `studioChain` does together, on a busy machine. */
export const chainTimeout = 8 * actionTimeout

/** A service whose page is opened. */
interface Served {
  /** Its base address, with `/v4`. */
  readonly baseUrl: string
  readonly key: string
}

/** Asks a service with a key. */
const askWith = <A, E>(address: string, key: string, asked: Effect.Effect<A, E, ContactsService>) =>
  Effect.provide(
    asked,
    RosterClient.layer({ baseUrl: address, apiKey: Redacted.make(key) }).pipe(Layer.provide(UndiciHttpClient.layer()))
  )

const countWith = (address: string, key: string) =>
  askWith(
    address,
    key,
    ContactsService.use((contacts) => Effect.map(contacts.count(), ({ count }) => count))
  )

/** The text of the file that a button or link saves. */
const savedBy = async (page: Page, control: Locator): Promise<string> => {
  const [saved] = await Promise.all([page.waitForEvent("download"), control.click()])
  return readFileSync(await saved.path(), "utf8")
}

const selectBy = async (page: Page, rule: string): Promise<void> => {
  const box = page.getByRole("combobox", { name: "Name, address or filter" })
  await box.fill(rule)
  await page.keyboard.press("Escape")
  await page.keyboard.press("Enter")
}

const imported = async (page: Page): Promise<void> => {
  await page.getByRole("link", { name: "Import", exact: true }).click()
  const buffer = Buffer.from(customersCsv())
  await page.locator("input[type=file]").first().setInputFiles({ name: "customers.csv", mimeType: "text/csv", buffer })
  await page.getByText("2,683 rows, 7 columns.").waitFor()
  await toStep(page, "Check")
  await page.getByLabel("Put them on lists").fill("customers")
  await page.getByRole("button", { name: "Plan", exact: true }).click()
  await page.getByText("2,683 rows: 2,600 new, 0 changed, 0 already so, 6 rejected, 77 duplicates.").waitFor()
  await page.getByLabel("Rejected").check()
  const rows = page.getByRole("region", { name: "Rows of the plan" })
  await rows.getByText("two@@signs.example").first().waitFor()
  assert.strictEqual(await rows.getByRole("row").count(), 7)
  const rejected = await savedBy(page, page.getByRole("button", { name: /^Download the rejected rows/ }))
  for (const text of ["no-address-here", "two@@signs.example", "Best Customer"]) assert.include(rejected, text)
  await page.getByRole("button", { name: "Add 2,600 contacts" }).click()
  await page.getByText("The import came to its end:").waitFor()
}

const edited = async (page: Page): Promise<void> => {
  await page.getByRole("link", { name: "Contacts" }).click()
  await selectBy(page, "status = Engaged AND City contains 'köln'")
  await page.getByText("84 contacts").waitFor()
  await selectBy(page, "email = 'maria.5@shop.example'")
  await page.getByRole("button", { name: "maria.5@shop.example", exact: true }).click()
  await page.getByLabel("Last name").fill("Curie")
  await page.getByRole("button", { name: "Save", exact: true }).click()
  await page.getByText("Saved.").waitFor()
  await page.keyboard.press("Escape")
}

const exported = async (page: Page): Promise<void> => {
  await selectBy(page, "status = Engaged")
  await page.getByText("590 contacts").waitFor()
  await page.getByRole("link", { name: "Export", exact: true }).click()
  await page.getByRole("button", { name: "Export those of the filter: 590" }).click()
  const file = await savedBy(page, page.getByRole("link", { name: "Download" }))
  assert.strictEqual(file.split("\r\n").filter((row) => row.includes("@shop.example,")).length, 590)
}

const deletedAndBack = async (page: Page): Promise<void> => {
  await page.getByRole("link", { name: "Contacts" }).click()
  await selectBy(page, "status = Unsubscribed")
  await page.getByRole("button", { name: "Choose all 237" }).click()
  await page.getByRole("button", { name: "Delete…" }).click()
  await page.getByText("This would delete 237 contacts: 237 Unsubscribed.").waitFor()
  await page.getByRole("button", { name: "Delete 237 contacts" }).click()
  await page.getByText("Done: 237 contacts deleted.").waitFor()
  await page.getByRole("button", { name: "Undo" }).click()
  await page.getByText("Undone: 237 contacts added again.").waitFor()
  await page.getByRole("button", { name: "Put away" }).click()
}

/** Keeps the secret that is shown, which no Escape closes. */
const keptSecret = async (page: Page): Promise<string> => {
  const dialog = page.getByRole("dialog", { name: /^The secret of / })
  await dialog.waitFor()
  for (let at = 0; at < 3; at++) await page.keyboard.press("Escape")
  const secret = await dialog.getByRole("textbox").inputValue()
  await dialog.getByLabel("I have kept the secret").check()
  await dialog.getByRole("button", { name: "Done" }).click()
  return secret
}

const keys = Effect.fnUntraced(function* (page: Page, baseUrl: string) {
  const reporting = page.getByRole("row", { name: /^reporting/ })
  const first = yield* Effect.promise(async () => {
    await page.getByRole("link", { name: "Keys" }).click()
    await page.getByRole("button", { name: "New key…" }).click()
    await page.getByLabel(/^Name, such as/).fill("reporting")
    await page.getByLabel(/^Read all contacts/).check()
    await page
      .getByText("roster apikeys create reporting --access ViewContacts --expires 90d")
      .waitFor({ state: "attached" })
    await page.getByRole("button", { name: /^Make it/ }).click()
    return keptSecret(page)
  })
  assert.strictEqual(yield* countWith(baseUrl, first), 2600)
  yield* assertAccessible(page, "the keys")
  const second = yield* Effect.promise(async () => {
    await page.getByText("Subaccounts and rotations").click()
    await page.getByLabel("After a rotation the old secret").selectOption("ends at once")
    await reporting.getByRole("button", { name: "Rotate" }).click()
    return keptSecret(page)
  })
  yield* Effect.promise(async () => {
    await page.getByText("Done: the new secret belongs to reporting.").waitFor()
  })
  assert.strictEqual(yield* countWith(baseUrl, second), 2600)
  assert.include((yield* Effect.flip(countWith(baseUrl, first))).message, "key")
  yield* Effect.promise(async () => {
    await page
      .getByRole("row", { name: /^administrator/ })
      .getByRole("button", { name: "It leaked" })
      .click()
    await page.getByText("This is the last key that can manage keys").waitFor()
    await page.getByRole("button", { name: "Keep it" }).click()
    await reporting.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Delete it" }).click()
    await page.getByRole("dialog").getByText("reporting is deleted.").waitFor()
  })
  assert.include((yield* Effect.flip(countWith(baseUrl, second))).message, "key")
})

const undone = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Close" }).last().click()
  await page.getByRole("link", { name: "History" }).click()
  await page
    .getByRole("row", { name: /Import/ })
    .getByRole("button")
    .first()
    .click()
  await page.getByRole("button", { name: "Preview the undo…" }).click()
  await page.getByText("2,599 contacts that the run added would be deleted").waitFor()
  await page.getByText("1 contact changed since").waitFor()
  await page.getByRole("button", { name: "Undo: change 2,600 contacts" }).click()
  await page.getByText("Undone: 2,599 contacts deleted").waitFor()
}

/** Signs in at the page of a service that has no contacts yet, and does all of it. */
export const studioChain = Effect.fnUntraced(function* ({ baseUrl, key }: Served) {
  const { page, reports } = yield* openStudio({ key, url: new URL("/", baseUrl).href })
  yield* Effect.promise(() => imported(page))
  yield* Effect.promise(() => edited(page))
  yield* Effect.promise(() => exported(page))
  yield* Effect.promise(() => deletedAndBack(page))
  yield* keys(page, baseUrl)
  yield* Effect.promise(() => undone(page))
  const left = yield* askWith(
    baseUrl,
    key,
    ContactsService.use((contacts) => contacts.list({ limit: 10 }))
  )
  assert.deepStrictEqual(
    left.map(({ email, lastName }) => [email, lastName]),
    [["maria.5@shop.example", "Curie"]]
  )
  assert.deepStrictEqual(reports(), [])
})
