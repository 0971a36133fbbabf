/**
 * The table of fault cases in docs/reliability.md, from the results of a whole test run: `pnpm docs:reliability` writes
 * it, and with `ROSTER_RELIABILITY=check` a run fails that finds another one, or a case that has not survived.
 */
import { readFileSync, writeFileSync } from "node:fs"
import type { Reporter, TestModule } from "vitest/node"
import { faultCases } from "./FaultCases.ts"
import { pageTable } from "./PageTable.ts"

export const page = "docs/reliability.md"

/** What became of the tests of a case: all passed, one failed, all are left to the nightly run, or all were skipped. */
export type Outcome = "survived" | "lost" | "nightly" | "skipped"

export interface CaseResult {
  readonly files: ReadonlySet<string>
  readonly outcome: Outcome
}

/** The results of the cases by their ids. */
type Results = ReadonlyMap<string, CaseResult>

/** The ids at the head of the name of a test: `S40 …`, or `C46, C47 …`. */
export const idsOf = (name: string): ReadonlyArray<string> =>
  /^(?:[CSK]\d\d\b(?:, | and )?)+/.exec(name)?.[0].match(/[CSK]\d\d/g) ?? []

/** Whether the name of a test, with those of its groups, says that only the nightly run tries it. */
export const isNightly = (name: string): boolean => name.includes("(nightly)")

/** A test that has run. */
export interface SeenTest {
  readonly file: string
  readonly name: string
  readonly state: string
}

export const resultsOf = (tests: Iterable<SeenTest>): Results => {
  const results = new Map<string, { readonly files: Set<string>; outcome: Outcome }>()
  for (const { file, name, state } of tests) {
    for (const id of idsOf(name)) {
      const result = results.get(id) ?? { files: new Set<string>(), outcome: "skipped" as Outcome }
      results.set(id, result)
      result.files.add(file)
      if (state === "passed") result.outcome = result.outcome === "lost" ? "lost" : "survived"
      else if (state !== "skipped") result.outcome = "lost"
      else if (isNightly(name) && result.outcome === "skipped") result.outcome = "nightly"
    }
  }
  return results
}

const fileLink = (file: string): string => `[${file.split("/").at(-1)}](../${file})`

const outcomeIn = (results: Results, id: string): Outcome | "no test" => results.get(id)?.outcome ?? "no test"

const cases = faultCases.flatMap((section) => section.cases)

/** The part of the page that the run writes. */
export const tableOf = (results: Results): string => {
  const due = cases.filter(({ id, later }) => later === undefined && outcomeIn(results, id) !== "nightly")
  const survived = due.filter(({ id }) => outcomeIn(results, id) === "survived")
  const sections = faultCases.map(({ cases, title }) => {
    const rows = cases.map(({ id, later, text }) => {
      const result = results.get(id)
      const files = [...(result?.files ?? [])].toSorted().map(fileLink).join(", ")
      return `| ${id} | ${text} | ${files} | ${later ?? outcomeIn(results, id)} |`
    })
    return [`## ${title}`, "", "| Case | What happens | Tests | Result |", "|---|---|---|---|", ...rows].join("\n")
  })
  return [`**${survived.length} of ${due.length} survived.**`, ...sections].join("\n\n")
}

/** The text of the page with the table in its place. */
export const withTable = pageTable("written by pnpm docs:reliability")

/** Cases that have not survived, and ids of tests that are no case. */
export const problemsOf = (results: Results): ReadonlyArray<string> => [
  ...cases
    .filter(({ id, later }) => later === undefined && !["survived", "nightly"].includes(outcomeIn(results, id)))
    .map(({ id, text }) => `${id} (${text}): ${outcomeIn(results, id)}`),
  ...[...results.keys()]
    .filter((id) => cases.every((known) => known.id !== id))
    .map((id) => `${id} is no case of scripts/FaultCases.ts`)
]

const seenIn = (modules: ReadonlyArray<TestModule>): ReadonlyArray<SeenTest> =>
  modules.flatMap((module) =>
    [...module.children.allTests()].map((test) => ({
      file: module.relativeModuleId,
      name: test.name,
      state: test.result().state
    }))
  )

export default class Reliability implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const mode = process.env["ROSTER_RELIABILITY"]
    if (mode !== "check" && mode !== "write") return
    const results = resultsOf(seenIn(modules))
    const text = readFileSync(page, "utf8")
    const found = withTable(text, tableOf(results))
    const isOld = mode === "check" && text !== found
    if (mode === "write") writeFileSync(page, found)
    const problems = [
      ...problemsOf(results),
      ...(isOld ? [`${page} shows another table than this run; write it with: pnpm docs:reliability`] : [])
    ]
    if (problems.length === 0) return
    process.stdout.write(`\nfault cases:\n${problems.join("\n")}\n`)
    process.exitCode = 1
  }
}
