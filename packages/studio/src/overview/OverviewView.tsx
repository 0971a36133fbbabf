/** The overview: how many people there are, who gets mail and who does not, since when, on which lists, and what happened last. */
import type { AccountSummary } from "@roster/domain"
import { AsyncResult } from "effect/reactivity"
import type { ReactNode } from "preact/compat"
import { useAtomValue } from "../kit/Atoms.tsx"

import { download } from "../kit/Download.ts"
import { Empty } from "../kit/Empty.tsx"
import { Mark, StatusMark } from "../kit/Mark.tsx"
import { Numbers, Table } from "../kit/Table.tsx"
import { Time } from "../kit/Times.tsx"
import { unseen } from "../kit/Unseen.tsx"
import * as RunAtoms from "../runs/RunAtoms.ts"
import { beganAt } from "../runs/RunWords.ts"
import { StateMark } from "../runs/StateMark.tsx"
import { ReadProblem } from "../session/ReadProblem.tsx"
import { missing } from "../session/Rights.tsx"
import { monthWords, number } from "../texts/Language.ts"
import { overviewTexts } from "../texts/OverviewTexts.ts"
import { whatOf } from "../texts/RunTexts.ts"
import { fieldTitle, sharedTexts } from "../texts/SharedTexts.ts"
import { Growth, Share } from "./Charts.tsx"
import * as OverviewAtoms from "./OverviewAtoms.ts"

const { figuresOf, fileOf, listsOf, monthsOf, peopleAt, shownMonths, statusesOf } = OverviewAtoms

/** A number that leads to its people. */
const Leading = ({ contacts, rule }: Pick<OverviewAtoms.Figure, "contacts" | "rule">) => (
  <a href={peopleAt(rule)}>{number(contacts)}</a>
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
  <Numbers key="contacts">{sharedTexts.views.contacts}</Numbers>,
  unseen(overviewTexts.asBar)
]

const Statuses = ({ summary }: { readonly summary: AccountSummary }) => (
  <section aria-labelledby="overview-statuses">
    <h2 id="overview-statuses">{overviewTexts.statuses}</h2>
    <Table
      label={overviewTexts.byStatus}
      columns={[...columnsOf(fieldTitle("Status")), sharedTexts.mail]}
      className="few"
    >
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
          <td>{isMailed ? sharedTexts.getsMail : overviewTexts.getsNone}</td>
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
      <h2 id="overview-months">{overviewTexts.months}</h2>
      <Growth label={overviewTexts.growth(added, shown.length)} months={shown} />
      <details>
        <summary>{overviewTexts.asTable}</summary>
        <Table label={overviewTexts.byMonth} columns={columnsOf(overviewTexts.month)} className="rows few">
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
      <h2 id="overview-lists">{sharedTexts.views.lists}</h2>
      {lists.length === 0 ? (
        <p>
          {overviewTexts.noLists((words) => (
            <a href="#lists">{words}</a>
          ))}
        </p>
      ) : (
        <>
          <Table label={overviewTexts.largest} columns={columnsOf(sharedTexts.list)} className="few">
            <Rows figures={lists.slice(0, shownLists)} />
          </Table>
          {lists.length > shownLists ? (
            <p>
              <a href="#lists">{overviewTexts.allLists(lists.length)}</a>
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
  if (!AsyncResult.isSuccess(result)) return <ReadProblem of={result} />
  return (
    <section className="wide" aria-labelledby="overview-runs">
      <h2 id="overview-runs">{overviewTexts.runs}</h2>
      {result.value.length === 0 ? (
        <p>{overviewTexts.nothing}</p>
      ) : (
        <Table label={overviewTexts.newest} columns={[sharedTexts.what, sharedTexts.when, overviewTexts.ended]}>
          {result.value.slice(0, shownRuns).map((run) => (
            <tr key={run.header.id}>
              <th scope="row" className="lead">
                <bdi>{whatOf(run.header)}</bdi>
              </th>
              <td>
                <Time at={beganAt(run.header)} />
              </td>
              <td>
                <StateMark run={run} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <p>
        <a href="#history">{overviewTexts.history}</a>
      </p>
    </section>
  )
}

const EndingKeys = () => {
  const result = useAtomValue(OverviewAtoms.ending)
  if (!AsyncResult.isSuccess(result)) return null
  return (
    <section aria-labelledby="overview-keys">
      <h2 id="overview-keys">{overviewTexts.keys}</h2>
      {result.value.length === 0 ? (
        <p>{overviewTexts.noKeys(OverviewAtoms.soonDays)}</p>
      ) : (
        <Table label={overviewTexts.keys} columns={[sharedTexts.key, sharedTexts.ends, sharedTexts.state]}>
          {result.value.map(({ ends, hasEnded, name }) => (
            <tr key={name}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              <td>
                <Time at={ends} />
              </td>
              <td>
                <Mark tone={hasEnded ? "wrong" : "warn"}>
                  {hasEnded ? overviewTexts.hasEnded : overviewTexts.endsSoon}
                </Mark>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <p>
        <a href="#keys">{overviewTexts.allKeys}</a>
      </p>
    </section>
  )
}

/** What the numbers say, once there are some. */
const Counted = ({ summary }: { readonly summary: AccountSummary }) =>
  summary.contacts === 0 ? (
    <Empty icon="overview" title={overviewTexts.nobody}>
      <p>
        {overviewTexts.firstSteps(
          (words) => (
            <a href="#import">{words}</a>
          ),
          (words) => (
            <a href="#contacts">{words}</a>
          )
        )}
      </p>
    </Empty>
  ) : (
    <>
      <ul className="cards">
        {figuresOf(summary).map(({ contacts, name, of, rule }) => (
          <li key={of} className={`card ${of === "mailed" ? "good" : ""}`}>
            <a href={peopleAt(rule)}>
              <span className="figure">{number(contacts)}</span>
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
  const summary = AsyncResult.getOrElse(result, () => undefined)
  return (
    <section className="overview" aria-labelledby="overview-title">
      <div className="title">
        <h1 id="overview-title">{sharedTexts.views.overview}</h1>
        {summary === undefined ? null : (
          <div className="buttons">
            <small>{overviewTexts.counted(<Time at={summary.counted} />)}</small>
            <button
              type="button"
              onClick={() => download("overview.csv", new Blob(["\ufeff", fileOf(summary)], { type: "text/csv" }))}
            >
              {overviewTexts.save}
            </button>
          </div>
        )}
      </div>
      <ReadProblem of={result} />
      {AsyncResult.isInitial(result) ? <p role="status">{overviewTexts.counting}</p> : null}
      {AsyncResult.isSuccess(result) && summary === undefined ? (
        <p className="note">{overviewTexts.noNumbers}</p>
      ) : null}
      {summary === undefined ? null : <Counted summary={summary} />}
      <Runs />
      {mayNotSeeKeys ? null : <EndingKeys />}
    </section>
  )
}
