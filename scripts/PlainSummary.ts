/**
 * The last lines of a test run: what this machine cannot test, how many fault cases survived, and `N passed, N failed`. With
 * `ROSTER_REQUIRE_ALL`, a run fails that skips more than what is left to the nightly one.
 */
import type { Reporter, TestModule } from "vitest/node"
import { idsOf, isNightly } from "./Reliability.ts"

export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 }
    const survivors = new Map<string, boolean>()
    const missing: Array<string> = []
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== "pending") count[state]++
        if (state === "skipped") {
          if (!isNightly(test.fullName)) missing.push(`${module.relativeModuleId}: ${test.fullName}`)
          continue
        }
        for (const id of idsOf(test.name)) survivors.set(id, (survivors.get(id) ?? true) && state === "passed")
      }
    }
    const survived = [...survivors.values()].filter(Boolean).length
    const skipped = count.skipped === 0 ? "" : `, ${count.skipped} skipped`
    if (missing.length > 0) {
      process.stdout.write(`\nskipped, since this machine cannot run them:\n${missing.join("\n")}\n`)
      if (process.env["ROSTER_REQUIRE_ALL"] !== undefined) process.exitCode = 1
    }
    if (survivors.size > 0) process.stdout.write(`\nfault cases: ${survived} of ${survivors.size} survived\n`)
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`)
  }
}
