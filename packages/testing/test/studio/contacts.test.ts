/** The contacts view in Chromium: found by a rule, edited, deleted and brought back, by keyboard, and hostile texts as texts. */
import { assert, describe, it } from "@effect/vitest"
import { EmailAddress } from "@roster/domain"
import { Effect } from "effect"
import { actionTimeout, browser, foreignName, hasBrowser, openIn } from "../browser/Browser.ts"
import { rawServed } from "../security/RawServed.ts"
import { assertAccessible, hostileTexts, openStudio, pageFolder, servedStudio, signIn } from "./StudioPage.ts"

const filled = Effect.gen(function* () {
  const studio = yield* servedStudio
  const names = Array.from({ length: 300 }, (_, index) => ({
    email: `c${index}@example.com`,
    firstName: `N${index}`,
    customFields: { Stadt: index % 3 === 0 ? "Köln" : "Århus" }
  }))
  const hostile = hostileTexts.map((text, index) => ({
    email: `h${index}@example.com`,
    firstName: text,
    customFields: { Stadt: text.slice(0, 1000), [`<b>${index}`]: "x" }
  }))
  yield* studio.contacts.add([...names, ...hostile])
  return studio
})

/** Asks for credentials as the administrator of a service. */
const askKeys = (
  { address, key }: { readonly address: string; readonly key: string },
  path: string,
  init: RequestInit
) =>
  Effect.promise(async () => {
    const headers = { "X-Service-ApiKey": key, "Content-Type": "application/json" }
    return (await fetch(`${address}/security/apikeys${path}`, { ...init, headers })).text()
  })

/** A key of these levels. */
const keyOf = (served: Parameters<typeof askKeys>[0], AccessLevel: ReadonlyArray<string>) =>
  Effect.map(askKeys(served, "", { method: "POST", body: JSON.stringify({ Name: "reader", AccessLevel }) }), (text) =>
    String(Object(JSON.parse(text)).Token)
  )

