/** The conformance suite as tests of Vitest. */
import { describe, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { caseTimeout, type ConformanceCase } from "./conformance/cases/Cases.ts"

/**
 * Registers cases as tests of a layer, which is built once: `testConformance("my cache", conformance.contacts(), myCache)`.
 * The tests run on the real clock.
 */
export const testConformance = <R, E>(
  name: string,
  cases: ReadonlyArray<ConformanceCase<R>>,
  services: Layer.Layer<R, E>
): void =>
  layer(services, { excludeTestServices: true, timeout: caseTimeout })(name, (it) => {
    for (const [area, ofArea] of Map.groupBy(cases, ({ area }) => area)) {
      describe(area, () => {
        for (const { name, run } of ofArea) {
          // Vitest shows the differences of an assertion that is thrown.
          it.effect(name, () => Effect.catch(run, ({ cause }) => Effect.die(cause)), caseTimeout)
        }
      })
    }
  })
