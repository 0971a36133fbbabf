/**
 * Atoms in Preact: what a component reads, sets and keeps. Effect's own package for React is made for the version before,
 * and these hooks are all that the page needs of it. (docs/decisions/studio.md)
 */
import { type Atom, AtomRegistry } from "effect/reactivity"
import { createContext, type ReactNode, useCallback, useContext, useEffect, useSyncExternalStore } from "preact/compat"

const RegistryContext = createContext(AtomRegistry.make())

/** Gives the components below it the atoms of a registry. */
export const AtomProvider = ({
  children,
  registry
}: {
  readonly children: ReactNode
  readonly registry: AtomRegistry.AtomRegistry
}) => <RegistryContext value={registry}>{children}</RegistryContext>

/** The registry, for events that look at an atom once. */
export const useRegistry = (): AtomRegistry.AtomRegistry => useContext(RegistryContext)

/** The value of an atom, which renders the component again when it changes. */
export const useAtomValue = <A,>(atom: Atom.Atom<A>): A => {
  const registry = useRegistry()
  const subscribe = useCallback((changed: () => void) => registry.subscribe(atom, changed), [registry, atom])
  return useSyncExternalStore(subscribe, () => registry.get(atom))
}

/** Sets an atom, which stays while the component does. */
export const useAtomSet = <R, W>(atom: Atom.Writable<R, W>): ((value: W) => void) => {
  const registry = useRegistry()
  useEffect(() => registry.mount(atom), [registry, atom])
  return useCallback((value: W) => registry.set(atom, value), [registry, atom])
}

/** The value of an atom, and what sets it. */
export const useAtom = <R, W>(atom: Atom.Writable<R, W>): readonly [R, (value: W) => void] => [
  useAtomValue(atom),
  useAtomSet(atom)
]