describe.skipIf(!hasBrowser)("the contacts view in Chromium", () => {
  it.live(
    "finds by a rule that it completes, edits what was changed alone, deletes whom it showed and brings them back",
    () =>
      Effect.gen(function* () {
        const studio = yield* filled
        yield* studio.contacts.add([{ email: EmailAddress.make("c3@example.com") }], {
          listNames: ["News", "Customers"]
        })
        const { page, reports, requests } = yield* openStudio(studio)
        yield* Effect.promise(async () => {
          // The last contact is two clicks away, and a row says its place among all.
          await page.getByText("1 to 50 of 304 contacts").waitFor()
          await page.getByRole("button", { name: "Last", exact: true }).click()
          await page.getByText("301 to 304 of 304 contacts").waitFor()
          await page.getByRole("button", { name: "h3@example.com" }).click()
          await page.getByRole("dialog", { name: "h3@example.com" }).waitFor()
          await page.keyboard.press("Escape")
          const table = page.getByRole("table", { name: "Contacts" })
          assert.strictEqual(await table.getAttribute("aria-rowcount"), "305")
          assert.strictEqual(await table.getByRole("row").last().getAttribute("aria-rowindex"), "305")
          await page.getByLabel("Rows a page").selectOption("250")
          await page.getByText("251 to 304 of 304 contacts").waitFor()
          await page.getByRole("button", { name: "Previous" }).click()
          await page.getByRole("button", { name: "c249@example.com" }).waitFor()
          // The newest first, and by address: the pages go on behind whom they showed.
          const sortedBy = (heading: string) =>
            page.getByRole("columnheader", { name: heading }).getAttribute("aria-sort")
          assert.deepStrictEqual([await sortedBy("E-mail"), await sortedBy("Added")], ["none", "ascending"])
          await page.getByRole("button", { name: "Added", exact: true }).click()
          await page.getByRole("row", { name: "h3@example.com" }).and(page.locator("[aria-rowindex='2']")).waitFor()
          assert.strictEqual(await sortedBy("Added"), "descending")
          await page.getByRole("button", { name: "E-mail", exact: true }).press("Enter")
          await page.getByRole("button", { name: "Next" }).click()
          await page.getByText("251 to 304 of 304 contacts").waitFor()
          await page.getByRole("row", { name: "h3@example.com" }).and(page.locator("[aria-rowindex='305']")).waitFor()
          assert.deepStrictEqual([await sortedBy("E-mail"), await sortedBy("Added")], ["ascending", "none"])
          await page.getByRole("button", { name: "E-mail", exact: true }).press("Enter")
          await page.getByText("1 to 250 of 304 contacts").waitFor()
          await page.getByRole("row", { name: "h3@example.com" }).and(page.locator("[aria-rowindex='2']")).waitFor()
          await page.getByRole("button", { name: "E-mail", exact: true }).press("Enter")
          await page.getByRole("row", { name: "c0@example.com" }).and(page.locator("[aria-rowindex='2']")).waitFor()
          const rule = page.getByRole("combobox", { name: "Name, address or filter" })
          await rule.pressSequentially("Sta")
          await page.getByRole("option", { name: /^Stadt/ }).waitFor()
          for (let at = 0; at < 3; at++) await page.keyboard.press("ArrowDown")
          await page.keyboard.press("Enter")
          assert.strictEqual(await rule.inputValue(), "Stadt ")
          await page.keyboard.type("= 'Köln'")
          await page.keyboard.press("Escape")
          await page.keyboard.press("Enter")
          await page.getByText("100 contacts").waitFor()
          await page.getByText(`roster contacts list --rule "Stadt = 'Köln'"`).waitFor({ state: "attached" })

          // By keyboard alone: the first row, the last, the second, the card.
          await page.getByRole("button", { name: "c0@example.com" }).focus()
          for (const key of ["End", "Home", "ArrowDown", "ArrowLeft", "Space", "ArrowRight"])
            await page.keyboard.press(key)
          await page.getByText("1 chosen").waitFor()
          await page.getByRole("button", { name: "Choose none" }).click()
          await page.getByRole("button", { name: "c3@example.com" }).focus()
          await page.keyboard.press("Enter")
          await page.getByRole("dialog", { name: "c3@example.com" }).waitFor()
          await page.getByRole("button", { name: "Take off Customers" }).waitFor()
          await page.getByRole("button", { name: "Take off News" }).waitFor()
          await page.getByLabel("Last name").fill("O'Hara")
          await page.getByRole("button", { name: "Save", exact: true }).click()
          await page.getByText("Saved.").waitFor()
          // What is printed has the history.
          await page.evaluate(() => {
            globalThis.print = () => document.body.setAttribute("data-printed", "")
          })
          await page.getByRole("button", { name: "Print" }).click()
          await page.locator("body[data-printed]").waitFor()
          await page.getByRole("table", { name: "History" }).getByRole("cell", { name: "added" }).waitFor()
          await page.keyboard.press("Escape")
          await page.getByRole("cell", { name: "O'Hara" }).waitFor()

          await page.getByRole("button", { name: "Choose all 100" }).click()
          await page.getByText("All 100 chosen").waitFor()
          await page.getByRole("button", { name: "Delete…" }).click()
          await page.getByText("This would delete 100 contacts: 100 Active.").waitFor()
          await page.getByRole("button", { name: "Delete 100 contacts" }).click()
          await page.getByText("Done: 100 contacts deleted.").waitFor()
        })
        assert.strictEqual((yield* studio.contacts.count({ rule: "stadt = 'Köln'" })).count, 0)
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Undo" }).click()
          await page.getByText("Undone: 100 contacts added again.").waitFor()
        })
        const back = yield* studio.contacts.get("c3@example.com")
        assert.deepInclude(back, { firstName: "N3", lastName: "O'Hara", customFields: { Stadt: "Köln" } })
        assert.deepStrictEqual(reports(), [])
        // Nothing but this service is asked, and no address of the page holds a key.
        for (const request of requests) assert.isTrue(request.split(" ")[1]?.startsWith(new URL(studio.address).origin))
        assert.notInclude(requests.join("\n"), studio.key)
      }),
    3 * actionTimeout
  )

  it.live(
    "refuses a wrong key in words, keeps a right one for a reload only if asked, and marks what is wrong with a rule",
    () =>
      Effect.gen(function* () {
        const studio = yield* filled
        const { page } = yield* openIn(yield* browser, studio.url)
        yield* Effect.promise(() => page.getByLabel("API key").waitFor())
        yield* assertAccessible(page, "the page that asks for a key")
        yield* Effect.promise(async () => {
          await signIn(page, "wrong")
          await page.getByRole("alert").first().waitFor()
          assert.match(await page.getByRole("alert").first().innerText(), /key/)
          await signIn(page, studio.key)
          await page.getByText("304 contacts").waitFor()
          const rule = page.getByRole("combobox", { name: "Name, address or filter" })
          await rule.fill("status = Activ")
          await page.keyboard.press("Escape")
          await page.keyboard.press("Enter")
          assert.include(await page.getByRole("alert").innerText(), "         ^^^^^")
          await page.reload()
          await page.getByLabel("API key").fill(studio.key)
          await page.getByLabel(/^Keep it in this tab/).check()
          await page.getByRole("button", { name: "Sign in" }).click()
          await page.getByText("304 contacts").waitFor()
          await page.reload()
          await page.getByText("304 contacts").waitFor()

          // The service keeps rules with names.
          const box = page.getByRole("combobox", { name: "Name, address or filter" })
          await box.fill("Stadt = 'Köln'")
          await page.keyboard.press("Escape")
          await page.getByText("Saved filters").click()
          await page.getByLabel("Name for this filter").fill("cologne")
          await page.getByRole("button", { name: "Save it" }).click()
          await page.getByText("@cologne is saved.").waitFor()
          await page.reload()
          await box.fill("@cologne")
          await page.keyboard.press("Escape")
          await page.keyboard.press("Enter")
          await page.getByText("100 contacts").waitFor()
          // The colours that a person chose are kept, until they are those of the system again.
          const colours = page.getByRole("button", { name: "Light or dark colours" })
          await colours.click()
          await page.reload()
          await page.locator(":root[data-colours=dark]").waitFor()
          await colours.click()
          await page.locator(":root:not([data-colours])").waitFor()
          await page.getByRole("button", { name: "Sign out" }).click()
          await page.getByLabel("API key").waitFor()
          assert.strictEqual(await page.evaluate(() => sessionStorage.length + localStorage.length), 0)
        })
      }),
    3 * actionTimeout
  )

  it.live(
    "disables what a key may not do, and names the level",
    () =>
      Effect.gen(function* () {
        const studio = yield* filled
        const made = yield* keyOf(studio, ["ViewContacts", "Security"])
        const { page } = yield* openStudio({ key: made, url: studio.url })
        yield* Effect.promise(async () => {
          await page.getByText("This key may see contacts and see keys, and may not change contacts").waitFor()
          await page.getByText("304 contacts").waitFor()
          await page.getByText("This key lacks the level ModifyContacts").waitFor()
          await page.getByRole("button", { name: "c1@example.com" }).click()
          await page.getByLabel("First name").fill("Other")
          assert.isTrue(await page.getByRole("button", { name: "Save", exact: true }).isDisabled())
          await page.getByRole("combobox", { name: "Status" }).selectOption("Inactive")
          await page.keyboard.press("Escape")
          await page.getByRole("button", { name: "Close without saving" }).click()
          await page.getByRole("link", { name: "Keys" }).click()
          await page.getByText("This key lacks the level ModifyAccessTokens, so it may not make").first().waitFor()
          const actions = page.getByRole("region", { name: "API keys" }).getByRole("button")
          await actions.first().waitFor()
          for (const action of [page.getByRole("button", { name: /^New/ }).first(), ...(await actions.all())]) {
            assert.isTrue(await action.isDisabled(), await action.innerText())
          }
          await page.getByText("Same in the terminal").click()
          assert.isTrue(await page.getByRole("button", { name: "Copy" }).isEnabled())
          await page.evaluate(() => (location.hash = "export"))
          await page.getByText("This key lacks the level Export, so it may not export contacts.").waitFor()
          assert.strictEqual(await page.getByRole("link", { name: "Export" }).count(), 0)
        })
        yield* assertAccessible(page, "a view that the key does not open")
      }),
    3 * actionTimeout
  )

  it.live(
    "asks before somebody gets mail who left, with the words of the command line, and takes the answer back",
    () =>
      Effect.gen(function* () {
        const studio = yield* filled
        const c1 = "c1@example.com"
        const statusOf = Effect.map(studio.contacts.get(c1), ({ status }) => status)
        yield* studio.contacts.add([{ email: EmailAddress.make(c1), status: "Unsubscribed" }])
        const { page, reports } = yield* openStudio(studio)
        const status = page.getByRole("combobox", { name: "Status" })
        const answer = page.getByRole("button", { name: "They asked for mail again: save" })
        yield* Effect.promise(async () => {
          await page.getByText("304 contacts").waitFor()
          await page.getByRole("button", { name: c1 }).click()
          assert.strictEqual(await status.inputValue(), "Unsubscribed")
          await status.selectOption("Active")
          await page.getByText(`roster contacts add ${c1} --status Active`).waitFor({ state: "attached" })
          await page.getByRole("button", { name: "Save", exact: true }).first().click()
          await page.getByText(`${c1} is Unsubscribed and gets no mail.`).waitFor()
        })
        yield* assertAccessible(page, "the question")
        // Not answered, it is as if nothing had been chosen.
        assert.strictEqual(yield* statusOf, "Unsubscribed")
        yield* Effect.promise(async () => {
          await status.selectOption("Unsubscribed")
          await answer.waitFor({ state: "detached" })
          assert.strictEqual(await page.getByRole("dialog").getByRole("alert").count(), 0)
          await status.selectOption("Active")
          await answer.click()
          await page.getByText("Saved.").waitFor()
        })
        assert.strictEqual(yield* statusOf, "Active")
        yield* Effect.promise(async () => {
          await page.keyboard.press("Escape")
          await page.getByRole("link", { name: "History" }).click()
          await page
            .getByRole("row", { name: /Change of contacts/ })
            .getByRole("button")
            .first()
            .click()
          await page.getByRole("button", { name: "Preview the undo…" }).click()
          await page.getByRole("button", { name: "Undo: change 1 contact" }).click()
          await page.getByText("Undone: 1 contact changed back.").waitFor()
        })
        assert.strictEqual(yield* statusOf, "Unsubscribed")
        assert.deepStrictEqual(reports(), [])
      }),
    3 * actionTimeout
  )

  it.live(
    "says that a key ended while one edits, and keeps what was typed",
    () =>
      Effect.gen(function* () {
        const studio = yield* filled
        const { page } = yield* openStudio({
          key: yield* keyOf(studio, ["ViewContacts", "ModifyContacts"]),
          url: studio.url
        })
        yield* Effect.promise(async () => {
          await page.getByText("304 contacts").waitFor()
          await page.getByRole("button", { name: "c1@example.com" }).click()
          await page.getByLabel("First name").fill("Other")
        })
        yield* askKeys(studio, "/reader", { method: "DELETE" })
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Save", exact: true }).click()
          await page.getByRole("dialog").getByRole("alert").getByText("key").waitFor()
          assert.strictEqual(await page.getByLabel("First name").inputValue(), "Other")
        })
        assert.strictEqual((yield* studio.contacts.get("c1@example.com")).firstName, "N1")
      }),
    3 * actionTimeout
  )

  it.live(
    "asks for no key over plain http, and says why and what to do, also where a proxy says that it is https",
    () =>
      Effect.gen(function* () {
        const served = yield* rawServed({
          page: { folder: pageFolder },
          publicUrl: new URL(`http://${foreignName}/v4`),
          trustedProxies: ["127.0.0.1"]
        })
        const url = new URL("/", served.address)
        url.hostname = foreignName
        const window = yield* browser
        const refused = yield* openIn(window, url.href)
        const byProxy = yield* openIn(window, url.href, { extraHTTPHeaders: { "X-Forwarded-Proto": "https" } })
        yield* Effect.promise(async () => {
          await refused.page.getByText("is not shown over plain http").waitFor()
          await byProxy.page.getByText("This page came over plain http").waitFor()
          for (const { page } of [refused, byProxy]) {
            assert.isFalse(await page.evaluate(() => isSecureContext))
            assert.strictEqual(await page.getByRole("textbox").or(page.getByLabel("API key")).count(), 0)
          }
        })
      }),
    3 * actionTimeout
  )
})
