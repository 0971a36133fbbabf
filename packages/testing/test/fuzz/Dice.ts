/** Choices of a run that its seed repeats. */
import { seededRandom } from "../../src/simulation/LongRun.ts"

export interface Dice {
  /** A whole number from 0 to below the bound. */
  readonly below: (bound: number) => number
  readonly chance: (probability: number) => boolean
  /** One of a list that is not empty. */
  readonly pick: <A>(list: ReadonlyArray<A>) => A
  /** Some of a list, each with this probability, in their order. */
  readonly some: <A>(list: ReadonlyArray<A>, probability?: number) => ReadonlyArray<A>
  /** One of the values, by their weights. */
  readonly weighted: <A>(choices: ReadonlyArray<readonly [weight: number, value: A]>) => A
}

export const makeDice = (seed: number): Dice => {
  const random = seededRandom(seed)
  const below = (bound: number) => Math.floor(random() * bound)
  const chance = (probability: number) => random() < probability
  const nothing = (): never => {
    throw new Error("there is nothing to choose from")
  }
  const pick = <A>(list: ReadonlyArray<A>): A => {
    const at = below(list.length)
    // The value itself may be undefined.
    return at < list.length ? (list[at] as A) : nothing()
  }
  return {
    below,
    chance,
    pick,
    some: (list, probability = 0.5) => list.filter(() => chance(probability)),
    weighted: (choices) => {
      let left = random() * choices.reduce((sum, [weight]) => sum + weight, 0)
      const found = choices.find(([weight]) => (left -= weight) < 0)
      return found === undefined ? nothing() : found[1]
    }
  }
}
