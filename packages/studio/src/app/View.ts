/** The views of the page. The address names the view and nothing else. */
import { Atom } from "effect/reactivity"
import type { IconName } from "../kit/Icon.tsx"

/** The views, in their order, with the level that a view shows nothing without. Each has the icon of its name. */
export const views = [
  { id: "contacts", title: "Contacts", needs: "ViewContacts" },
  { id: "lists", title: "Lists", needs: "ViewContacts" },
  { id: "import", title: "Import", needs: undefined },
  { id: "export", title: "Export", needs: "Export" },
  { id: "history", title: "History", needs: undefined },
  { id: "keys", title: "Keys", needs: "Security" }
] as const satisfies ReadonlyArray<{
  readonly id: IconName
  readonly title: string
  readonly needs: string | undefined
}>

export type ListedView = (typeof views)[number]

export type View = ListedView["id"]

/** Names that addresses had before. */
const earlier: Readonly<Record<string, View>> = { "#runs": "history" }

/** The view that the fragment of an address names; contacts, if it names none. */
export const viewOf = (hash: string): View =>
  earlier[hash] ?? views.find(({ id }) => hash === `#${id}`)?.id ?? "contacts"

/** The view that is shown. */
export const view = Atom.keepAlive(Atom.make<View>("contacts"))
