/** The runs: what was done, when, and how it ended. One of them is opened to see what it changed, and to undo it. */
import type { ListedRun } from "@roster/workflows"
import { AsyncResult } from "effect/reactivity"
import { useAtom, useAtomValue } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Table } from "../kit/Table.tsx"
import { Time } from "../kit/Times.tsx"
import * as RunAtoms from "./RunAtoms.ts"
import { RunCard } from "./RunCard.tsx"
import { beganAt, stateWords, whatOf } from "./RunWords.ts"

const List = ({ runs }: { readonly runs: ReadonlyArray<ListedRun> }) => {
  const [, open] = useAtom(RunAtoms.opened)
  if (runs.length === 0) {
    return <p>Nothing was changed yet. What is imported, edited or deleted here becomes a run, which can be undone.</p>
  }
  return (
    <Table
      label="All runs"
      columns={["When", "What", "Added", "Changed", "Deleted", "State", "Who", "Where"]}
      className="broad"
    >
      {runs.map((run) => (
        <tr key={run.header.id}>
          <td>
            <button type="button" className="link" onClick={() => open(run.header.id)}>
              <Time at={beganAt(run.header)} />
            </button>
          </td>
          <td>
            <bdi>{whatOf(run.header)}</bdi>
          </td>
          <td>{run.counts.created.toLocaleString()}</td>
          <td>{run.counts.changed.toLocaleString()}</td>
          <td>{run.counts.deleted.toLocaleString()}</td>
          <td>{stateWords(run)}</td>
          <td>
            <bdi>{run.header.by ?? ""}</bdi>
          </td>
          <td>{run.isHere ? "here" : (run.header.name ?? run.header.target)}</td>
        </tr>
      ))}
    </Table>
  )
}

export const RunsView = () => {
  const result = useAtomValue(RunAtoms.runs)
  const opened = useAtomValue(RunAtoms.opened)
  const runs = AsyncResult.isSuccess(result) ? result.value : []
  const run = runs.find(({ header }) => header.id === opened)
  return (
    <section aria-labelledby="runs-title">
      <h1 id="runs-title" className="unseen">
        Runs
      </h1>
      <Problem message={problemOf(result)} />
      {AsyncResult.isInitial(result) ? (
        <p>Reading the runs…</p>
      ) : run === undefined ? (
        <List runs={runs} />
      ) : (
        <RunCard key={run.header.id} run={run} />
      )}
    </section>
  )
}
