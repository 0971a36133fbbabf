/** `RESULTS.md`: a section for each benchmark, of which a run replaces those that it made. */
import { Effect, FileSystem } from "effect"
import { fileURLToPath } from "node:url"
import type { Benchmark, Outcome } from "./Benchmark.ts"
import { print } from "./Benchmark.ts"
import { rounds } from "./Settings.ts"
import { describeMachine } from "./Machine.ts"

const file = fileURLToPath(new URL("../RESULTS.md", import.meta.url))

const begin = (name: string) => `<!-- bench ${name} -->`

const head = `# Results

What \`pnpm bench\` printed. Every figure stands beside a reference that ran in the same minutes on the same machine; the
absolute ones drift with the machine, so the ratios are what counts: medians over the rounds of what a variant had of the
reference in that round. CPU is that of the whole process, kernel and threads included; the peak is of its resident memory.
How to run them is in [README.md](README.md).
`

/** The sections of the file as it is, by the name of their benchmark. */
const sectionsOf = (text: string): Map<string, string> =>
  new Map(
    text
      .split(/^(?=<!-- bench )/m)
      .slice(1)
      .map((section) => [/^<!-- bench ([\w-]+) -->/.exec(section)?.[1] ?? "", section.trimEnd()])
  )

/** Puts what was found into the file. A run with fewer rounds than a median takes is printed and not kept. */
export const keepResults = Effect.fnUntraced(function* (
  order: ReadonlyArray<Benchmark>,
  found: ReadonlyArray<readonly [Benchmark, Outcome]>
) {
  const files = yield* FileSystem.FileSystem
  const before = (yield* files.exists(file)) ? yield* files.readFileString(file) : ""
  const sections = sectionsOf(before)
  const when = `${new Date().toISOString().slice(0, 10)}, ${rounds} rounds. ${describeMachine()}`
  for (const [benchmark, outcome] of found) {
    sections.set(benchmark.name, `${begin(benchmark.name)}\n${print(benchmark, outcome)}\n\n_${when}_`)
  }
  const kept = order.flatMap(({ name }) => sections.get(name) ?? [])
  yield* files.writeFileString(file, `${[head.trimEnd(), ...kept].join("\n\n")}\n`)
})
