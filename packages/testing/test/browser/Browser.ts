/**
 * A browser for tests of pages: Debian's Chromium, which reaches no name and no address but this machine's. Without it these
 * tests are skipped.
 */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { type BrowserContextOptions, chromium } from "playwright-core"

const executablePath = "/usr/bin/chromium"

/** Whether this machine has the browser. */
export const hasBrowser = existsSync(executablePath)

/** A busy machine takes seconds for what is there at once on an idle one. */
export const actionTimeout = 60_000

/** A name that leads the browser to this machine, which it does not know for it. */
export const foreignName = "roster.example"

const args = [
  "--headless",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--host-resolver-rules=MAP ${foreignName} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`
]

/** A browser until the scope ends. */
export const browser = Effect.acquireRelease(
  Effect.promise(() => chromium.launch({ executablePath, args, chromiumSandbox: false })),
  (browser) => Effect.promise(() => browser.close())
)

/** Opens a page in a browser, and notes what it asks for and what the browser complains about. */
export const openIn = Effect.fnUntraced(function* (
  window: Effect.Success<typeof browser>,
  url: string,
  options: BrowserContextOptions = {}
) {
  const page = yield* Effect.promise(() => window.newPage({ viewport: { width: 1200, height: 900 }, ...options }))
  page.setDefaultTimeout(actionTimeout)
  const requests: Array<string> = []
  const complaints: Array<string> = []
  page.on("request", (request) => requests.push(`${request.method()} ${request.url()}`))
  page.on("console", (message) => complaints.push(message.text()))
  page.on("pageerror", ({ message }) => complaints.push(message))
  yield* Effect.promise(() => page.goto(url))
  return { page, requests, complaints }
})
