/** What a simulation decides in place of the machine. Nothing else provides it. (docs/testing.md) */
import { Context, Effect } from "effect"

/** A simulation, as the programs in it see it. */
export interface Simulator {
  /** Does at a mark what the seed wants: most often nothing, else it waits. */
  readonly sometimes: (mark: string) => Effect.Effect<void>
}

/**
 * The simulation that a program runs in (default: none). The store asks it, and not the machine, when to let
 * others go on. A reference, since no function of a product takes a parameter for tests.
 */
export const Simulator = Context.Reference<Simulator | undefined>("@roster/domain/Simulator", {
  defaultValue: () => undefined
})

/**
 * Marks a situation that an order of steps has to come to, such as a write whose answer was lost: a simulation waits there
 * for some seeds, and reports the marks that it has reached. Elsewhere it does nothing.
 */
export const sometimes = (mark: string): Effect.Effect<void> =>
  Effect.withFiber((fiber) => fiber.getRef(Simulator)?.sometimes(mark) ?? Effect.void)
