/** The overview: how many people there are, who gets mail and who does not, since when, on which lists, and what happened last. */
import type { AccountSummary } from "@roster/domain"
import { AsyncResult } from "effect/reactivity"
import type { ReactNode } from "preact/compat"
import { useAtomValue } from "../kit/Atoms.tsx"
import { counted, people } from "../kit/Counts.ts"
import { download } from "../kit/Download.ts"
import { Empty } from "../kit/Empty.tsx"
import { Mark, StatusMark } from "../kit/Mark.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Numbers, Table } from "../kit/Table.tsx"
import { monthWords, Time } from "../kit/Times.tsx"
import * as RunAtoms from "../runs/RunAtoms.ts"
import { beganAt } from "../runs/RunWords.ts"
import { StateMark } from "../runs/StateMark.tsx"
import { whatOf } from "../session/DeedWords.ts"
import { missing } from "../session/Rights.tsx"
import { Growth, Share } from "./Charts.tsx"
import * as OverviewAtoms from "./OverviewAtoms.ts"

const { figuresOf, fileOf, listsOf, monthsOf, peopleAt, shownMonths, statusesOf } = OverviewAtoms

/** A number that leads to its people. */
const Leading = ({ contacts, rule }: Pick<OverviewAtoms.Figure, "contacts" | "rule">) => (
  <a href={peopleAt(rule)}>{contacts.toLocaleString()}</a>
)

const Rows = ({
  figures,
  nameOf = ({ name }) => <bdi>{name}</bdi>
}: {
  readonly figures: ReadonlyArray<OverviewAtoms.Figure>
  readonly nameOf?: (figure: OverviewAtoms.Figure) => ReactNode
}) => {
  const most = Math.max(0, ...figures.map(({ contacts }) => contacts))
  return (
    <>
      {figures.map((figure) => (
        <tr key={figure.name}>
          <th scope="row">{nameOf(figure)}</th>
          <td className="number">
            <Leading {...figure} />
          </td>
          <td className="shares">
            <Share of={figure.contacts} among={most} />
          </td>
        </tr>
      ))}
    </>
  )
}

const columnsOf = (name: string): ReadonlyArray<ReactNode> => [
  name,
  <Numbers key="contacts">Contacts</Numbers>,
  <span key="share" className="unseen">
    As a bar
  </span>
]

const Statuses = ({ summary }: { readonly summary: AccountSummary }) => (
  <section aria-labelledby="overview-statuses">
    <h2 id="overview-statuses">Who gets mail, and who does not</h2>
    <Table label="Contacts by status" columns={[...columnsOf("Status"), "Mail"]}>
      {statusesOf(summary).map(({ contacts, isMailed, name, rule }) => (
        <tr key={name}>
          <th scope="row">
            <StatusMark status={name} />
          </th>
          <td className="number">
            <Leading contacts={contacts} rule={rule} />
          </td>
          <td className="shares">
            <Share of={contacts} among={summary.contacts} />
          </td>
          <td>{isMailed ? "gets mail" : "gets none"}</td>
        </tr>
      ))}
    </Table>
  </section>
)

const Months = ({ summary }: { readonly summary: AccountSummary }) => {
  const months = monthsOf(summary)
  const shown = months.slice(-shownMonths)
  const added = shown.reduce((sum, { contacts }) => sum + contacts, 0)
  return (
    <section aria-labelledby="overview-months">
      <h2 id="overview-months">Added by month</h2>
      <Growth
        label={`${people(added)} added in the last ${counted(shown.length, "month")}, as the table below has them`}
        months={shown}
      />
      <details>
        <summary>As a table</summary>
        <Table label="Contacts by the month in which they were added" columns={columnsOf("Month")} className="rows">
          <Rows
            figures={months.toReversed().filter(({ contacts }) => contacts > 0)}
            nameOf={({ name }) => monthWords(name)}
          />
        </Table>
      </details>
    </section>
  )
}

/** The most lists that stand here. The view of lists has all. */
const shownLists = 10

