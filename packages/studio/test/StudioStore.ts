/** The atoms of the page on a store in memory, for tests without a browser. */
import { ContactsService } from "@roster/domain"
import type { RosterClient } from "@roster/http-client"
import { layerMemory } from "@roster/server"
import { RunLog } from "@roster/workflows"
import { Effect, Layer } from "effect"
import { Atom, AtomRegistry, type AsyncResult } from "effect/reactivity"
import { services } from "../src/session/Session.ts"

/** A registry with these services and values of other atoms, and what runs on the services without it. */
export const studioOn = Effect.fnUntraced(function* <E>(
  given: Layer.Layer<RosterClient.Services, E>,
  values: Iterable<readonly [Atom.Atom<unknown>, unknown]> = []
) {
  const context = yield* Layer.build(Layer.provideMerge(RunLog.layer, given))
  const registry = yield* Effect.acquireRelease(
    Effect.sync(() =>
      AtomRegistry.make({ initialValues: [Atom.initialValue(services, Layer.succeedContext(context)), ...values] })
    ),
    (made) => Effect.sync(() => made.dispose())
  )
  return {
    registry,
    contacts: ContactsService.use(Effect.succeed).pipe(Effect.provideContext(context)),
    /** Asks the store itself. */
    ask: Effect.provideContext(context),
    /** Keeps an atom while the test runs, as a component does. */
    mount: (atom: Atom.Atom<unknown>) => Effect.sync(() => registry.mount(atom)),
    /** What an atom comes to. */
    result: <A, E>(atom: Atom.Atom<AsyncResult.AsyncResult<A, E>>) =>
      AtomRegistry.getResult(registry, atom, { suspendOnWaiting: true }),
    /** Waits until an atom has a value in which this finds something. */
    until: <A, B>(atom: Atom.Atom<A>, find: (value: A) => B | undefined) =>
      Effect.callback<B>((resume) => {
        const look = (value: A): void => {
          const found = find(value)
          if (found !== undefined) resume(Effect.succeed(found))
        }
        const cancel = registry.subscribe(atom, look)
        look(registry.get(atom))
        return Effect.sync(cancel)
      }),
    /** Sets an atom of a program, and gives what that comes to. */
    run: <A, E, W>(atom: Atom.Writable<AsyncResult.AsyncResult<A, E>, W>, given: W) =>
      Effect.suspend(() => {
        registry.mount(atom)
        registry.set(atom, given)
        return AtomRegistry.getResult(registry, atom, { suspendOnWaiting: true })
      })
  }
})

/** A registry whose services are a store in memory. */
export const studioStore = Effect.suspend(() => studioOn(Layer.fresh(layerMemory())))
