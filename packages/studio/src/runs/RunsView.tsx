/** The history: what was done, when, and how it ended. One run is opened to see what it changed, and to undo it. */
import type { ListedRun } from "@roster/workflows"
import { AsyncResult } from "effect/reactivity"
import { useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Empty } from "../kit/Empty.tsx"
import { Icon } from "../kit/Icon.tsx"
import { Count, Numbers, Table } from "../kit/Table.tsx"
import { Time } from "../kit/Times.tsx"
import { unseen } from "../kit/Unseen.tsx"
import * as RunAtoms from "./RunAtoms.ts"
import { RunCard } from "./RunCard.tsx"
import { StateMark } from "./StateMark.tsx"
import { runTexts, whatOf } from "../texts/RunTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import { beganAt } from "./RunWords.ts"
import { ReadProblem } from "../session/ReadProblem.tsx"

const List = ({ runs }: { readonly runs: ReadonlyArray<ListedRun> }) => {
  const open = useAtomSet(RunAtoms.opened)
  const look = useAtomSet(RunAtoms.lookUndo)
  if (runs.length === 0) {
    return (
      <Empty icon="history" title={runTexts.nothing}>
        <p>{runTexts.nothingYet}</p>
        <a className="button" href="#import">
          {sharedTexts.importFile}
        </a>
      </Empty>
    )
  }
  // Where runs are kept by the service, none was elsewhere.
  const isElsewhere = runs.some((run) => !run.isHere)
  const { added, changed, deleted, undo, where, who } = runTexts.headings
  const { state, what, when } = sharedTexts
  return (
    <Table
      label={sharedTexts.whatWasDone}
      columns={[
        what,
        when,
        <Numbers key="added">{added}</Numbers>,
        <Numbers key="changed">{changed}</Numbers>,
        <Numbers key="deleted">{deleted}</Numbers>,
        state,
        who,
        ...(isElsewhere ? [where] : []),
        unseen(undo)
      ]}
      className="broad"
    >
      {runs.map((run) => (
        <tr key={run.header.id}>
          <th scope="row" className="lead">
            <button type="button" className="link" onClick={() => open(run.header.id)}>
              <bdi>{whatOf(run.header)}</bdi>
            </button>
          </th>
          <td>
            <Time at={beganAt(run.header)} />
          </td>
          <Count of={run.counts.created} />
          <Count of={run.counts.changed} />
          <Count of={run.counts.deleted} />
          <td>
            <StateMark run={run} />
          </td>
          <td>
            <bdi>{run.header.by ?? sharedTexts.owner}</bdi>
          </td>
          {isElsewhere ? <td>{run.isHere ? runTexts.here : (run.header.name ?? run.header.target)}</td> : null}
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
                {runTexts.undo(whatOf(run.header), unseen)}
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
  // A run that is open, and what its undo would do, stay while the list cannot be read again.
  const runs = AsyncResult.getOrElse(result, () => undefined)
  const run = runs?.find(({ header }) => header.id === opened)
  return (
    <section aria-labelledby="runs-title">
      <div className="title">
        <h1 id="runs-title">{sharedTexts.views.history}</h1>
      </div>
      <ReadProblem of={result} />
      {AsyncResult.isInitial(result) ? (
        <p>{runTexts.reading}</p>
      ) : runs === undefined ? null : run === undefined ? (
        <List runs={runs} />
      ) : (
        <RunCard key={run.header.id} run={run} />
      )}
    </section>
  )
}
