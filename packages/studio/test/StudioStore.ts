/** The atoms of the page on a store in memory, for tests without a browser. */
import { ContactsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { RunLog } from "@roster/workflows"
import { Effect, Layer } from "effect"
import { Atom, AtomRegistry, type AsyncResult } from "effect/reactivity"
import { services } from "../src/session/Session.ts"

/** A registry whose services are a store in memory, and what runs on that store itself. */
export const studioStore = Effect.gen(function* () {
  const context = yield* Layer.build(Layer.merge(Layer.fresh(layerMemory()), RunLog.layerMemory()))
  const registry = yield* Effect.acquireRelease(
    Effect.sync(() =>
      AtomRegistry.make({ initialValues: [Atom.initialValue(services, Layer.succeedContext(context))] })
    ),
    (made) => Effect.sync(() => made.dispose())
  )
  return {
    registry,
    contacts: ContactsService.use(Effect.succeed).pipe(Effect.provideContext(context)),
    /** Keeps an atom while the test runs, as a component does. */
    mount: (atom: Atom.Atom<unknown>) => Effect.sync(() => registry.mount(atom)),
    /** What an atom comes to. */
    result: <A, E>(atom: Atom.Atom<AsyncResult.AsyncResult<A, E>>) =>
      AtomRegistry.getResult(registry, atom, { suspendOnWaiting: true }),
    /** Sets an atom of a program, and gives what that comes to. */
    run: <A, E, W>(atom: Atom.Writable<AsyncResult.AsyncResult<A, E>, W>, given: W) =>
      Effect.suspend(() => {
        registry.mount(atom)
        registry.set(atom, given)
        return AtomRegistry.getResult(registry, atom, { suspendOnWaiting: true })
      })
  }
})
