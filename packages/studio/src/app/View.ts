/** The views of the page. The address names the view, and what is shown of the contacts, or the rule of an export. (find/ContactsAddress) */
import { Atom } from "effect/reactivity"
import {
  addressOf,
  type ContactsShown,
  problemOf,
  type ReadAddress,
  readAddress,
  shown,
  shownRule
} from "../find/ContactsAddress.ts"
import type { IconName } from "../kit/Icon.tsx"
import { exportAddress } from "../rules/AppliedRule.ts"
import { appTexts } from "../texts/AppTexts.ts"
import type { sharedTexts } from "../texts/SharedTexts.ts"

/** The views, in their order, with the level that a view shows nothing without. Each has the icon and the title of its name. */
export const views = [
  { id: "contacts", needs: "ViewContacts" },
  { id: "overview", needs: "ViewContacts" },
  { id: "lists", needs: "ViewContacts" },
  { id: "import", needs: undefined },
  { id: "export", needs: "Export" },
  { id: "history", needs: undefined },
  { id: "keys", needs: "Security" }
] as const satisfies ReadonlyArray<{
  readonly id: IconName & keyof typeof sharedTexts.views
  readonly needs: string | undefined
}>

export type ListedView = (typeof views)[number]

export type View = ListedView["id"]

/** Names that addresses had before. */
const earlier: Readonly<Record<string, View>> = { runs: "history" }

/** The view that the fragment of an address names, and what stands behind it. */
const partsOf = (hash: string): { readonly id: View | undefined; readonly query: string } => {
  const text = hash.replace(/^#/, "")
  const [name = ""] = text.split("?", 1)
  const query = text.slice(name.length + 1)
  const known = views.find(({ id }) => id === name)?.id ?? (Object.hasOwn(earlier, name) ? earlier[name] : undefined)
  return { id: name === "" ? "contacts" : known, query }
}

/** The address of a view that shows these contacts. */
const addressIn = (id: View, given: ContactsShown): string =>
  `#${id === "contacts" ? addressOf(given) : id === "export" ? exportAddress(given.rule) : id}`

/** What an address says of the contacts, as its view reads it. */
const readIn = ({ id, query }: ReturnType<typeof partsOf>): ReadAddress =>
  id === "export" ? readAddress(query, ["rule"]) : readAddress(id === "contacts" ? query : "")

/** The view that is shown. */
export const view = Atom.keepAlive(Atom.make<View>("contacts"))

/** What is wrong with the address, in a sentence. */
export const addressProblem = Atom.keepAlive(Atom.make<string | undefined>(undefined))

/** The address of what is shown, which opens what it is set to. */
export const address = Atom.writable(
  (get): string => addressIn(get(view), get(shown)),
  (context, hash: string) => {
    const parts = partsOf(hash)
    const { id } = parts
    context.set(view, id ?? "contacts")
    if (id !== undefined && id !== "contacts" && id !== "export") return context.set(addressProblem, undefined)
    const read = readIn(parts)
    if (id === "export") context.set(shownRule, read)
    else context.set(shown, read)
    context.set(addressProblem, id === undefined ? appTexts.noView : problemOf(read))
  }
)

/** The address as this page would write it, in which what it does not know is left out. */
export const canonical = (hash: string): string => {
  const parts = partsOf(hash)
  return addressIn(parts.id ?? "contacts", readIn(parts).shown)
}

/** The addresses that lead to the views, with what was last shown of the contacts. */
export const addresses = Atom.readable((get) => (id: View) => addressIn(id, get(shown)))
