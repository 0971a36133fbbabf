/** The history: what was done, when, and how it ended. One run is opened to see what it changed, and to undo it. */
import type { ListedRun } from "@roster/workflows"
import { AsyncResult } from "effect/reactivity"
import { useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Empty } from "../kit/Empty.tsx"
import { Icon } from "../kit/Icon.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Count, Numbers, Table } from "../kit/Table.tsx"
import { Time } from "../kit/Times.tsx"
import * as RunAtoms from "./RunAtoms.ts"
import { RunCard } from "./RunCard.tsx"
import { StateMark } from "./StateMark.tsx"
import { whatOf } from "../session/DeedWords.ts"
import { beganAt } from "./RunWords.ts"

const List = ({ runs }: { readonly runs: ReadonlyArray<ListedRun> }) => {
  const open = useAtomSet(RunAtoms.opened)
  const look = useAtomSet(RunAtoms.lookUndo)
  if (runs.length === 0) {
    return (
      <Empty icon="history" title="Nothing was changed yet">
        <p>What is imported, edited or deleted stands here from then on, and can be undone.</p>
        <a className="button" href="#import">
          Import a file
        </a>
      </Empty>
    )
  }
  return (
    <Table
      label="What was done"
      columns={[
        "When",
        "What",
        <Numbers key="added">Added</Numbers>,
        <Numbers key="changed">Changed</Numbers>,
        <Numbers key="deleted">Deleted</Numbers>,
        "State",
        "Who",
        "Where",
        <span key="undo" className="unseen">
          Undo
        </span>
      ]}
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
          <Count of={run.counts.created} />
          <Count of={run.counts.changed} />
          <Count of={run.counts.deleted} />
          <td>
            <StateMark run={run} />
          </td>
          <td>
            <bdi>{run.header.by ?? ""}</bdi>
          </td>
          <td>{run.isHere ? "here" : (run.header.name ?? run.header.target)}</td>
          <td>
            {run.isHere && run.state !== "GoingOn" && run.undoneBy === undefined ? (
              <button
                type="button"
                className="quiet"
                onClick={() => {
                  open(run.header.id)
                  look(run.header.id)
                }}
              >
                <Icon name="undo" />
                Undo<span className="unseen"> {whatOf(run.header)}</span>…
              </button>
            ) : null}
          </td>
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
      <div className="title">
        <h1 id="runs-title">History</h1>
      </div>
      <Problem message={problemOf(result)} />
      {AsyncResult.isInitial(result) ? (
        <p>Reading the history…</p>
      ) : run === undefined ? (
        <List runs={runs} />
      ) : (
        <RunCard key={run.header.id} run={run} />
      )}
    </section>
  )
}
