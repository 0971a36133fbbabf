/** Light or dark, as the system has it, or as a person chose it for this browser. */
import { Icon } from "../kit/Icon.tsx"
import { appTexts } from "../texts/AppTexts.ts"

const storageKey = "roster.colours"

const ofSystem = (): string => (globalThis.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")

/** Shows the colours that this browser keeps; `style.css` follows the system where it keeps none. */
export const showKeptColours = (): void => {
  const kept = globalThis.localStorage.getItem(storageKey)
  if (kept === null) delete document.documentElement.dataset["colours"]
  else document.documentElement.dataset["colours"] = kept
}

const change = (): void => {
  const next = (globalThis.localStorage.getItem(storageKey) ?? ofSystem()) === "dark" ? "light" : "dark"
  // Whoever goes back to what the system has follows it from then on.
  if (next === ofSystem()) globalThis.localStorage.removeItem(storageKey)
  else globalThis.localStorage.setItem(storageKey, next)
  showKeptColours()
}

/** Changes between light and dark. */
export const ColourSwitch = () => (
  <button
    type="button"
    className="quiet sign"
    title={appTexts.lightOrDark}
    aria-label={appTexts.lightOrDarkColours}
    onClick={change}
  >
    <Icon name="colours" />
  </button>
)
