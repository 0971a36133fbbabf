/**
 * The count that a run of fault cases ends with. A case is known by the identifier that its tests begin with, and survived
 * where all of them pass.
 */
import { afterAll } from "@effect/vitest"

interface Task {
  readonly type: string
  readonly name: string
  readonly mode: string
  readonly result?: { readonly state: string } | undefined
  readonly tasks?: ReadonlyArray<Task>
}

/** The tests of a suite, however deep. */
const testsOf = (task: Task): ReadonlyArray<Task> => (task.tasks === undefined ? [task] : task.tasks.flatMap(testsOf))

/** Which cases there are among the tests, and which of them did not survive. Tests that were not run do not count. */
export const countSurvivors = (
  suite: Task
): { readonly cases: ReadonlySet<string>; readonly lost: ReadonlySet<string> } => {
  const cases = new Set<string>()
  const lost = new Set<string>()
  for (const test of testsOf(suite)) {
    const id = /^[A-Z]\d{2}/.exec(test.name)?.[0]
    if (id === undefined || test.mode !== "run" || test.result === undefined) continue
    cases.add(id)
    if (test.result.state !== "pass") lost.add(id)
  }
  return { cases, lost }
}

/** Prints `N of N survived` once the cases of a file have run, and which were lost. */
export const printSurvivors = (section: string): void =>
  // Nothing is asked of the context, which can only be written so.
  // oxlint-disable-next-line no-empty-pattern
  afterAll(({}, suite) => {
    const { cases, lost } = countSurvivors(suite)
    if (cases.size === 0) return
    const names = lost.size === 0 ? "" : ` (lost: ${[...lost].sort().join(", ")})`
    process.stdout.write(`${section}: ${cases.size - lost.size} of ${cases.size} survived${names}\n`)
  })
