/** The text of addresses that a person pastes, in a file of its own since the first script needs no more of them. */
import { Atom } from "effect/reactivity"

/** The text that was pasted, while it is looked at; empty before anything is. */
export const pasted = Atom.keepAlive(Atom.make<string | undefined>(undefined))
