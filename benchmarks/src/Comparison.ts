/**
 * Variants side by side: each once a round, the first one another each round, so that what the machine does meanwhile
 * meets all of them.
 */
import { Console, Effect } from "effect"
import { rounds } from "./Settings.ts"
import type { Figure } from "./Trial.ts"
import type { Variant } from "./Variant.ts"

/** The runs of some variants, by the name of the variant; the runs of one round stand at one place. */
export type Runs<Name extends string = string> = Readonly<Record<Name, ReadonlyArray<Figure>>>

/** What a figure is looked at for. All but `rate` are better when smaller. */
export type Measure = "rate" | "time" | "cpu" | "memory"

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** A figure of one run: units a second, seconds a unit, CPU seconds a unit, or MiB. */
export const valueOf = (measure: Measure, { cpuSeconds, peakMiB, seconds, units }: Figure): number =>
  measure === "rate"
    ? units / seconds
    : measure === "time"
      ? seconds / units
      : measure === "cpu"
        ? cpuSeconds / units
        : peakMiB

/** The median, over the rounds, of what one variant has of another's. */
export const ratio = <Name extends string>(runs: Runs<Name>, measure: Measure, own: Name, reference: Name): number =>
  median(
    runs[own].flatMap((figure, round) => {
      const other = runs[reference][round]
      return other === undefined ? [] : [valueOf(measure, figure) / valueOf(measure, other)]
    })
  )

/** Runs every variant once a round. */
export const compare = Effect.fnUntraced(function* <Name extends string>(
  variants: ReadonlyArray<Variant & { readonly name: Name }>,
  options: { readonly rounds?: number } = {}
) {
  // Every name of a variant is put in here below.
  const runs = Object.fromEntries(variants.map(({ name }) => [name, []])) as unknown as Record<Name, Array<Figure>>
  for (let round = 0; round < (options.rounds ?? rounds); round++) {
    const turn = round % variants.length
    for (const { name, run } of [...variants.slice(turn), ...variants.slice(0, turn)]) {
      const figure = yield* run
      runs[name].push(figure)
      yield* Console.error(
        `  ${name}: ${(figure.units / figure.seconds).toPrecision(4)}/s, ${figure.seconds.toFixed(2)} s`
      )
    }
  }
  const finished: Runs<Name> = runs
  return finished
})
