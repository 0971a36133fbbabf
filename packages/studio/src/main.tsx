/** The page. A key in the address is taken out of it before anything else happens. */
import { Effect } from "effect"
import { createRoot } from "preact/compat/client"
import { App } from "./app/App.tsx"
import { showKeptColours } from "./app/Theme.tsx"
import { AtomProvider } from "./kit/Atoms.tsx"
import { makeRegistry } from "./app/Registry.ts"
import { isUnsaved } from "./session/Unsaved.tsx"
import { initialSession, keyInFragment, session, storageKey } from "./session/Session.ts"

showKeptColours()
const { history, location, sessionStorage } = globalThis
const opened = { location: { ...location, origin: location.origin, pathname: location.pathname, hash: location.hash } }
const keyText = keyInFragment(opened.location.hash)
if (keyText !== undefined) {
  history.replaceState(null, "", opened.location.pathname)
  // The key of `roster studio` opens nothing once that has ended, and a reload would not get it again.
  sessionStorage.setItem(storageKey, keyText)
}

const registry = makeRegistry()
globalThis.addEventListener("beforeunload", (event) => {
  if (isUnsaved(registry)) event.preventDefault()
})
const root = document.getElementById("root")
// oxlint-disable-next-line page/texts -- Nobody reads it: the page is written together with this.
if (root === null) throw new Error("The page has no place for its content.")

const start = Effect.map(initialSession({ ...opened, storage: sessionStorage, fetch: globalThis.fetch }), (initial) => {
  registry.set(session, initial)
  createRoot(root).render(
    <AtomProvider registry={registry}>
      <App />
    </AtomProvider>
  )
})
Effect.runFork(start)
