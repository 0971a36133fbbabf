/** What was done to a contact, the newest first: when, by which run and key, and what each field was and became. */
import { historyBy, historyEffect, historyWords } from "@roster/workflows"
import { AsyncResult } from "effect/reactivity"
import { useAtom, useAtomValue } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Table } from "../kit/Table.tsx"
import { Time } from "../kit/Times.tsx"
import { cardTexts } from "../texts/CardTexts.ts"
import { whatOf } from "../texts/RunTexts.ts"
import { sharedTexts, shortened } from "../texts/SharedTexts.ts"
import * as HistoryAtoms from "./HistoryAtoms.ts"

/** By what it was done, in the words of the history of all. */
const byOf = (entry: Parameters<typeof historyBy>[0]): string =>
  entry.command === undefined ? historyBy(entry) : whatOf({ about: entry.about, command: entry.command })

const Entries = ({ email }: { readonly email: string }) => {
  const history = useAtomValue(HistoryAtoms.history(email))
  const [pages, show] = useAtom(HistoryAtoms.historyPages(email))
  if (!AsyncResult.isSuccess(history)) {
    return history.waiting ? <p role="status">{cardTexts.reading}</p> : <Problem message={problemOf(history)} />
  }
  const { entries, hasMore } = history.value
  const { key, what, when } = sharedTexts
  return (
    <>
      <Table
        label={sharedTexts.views.history}
        columns={[when, what, cardTexts.by, key, cardTexts.change]}
        isWaiting={history.waiting}
      >
        {entries.map((entry, index) => (
          <tr key={index}>
            <td>
              <Time at={entry.date} />
            </td>
            <td>{historyEffect(entry)}</td>
            <td>
              <bdi title={entry.run ?? undefined}>{shortened(byOf(entry))}</bdi>
            </td>
            <td>
              <bdi>{entry.key ?? (entry.run === null ? "" : sharedTexts.owner)}</bdi>
            </td>
            <td>
              {historyWords(entry).map((words) => (
                <div key={words}>
                  <bdi>{shortened(words)}</bdi>
                </div>
              ))}
            </td>
          </tr>
        ))}
      </Table>
      {hasMore ? (
        <button type="button" disabled={history.waiting} onClick={() => show(pages + 1)}>
          {cardTexts.showOlder}
        </button>
      ) : null}
    </>
  )
}

export const ContactHistory = ({ email }: { readonly email: string }) => {
  const [isOpen, setOpen] = useAtom(HistoryAtoms.historyShown)
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{sharedTexts.views.history}</summary>
      {isOpen ? <Entries email={email} /> : null}
    </details>
  )
}
