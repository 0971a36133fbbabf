/**
 * The count at the end of a run of fault cases. A case is identified by the prefix of its tests, and survived if all of
 * them pass.
 */
import { afterAll } from "@effect/vitest"

interface Task {
  readonly type: string
  readonly name: string
  readonly mode: string
  readonly result?: { readonly state: string } | undefined
  readonly tasks?: ReadonlyArray<Task>
}

/** The tests of a suite at any depth. */
const testsOf = (task: Task): ReadonlyArray<Task> => (task.tasks === undefined ? [task] : task.tasks.flatMap(testsOf))

/** The cases among the tests, and those that did not survive. Tests that did not run do not count. */
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

/** Prints `N of N survived` after the cases of a file, and names the lost ones. */
export const printSurvivors = (section: string): void =>
  // Vitest requires a destructured context, and nothing of it is used.
  // oxlint-disable-next-line no-empty-pattern
  afterAll(({}, suite) => {
    const { cases, lost } = countSurvivors(suite)
    if (cases.size === 0) return
    const names = lost.size === 0 ? "" : ` (lost: ${[...lost].sort().join(", ")})`
    process.stdout.write(`${section}: ${cases.size - lost.size} of ${cases.size} survived${names}\n`)
  })