const Lists = ({ summary }: { readonly summary: AccountSummary }) => {
  const lists = listsOf(summary)
  return (
    <section aria-labelledby="overview-lists">
      <h2 id="overview-lists">Lists</h2>
      {lists.length === 0 ? (
        <p>
          There are no lists yet. <a href="#lists">Make one</a>
        </p>
      ) : (
        <>
          <Table label="The largest lists" columns={columnsOf("List")}>
            <Rows figures={lists.slice(0, shownLists)} />
          </Table>
          {lists.length > shownLists ? (
            <p>
              <a href="#lists">All {lists.length.toLocaleString()} lists</a>
            </p>
          ) : null}
        </>
      )}
    </section>
  )
}

const shownRuns = 5

const Runs = () => {
  const result = useAtomValue(RunAtoms.runs)
  if (!AsyncResult.isSuccess(result)) return <Problem message={problemOf(result)} />
  return (
    <section aria-labelledby="overview-runs">
      <h2 id="overview-runs">What was done last</h2>
      {result.value.length === 0 ? (
        <p>Nothing was changed yet.</p>
      ) : (
        <Table label="The newest runs" columns={["When", "What", "How it ended"]}>
          {result.value.slice(0, shownRuns).map((run) => (
            <tr key={run.header.id}>
              <td>
                <Time at={beganAt(run.header)} />
              </td>
              <th scope="row">
                <bdi>{whatOf(run.header)}</bdi>
              </th>
              <td>
                <StateMark run={run} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <p>
        <a href="#history">The whole history</a>
      </p>
    </section>
  )
}

const EndingKeys = () => {
  const result = useAtomValue(OverviewAtoms.ending)
  if (!AsyncResult.isSuccess(result)) return null
  return (
    <section aria-labelledby="overview-keys">
      <h2 id="overview-keys">Keys that end soon</h2>
      {result.value.length === 0 ? (
        <p>No key ends within {OverviewAtoms.soonDays} days.</p>
      ) : (
        <Table label="Keys that end soon" columns={["Key", "Ends", "State"]}>
          {result.value.map(({ ends, hasEnded, name }) => (
            <tr key={name}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              <td>
                <Time at={ends} />
              </td>
              <td>
                <Mark tone={hasEnded ? "wrong" : "warn"}>{hasEnded ? "has ended" : "ends soon"}</Mark>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <p>
        <a href="#keys">All keys</a>
      </p>
    </section>
  )
}

/** What the numbers say, once there are some. */
const Counted = ({ summary }: { readonly summary: AccountSummary }) =>
  summary.contacts === 0 ? (
    <Empty icon="overview" title="There is nobody to count yet">
      <p>
        <a href="#import">Import a file</a>, or <a href="#contacts">add a contact</a>.
      </p>
    </Empty>
  ) : (
    <>
      <ul className="cards">
        {figuresOf(summary).map(({ contacts, name, rule }) => (
          <li key={name} className={`card ${name === "Get mail" ? "good" : ""}`}>
            <a href={peopleAt(rule)}>
              <span className="figure">{contacts.toLocaleString()}</span>
              {name}
            </a>
          </li>
        ))}
      </ul>
      <Statuses summary={summary} />
      <Months summary={summary} />
      <Lists summary={summary} />
    </>
  )

export const OverviewView = () => {
  const result = useAtomValue(OverviewAtoms.summary)
  const mayNotSeeKeys = useAtomValue(missing("Security")) !== undefined
  const summary = AsyncResult.isSuccess(result) ? result.value : undefined
  return (
    <section className="overview" aria-labelledby="overview-title">
      <div className="title">
        <h1 id="overview-title">Overview</h1>
        {summary === undefined ? null : (
          <div className="buttons">
            <small>
              Counted <Time at={summary.counted} />
            </small>
            <button
              type="button"
              onClick={() => download("overview.csv", new Blob(["\ufeff", fileOf(summary)], { type: "text/csv" }))}
            >
              Save as a file
            </button>
          </div>
        )}
      </div>
      <Problem message={problemOf(result)} />
      {AsyncResult.isInitial(result) ? <p role="status">The contacts are being counted…</p> : null}
      {AsyncResult.isSuccess(result) && summary === undefined ? (
        <p className="note">This service tells no numbers; the list of contacts says how many there are.</p>
      ) : null}
      {summary === undefined ? null : <Counted summary={summary} />}
      <Runs />
      {mayNotSeeKeys ? null : <EndingKeys />}
    </section>
  )
}
