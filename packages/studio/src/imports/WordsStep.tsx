/** What the words of a status or consent column stand for, and who would receive mail by it. */
import { isMailedStatus } from "@roster/domain"
import { useAtom, useAtomValue } from "../kit/Atoms.tsx"
import { counted } from "../kit/Counts.ts"
import { Table } from "../kit/Table.tsx"
import * as ImportFile from "./ImportFile.ts"
import { anyWord, type MailSum, type WordChoices } from "./ImportChoices.ts"

/** The choice that no field has as a value. */
const rejected = "-"

const Words = ({ allowed, column, field, of, words }: WordChoices) => {
  const [edits, setEdits] = useAtom(ImportFile.edits)
  return (
    <>
      <Table
        label={`The words of ${of}`}
        columns={[
          <span key="word">
            Word in <bdi>{column.name}</bdi>
          </span>,
          "Rows",
          `Stands for the ${field}`
        ]}
      >
        {words.map(({ count, means, value }) => (
          <tr key={value}>
            <th scope="row">{value === anyWord ? "every other text" : <bdi>{value}</bdi>}</th>
            <td className="number">{count.toLocaleString()}</td>
            <td>
              <select
                aria-label={`What ${value} stands for`}
                value={means ?? rejected}
                onChange={({ currentTarget }) =>
                  setEdits(
                    ImportFile.setWord(edits, of, value, currentTarget.value === rejected ? null : currentTarget.value)
                  )
                }
              >
                <option value={rejected}>not known: its rows are rejected</option>
                <option value="">nothing: as if the cell were empty</option>
                {allowed.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </td>
          </tr>
        ))}
      </Table>
      {(column.hasMore || column.distinct > words.length) && !words.some(({ value }) => value === anyWord) ? (
        <p>Rows with other words than these {words.length.toLocaleString()} are rejected.</p>
      ) : null}
    </>
  )
}

/** What becomes of new contacts of which the file says nothing. */
const useNew = (): string =>
  isMailedStatus(useAtomValue(ImportFile.rowChoices).defaultStatus ?? "Active")
    ? "new contact will receive mail"
    : "new contact will receive no mail"

const Sum = ({ becomes, unclear, unsaid, willNot, willReceive }: MailSum & { readonly becomes: string }) => (
  <p className="note" aria-live="polite">
    {counted(willReceive, "row gives", "rows give")} a status with mail, {counted(willNot, "row gives", "rows give")}{" "}
    one without. The plan says who will receive mail.
    {unsaid === 0
      ? ""
      : ` ${counted(unsaid, "row says", "rows say")} nothing: a ${becomes}, and a stored one keeps the status.`}
    {unclear === 0
      ? ""
      : ` ${counted(unclear, "row has", "rows have")} a word that stands for nothing, and will be rejected.`}
  </p>
)

export const WordsStep = () => {
  const words = useAtomValue(ImportFile.words)
  const mail = useAtomValue(ImportFile.mail)
  const becomes = useNew()
  return (
    <section aria-labelledby="import-words" className="step">
      <h2 id="import-words">3. Who receives mail</h2>
      {words.map((choices) => (
        <Words key={choices.of} {...choices} />
      ))}
      {mail === undefined && words.some(({ field }) => field === "Status") ? (
        <p className="note">Several columns become Status: of what they say in a row, the strictest counts.</p>
      ) : mail === undefined ? (
        <p className="note">No column becomes Status: every {becomes}, and stored ones keep their status.</p>
      ) : (
        <Sum {...mail} becomes={becomes} />
      )}
    </section>
  )
}
