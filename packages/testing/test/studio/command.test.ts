/** The page as the command line serves it: `roster serve` through the whole chain, and `roster studio` with its runs. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { killableServe, servePlace, type ServePlace } from "../durability/KillableServe.ts"
import { runRoster } from "../durability/RosterCommand.ts"
import { actionTimeout, browser, hasBrowser, openIn } from "../browser/Browser.ts"
import { chainTimeout, studioChain } from "./Chain.ts"

const bin = fileURLToPath(new URL("../../../cli/dist/roster.js", import.meta.url))

/** `roster studio` on the store of a place, and the address that it prints. */
const studioProcess = ({ filename, folder }: ServePlace) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn(process.execPath, [bin, "studio", "--no-open", "--db", filename], {
        cwd: folder,
        env: { PATH: process.env["PATH"], HOME: folder, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
        stdio: ["ignore", "pipe", "ignore"]
      })
      for await (const line of createInterface({ input: child.stdout })) return { child, address: line }
      throw new Error("the page was not served")
    }),
    ({ child }) =>
      Effect.promise(async () => {
        const exit = once(child, "exit")
        if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await exit
      })
  )

describe.skipIf(!hasBrowser)("the page of the command line in Chromium", () => {
  it.live(
    "of roster serve: imports, edits, exports, deletes and undoes, and a key is made, used, rotated and deleted",
    () =>
      Effect.gen(function* () {
        const { apiKey, baseUrl } = yield* killableServe(yield* servePlace)
        yield* studioChain({ baseUrl, key: apiKey })
      }).pipe(Effect.provide(NodeServices.layer)),
    chainTimeout
  )

  it.live(
    "of roster studio: opens by a key that leaves the address, survives a reload, and shares the runs with commands",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const roster = (...args: ReadonlyArray<string>) => runRoster(place, args)
        assert.strictEqual((yield* roster("contacts", "add", "ann@example.com", "--first-name", "Ann")).code, 0)
        const { address } = yield* studioProcess(place)
        const secret = new URL(address).hash.slice("#session=".length)
        const { complaints, page, requests } = yield* openIn(yield* browser, address)
        yield* Effect.promise(async () => {
          await page.getByText("1 contact", { exact: true }).waitFor()
          await page.getByText("Local store, with full access").waitFor()
          assert.strictEqual(await page.evaluate(() => location.href), address.replace(/#.*/, ""))
          assert.strictEqual(await page.evaluate(() => history.length), 2)
          await page.reload()
          await page.getByRole("button", { name: "ann@example.com" }).click()
          await page.getByLabel("First name").fill("Anna")
          await page.getByRole("button", { name: "Save", exact: true }).click()
          await page.getByText("Saved.").waitFor()
          await page.keyboard.press("Escape")
        })
        assert.strictEqual((yield* roster("rules", "save", "anns", "firstname = 'Anna'")).code, 0)
        yield* Effect.promise(async () => {
          const rule = page.getByRole("combobox", { name: "Name, address or filter" })
          await rule.fill("@a")
          await page.getByRole("option", { name: "@anns" }).click()
          await page.keyboard.press("Enter")
          await page.getByText(`roster contacts list --rule "firstname = 'Anna'"`).waitFor({ state: "attached" })
          await page.getByText("Saved filters").click()
          await page.getByLabel("Name for this filter").fill("same")
          await page.keyboard.press("Enter")
          await page.getByText("@same is saved.").waitFor()
        })
        assert.include((yield* roster("rules", "list", "--output", "json")).stdout, '"same"')
        // The command undoes what the page did, and the page what a command did.
        const undo = yield* roster("contacts", "undo", "last", "--yes", "--output", "json")
        assert.strictEqual(undo.code, 0, undo.stderr)
        assert.include((yield* roster("contacts", "get", "ann@example.com", "--output", "json")).stdout, '"Ann"')
        assert.strictEqual((yield* roster("contacts", "update", "ann@example.com", "--first-name", "Eve")).code, 0)
        yield* Effect.promise(async () => {
          await page.getByRole("link", { name: "History" }).click()
          await page.getByRole("row", { name: /Undo.*finished/ }).waitFor()
          const changes = page.getByRole("row", { name: /Change of contacts/ })
          await changes.nth(1).waitFor()
          await changes.first().getByRole("button").first().click()
          await page.getByRole("button", { name: "Preview the undo…" }).click()
          await page.getByRole("button", { name: "Undo: change 1 contact" }).click()
          await page.getByText("Undone: 1 contact changed back.").waitFor()
        })
        const ann = yield* roster("contacts", "get", "ann@example.com", "--output", "json")
        assert.include(ann.stdout, '"Ann"')
        for (const request of requests.slice(1)) assert.notInclude(request, secret)
        assert.deepStrictEqual(
          complaints.filter((text) => !/status of 40[34] /.test(text)),
          []
        )
      }).pipe(Effect.provide(NodeServices.layer)),
    4 * actionTimeout
  )
})
