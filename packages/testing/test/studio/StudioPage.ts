/** The page as a service serves it, in a real browser: who is signed in, what was asked for, and what was complained about. */
import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { ContactsService, CredentialsService, ListsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { EmbeddedHttpClient, StudioServer } from "@roster/server"
import * as RunFiles from "@roster/workflows/RunFiles"
import { servePage } from "@roster/workflows/PageServer"
import { Context, Effect, FileSystem, Layer, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { BrowserContextOptions, Page } from "playwright-core"
import { browser, openIn } from "../browser/Browser.ts"
import { type RawServed, rawServed } from "../security/RawServed.ts"

/** The page as the command line carries it. */
export const pageFolder = new URL("../../../cli/dist/roster/studio", import.meta.url).pathname

/** Texts that a page has to show as what they are. */
export const hostileTexts = [
  `<img src=x onerror="document.title='run'">`,
  "\u202Eevil\u202C",
  "'\"><script>document.title='run'</script>",
  "x".repeat(30_000)
] as const

/** What the browser says of requests that the page expects to fail: whether an export can be asked for, a wrong key. */
const expected = /^Failed to load resource: the server responded with a status of 40[134] /

/** A service with its page, and the services of its administrator. */
export const servedStudio = Effect.gen(function* () {
  const served = yield* rawServed({ page: { folder: pageFolder } })
  const services = yield* Layer.build(
    RosterClient.layer({ baseUrl: served.address, apiKey: Redacted.make(served.key) }).pipe(
      Layer.provide(UndiciHttpClient.layer())
    )
  )
  const contacts = yield* Effect.provideContext(ContactsService.use(Effect.succeed), services)
  const credentials = Context.get(services, CredentialsService)
  const lists = Context.get(services, ListsService)
  return { ...served, contacts, credentials, lists, url: new URL("/", served.address).href }
})

const noRules = { rules: Effect.succeed({}), saveRule: () => Effect.void, removeRule: () => Effect.void }

/** What `roster studio` serves in front of a store in memory, as if it were that of a target, and the store itself. */
export const hostedStudio = Effect.fnUntraced(function* (target: Partial<StudioServer.StudioTarget>) {
  const fs = yield* FileSystem.FileSystem
  const storage = yield* RunFiles.storage({ folder: yield* fs.makeTempDirectoryScoped({ prefix: "roster-runs-" }) })
  const client = Layer.succeedContext(yield* Layer.build(EmbeddedHttpClient.layer({ filename: ":memory:" })))
  const service = { baseUrl: EmbeddedHttpClient.baseUrl }
  const services = yield* Layer.build(
    Layer.merge(
      StudioServer.layer({
        client,
        page: { folder: pageFolder },
        calls: yield* servePage(storage, noRules),
        service,
        target: { name: "shop", identity: "shop", isStore: true, version: "1.2.3", flags: "", ...target }
      }),
      Layer.provide(RosterClient.layer({ ...service, apiKey: Redacted.make("none") }), client)
    )
  )
  return {
    contacts: Context.get(services, ContactsService),
    credentials: Context.get(services, CredentialsService),
    address: Redacted.value(Context.get(services, StudioServer.StudioServer).addressToOpen)
  }
}, Effect.provide(NodeServices.layer))

/** Signs in with a key. */
export const signIn = async (page: Page, key: string): Promise<void> => {
  await page.getByLabel("API key").fill(key)
  await page.getByRole("button", { name: "Sign in" }).click()
}

/** Goes to a step of an import. */
export const toStep = (page: Page, step: "File" | "Columns" | "Check" | "Plan"): Promise<void> =>
  page.getByRole("list", { name: "Steps" }).getByRole("button", { name: step }).click()

/** Opens the page of a service, signed in as its administrator. */
export const openStudio = Effect.fnUntraced(function* (
  { key, url }: Pick<RawServed, "key"> & { readonly url: string },
  options: BrowserContextOptions = {}
) {
  const shown = yield* openIn(yield* browser, url, options)
  yield* Effect.promise(() => signIn(shown.page, key))
  yield* Effect.promise(() => shown.page.getByRole("navigation").waitFor())
  return { ...shown, reports: () => shown.complaints.filter((text) => !expected.test(text)) }
})

/** Fails if a text was taken for markup or run as a script, or the page is broader than the window. */
export const assertIntact = (page: Page) =>
  Effect.promise(async () => {
    const { elements, title, width, window } = await page.evaluate(() => ({
      elements: document.querySelectorAll("img, script:not([src]), [onerror]").length,
      title: document.title,
      width: document.documentElement.scrollWidth,
      window: innerWidth
    }))
    assert.strictEqual(title, "Roster Studio")
    assert.strictEqual(elements, 0)
    assert.isAtMost(width, window)
  })

/** Fails if the Tab key does not come to everything that can be used on the page as it is. */
export const assertReachable = (page: Page, what: string) =>
  Effect.promise(async () => {
    const usable = () =>
      page.evaluate(() => {
        const all = document.querySelector("dialog[open]") ?? document
        return [...all.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].flatMap(
          (one) =>
            one instanceof HTMLElement &&
            one.checkVisibility({ visibilityProperty: true }) &&
            // The keys of a list go to what is in it, and a program to a heading or to what it says.
            (one.tabIndex >= 0 || !one.matches("[role=listbox] *, h1, h2, [role=status]")) &&
            !one.matches(":disabled, [data-reached], input[type=radio]:not(:checked)")
              ? [one.outerHTML.slice(0, 200)]
              : []
        )
      })
    const count = (await usable()).length
    for (let at = 0; at <= count + 5; at++) {
      await page.keyboard.press("Tab")
      await page.evaluate(() => document.activeElement?.setAttribute("data-reached", ""))
    }
    assert.deepStrictEqual(await usable(), [], `${what}, by keyboard`)
    await page.evaluate(() => {
      for (const one of document.querySelectorAll("[data-reached]")) one.removeAttribute("data-reached")
    })
  })

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

interface Axe {
  readonly run: (
    where: Document,
    options: object
  ) => Promise<{
    readonly violations: ReadonlyArray<{
      readonly id: string
      readonly nodes: ReadonlyArray<{ readonly html: string; readonly target: ReadonlyArray<string> }>
    }>
  }>
}

/** Fails if axe finds anything on the page as it is. */
export const assertAccessible = (page: Page, what: string) =>
  Effect.promise(async () => {
    // The policy of the page lets a debugger alone run what is no file of it.
    const session = await page.context().newCDPSession(page)
    await session.send("Runtime.evaluate", { expression: axe })
    const found = await page.evaluate(async () => {
      // It was put there above.
      const { axe } = globalThis as unknown as { readonly axe: Axe }
      const { violations } = await axe.run(document, { resultTypes: ["violations"] })
      /** What axe takes for disabled, since it stands in a disabled fieldset, and gets the focus all the same. */
      const getsFocus = (selector = ""): boolean => {
        const [before, element] = [document.activeElement, document.querySelector(selector)]
        if (!(element instanceof HTMLElement)) return false
        element.focus()
        const isFocused = document.activeElement === element
        if (before instanceof HTMLElement) before.focus()
        return isFocused
      }
      return violations.flatMap(({ id, nodes }) =>
        nodes.flatMap(({ html, target }) =>
          id === "scrollable-region-focusable" && getsFocus(target[0]) ? [] : [`${id}: ${html.slice(0, 300)}`]
        )
      )
    })
    assert.deepStrictEqual(found, [], what)
  })
