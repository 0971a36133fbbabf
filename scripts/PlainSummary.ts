/**
 * The last lines of a test run: how many fault cases survived, and `N passed, N failed`.
 */
import type { Reporter, TestModule } from "vitest/node"
import { idsOf } from "./Reliability.ts"

export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 }
    const survivors = new Map<string, boolean>()
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== "pending") count[state]++
        if (state === "skipped") continue
        for (const id of idsOf(test.name)) survivors.set(id, (survivors.get(id) ?? true) && state === "passed")
      }
    }
    const survived = [...survivors.values()].filter(Boolean).length
    const skipped = count.skipped === 0 ? "" : `, ${count.skipped} skipped`
    if (survivors.size > 0) process.stdout.write(`\nfault cases: ${survived} of ${survivors.size} survived\n`)
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`)
  }
}
