/** What was done to a contact, which is read once a person asks for it. */
import { newestHistory } from "@roster/workflows"
import { Atom } from "effect/reactivity"
import { pageSize } from "../kit/Pager.tsx"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"

/** Whether the history of the contact that is open is shown. */
export const historyShown = Atom.make(false)

/** How many pages of a history are shown. */
export const historyPages = Atom.family((_email: string) => Atom.make(1))

/** What was done to a contact, the newest first. */
export const history = Atom.family((email: string) =>
  Atom.withReactivity(contactsChanged)(
    runtime.atom((get) => newestHistory(email, get(historyPages(email)) * get(pageSize)))
  )
)
