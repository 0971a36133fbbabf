/** The page of a service in Chromium while something fails: a wrong key, one that ends in the middle, a network that goes and comes back. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { actionTimeout, browser, hasBrowser, openIn } from "../browser/Browser.ts"
import { hostedStudio, openStudio, servedStudio, signIn } from "./StudioPage.ts"

describe.skipIf(!hasBrowser)("the page in Chromium, while something fails", () => {
  it.live(
    "keeps a wrong key at the door with one sentence, and asks for another where one ends, with what is edited as it was",
    () =>
      Effect.gen(function* () {
        const served = yield* servedStudio
        yield* served.contacts.add([{ email: "ann@example.com", firstName: "Ann" }])
        const { apiKeys } = served.credentials
        const { token } = yield* apiKeys.create({ name: "ends", accessLevels: ["ViewContacts", "ModifyContacts"] })
        const { page } = yield* openIn(yield* browser, served.url)
        yield* Effect.promise(async () => {
          await signIn(page, "mistyped")
          await page.getByRole("alert").getByText("The service does not accept the API key").waitFor()
          assert.strictEqual(await page.getByRole("navigation").count(), 0)
          await signIn(page, Redacted.value(token))
          await page.locator("h1:focus", { hasText: "Contacts" }).waitFor({ state: "attached" })
          await page.getByRole("button", { name: "ann@example.com" }).click()
          await page.getByLabel("First name").fill("Annabel")
          await page.keyboard.press("Escape")
          await page.getByText("What you have edited is not saved.").waitFor()
          // A second one closes it whatever is answered, but does not lose what is edited.
          await page.keyboard.press("Escape")
          await page.getByRole("button", { name: "Go on editing" }).click()
          assert.strictEqual(await page.getByLabel("First name").inputValue(), "Annabel")
        })
        yield* apiKeys.delete("ends")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Save", exact: true }).click()
          const other = page.getByRole("dialog", { name: "The service does not take the key any more" })
          await other.getByLabel("API key").fill(served.key)
          await other.getByRole("button", { name: "Sign in" }).click()
          await other.waitFor({ state: "detached" })
          assert.strictEqual(await page.getByLabel("First name").inputValue(), "Annabel")
          await page.getByRole("button", { name: "Save", exact: true }).click()
          await page.getByText("Saved.").waitFor()
          await page.keyboard.press("Escape")
          // Signing out loses what is begun only if that is meant.
          await page.getByRole("link", { name: "Import" }).click()
          const rows = { name: "people.csv", mimeType: "text/csv", buffer: Buffer.from("Email\nbob@example.com\n") }
          await page.locator("input[type=file]").setInputFiles(rows)
          await page.getByRole("button", { name: "Continue" }).click()
          await page.getByRole("button", { name: "Continue" }).click()
          await page.getByRole("textbox", { name: "Put them on lists, one a line" }).fill("News")
          await page.getByRole("button", { name: "Sign out" }).click()
          await page.getByRole("button", { name: "Stay signed in" }).click()
          await page.getByRole("button", { name: "Plan", exact: true }).last().click()
          await page.getByRole("button", { name: "Add 1 contact" }).waitFor()
          await page.getByRole("button", { name: "Sign out" }).click()
          await page.getByRole("button", { name: "Sign out all the same" }).click()
          await page.getByText("Sign in with an API key to see and change them.").waitFor()
        })
        assert.strictEqual((yield* served.contacts.get("ann@example.com")).firstName, "Annabel")
      }),
    3 * actionTimeout
  )

  it.live(
    "says once that the service cannot be reached, fetches a part again when asked, and goes on by itself",
    () =>
      Effect.gen(function* () {
        const served = yield* servedStudio
        yield* served.contacts.add([{ email: "ann@example.com" }])
        const { page } = yield* openStudio(served)
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "ann@example.com" }).waitFor()
          // Whatever has not been fetched is not to be had, and neither is the service.
          await page.reload()
          await page.route(/KeysView/, (route) => route.abort())
          await signIn(page, served.key)
          await page.getByRole("button", { name: "ann@example.com" }).waitFor()
          await page.getByRole("link", { name: "Keys" }).click()
          await page.getByText("This part of the page could not be loaded").waitFor()
          await page.unroute(/KeysView/)
          await page.getByRole("button", { name: "Try again" }).click()
          await page.getByRole("button", { name: "New key…" }).waitFor()
          await page.context().setOffline(true)
          await page.getByRole("link", { name: "Contacts" }).click()
          await page.getByRole("button", { name: "ann@example.com" }).click()
          await page.getByText("The service cannot be reached.").waitFor()
          await page.context().setOffline(false)
          await page.getByText("The service cannot be reached.").waitFor({ state: "detached" })
          await page.getByLabel("First name").waitFor()
        })
      }),
    3 * actionTimeout
  )

  it.live(
    "shows no door where roster studio serves it without its key, and says what to open",
    () =>
      Effect.gen(function* () {
        const studio = yield* hostedStudio({})
        const { page } = yield* openIn(yield* browser, new URL("/", studio.address).href)
        yield* Effect.promise(async () => {
          await page.getByText("Open the address that roster studio printed.").waitFor()
          assert.strictEqual(await page.getByLabel("API key").count(), 0)
        })
      }),
    actionTimeout
  )
})
