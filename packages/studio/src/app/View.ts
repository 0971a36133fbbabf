/** The views of the page. The address names the view and nothing else. */
import { Atom } from "effect/reactivity"

/** The views, in their order, with the level that a view shows nothing without. */
export const views = [
  { id: "contacts", title: "Contacts", needs: "ViewContacts" },
  { id: "lists", title: "Lists", needs: "ViewContacts" },
  { id: "import", title: "Import", needs: undefined },
  { id: "export", title: "Export", needs: "Export" },
  { id: "keys", title: "Keys", needs: "Security" },
  { id: "runs", title: "Runs", needs: undefined }
] as const

export type ListedView = (typeof views)[number]

export type View = ListedView["id"]

/** The view that the fragment of an address names; contacts, if it names none. */
export const viewOf = (hash: string): View => views.find(({ id }) => hash === `#${id}`)?.id ?? "contacts"

/** The view that is shown. */
export const view = Atom.keepAlive(Atom.make<View>("contacts"))
