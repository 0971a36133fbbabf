import { Effect } from "effect"
import { constants, copyFileSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { gzipSync } from "node:zlib"
import { chromium, type Page } from "playwright-core"
import { filledStore } from "../page/PageBenchmark.ts"
import { serveRoster } from "../service/ServedStore.ts"
import type { Benchmark, Claim } from "../src/Benchmark.ts"
import { median } from "../src/Comparison.ts"
import { folder, roster } from "../src/Files.ts"

const contacts = 1_000_000
const starts = 7
/** Pages turned between two looks at the memory. */
const pages = 500

const chromiumOfDebian = Effect.acquireRelease(
  Effect.promise(() =>
    chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: ["--headless", "--disable-gpu"],
      chromiumSandbox: false
    })
  ),
  (browser) => Effect.promise(() => browser.close())
)

/** Notes in the page when the first contact is drawn, how many bytes of scripts came before, and each task of more than 50 ms. */
const watch = (): void => {
  const seen: { firstContact?: number; script?: number; tasks: Array<number> } = { tasks: [] }
  Object.assign(globalThis, { seen })
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.tasks.push(duration)
  }).observe({ type: "longtask", buffered: true })
  new MutationObserver((_, observer) => {
    if (document.querySelector("tbody th button") === null) return
    seen.firstContact = performance.now()
    seen.script = 0
    for (const one of performance.getEntriesByType("resource")) {
      if (one instanceof PerformanceResourceTiming && one.name.endsWith(".js")) seen.script += one.encodedBodySize
    }
    observer.disconnect()
  }).observe(document, { childList: true, subtree: true })
}

const seenBy = (
  page: Page
): Promise<{ readonly firstContact?: number; readonly script?: number; readonly tasks: ReadonlyArray<number> }> =>
  page.evaluate("seen")

/** The memory of scripts that is left after a collection, in MiB. */
const heap = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page)
  await session.send("HeapProfiler.collectGarbage")
  const { usedSize } = await session.send("Runtime.getHeapUsage")
  return usedSize / 1024 / 1024
}

/** Waits for the first contact of a page. */
const firstContact = (page: Page): Promise<void> =>
  page.locator('[aria-busy="false"] tbody th button').first().waitFor()

const turnPages = async (page: Page): Promise<void> => {
  for (let at = 0; at < pages; at++) await page.getByRole("button", { name: "Next" }).click()
  await firstContact(page)
}

/** The files of the page, by their size after gzip, in KiB. */
const sizes = (): ReadonlyArray<readonly [name: string, size: number]> => {
  const assets = join(dirname(roster), "roster/studio/assets")
  return readdirSync(assets)
    .map(
      (name) =>
        [name.replace(/\.[^.]+(\.\w+)$/, "$1"), gzipSync(readFileSync(join(assets, name))).length / 1024] as const
    )
    .toSorted(([, one], [, other]) => other - one)
}

const run = Effect.gen(function* () {
  const store = join(yield* folder, "store.db")
  copyFileSync(yield* filledStore(contacts), store, constants.COPYFILE_FICLONE)
  const { server } = yield* serveRoster(store)
  const key = readFileSync(`${store}.key`, "utf8").trim()
  const address = new URL(`/#session=${key}`, server.url).href
  const browser = yield* chromiumOfDebian
  const { ends, firsts, heaps, scripts, tasks } = yield* Effect.promise(async () => {
    const firsts: Array<number> = []
    const scripts: Array<number> = []
    for (let at = 0; at < starts; at++) {
      const page = await browser.newPage()
      await page.addInitScript(watch)
      await page.goto(address)
      await firstContact(page)
      const seen = await seenBy(page)
      firsts.push(seen.firstContact ?? Infinity)
      scripts.push((seen.script ?? Infinity) / 1024)
      await page.close()
    }
    const page = await browser.newPage()
    await page.addInitScript(watch)
    await page.goto(address)
    await firstContact(page)
    const before = (await seenBy(page)).tasks.length
    await turnPages(page)
    const heaps = [await heap(page)]
    await turnPages(page)
    heaps.push(await heap(page))
    const start = performance.now()
    await page.getByRole("button", { name: "Last", exact: true }).click()
    await page.locator(`[aria-rowindex="${contacts + 1}"] button`).waitFor()
    const ends = performance.now() - start
    return { firsts, heaps, ends, scripts, tasks: (await seenBy(page)).tasks.slice(before) }
  })
  const files = sizes()
  const [once = 0, twice = 0] = heaps
  const claims: ReadonlyArray<Claim> = [
    {
      what: "first contacts on the screen, median of seven",
      value: median(firsts),
      target: { atMost: 1000 },
      unit: "ms"
    },
    { what: "tasks of more than 50 ms while one pages", value: tasks.length, target: { atMost: 0 } },
    { what: "memory after 1000 pages, of that after 500", value: twice / once, target: { atMost: 1.2 }, unit: "×" },
    { what: "scripts fetched until the first contacts", value: median(scripts), target: { atMost: 200 }, unit: "KiB" }
  ]
  return {
    tables: [],
    grids: [
      {
        head: ["Part of the page", "KiB after gzip"],
        rows: files.map(([name, size]) => [name, size.toFixed(1)])
      }
    ],
    claims,
    notes: [`The last of ${contacts.toLocaleString("en-US")} contacts is seen ${Math.round(ends)} ms after Last.`]
  }
})

/** What the page costs its user. */
export const studioBenchmark: Benchmark = {
  name: "studio",
  title: "The page over a million contacts, in Chromium",
  about:
    "`roster serve` on a store of a million contacts, and Debian's Chromium on the same machine: the time from the address to " +
    "the first contacts, tasks of the page while one turns 1000 pages of contacts, and its memory after that.",
  run
}
