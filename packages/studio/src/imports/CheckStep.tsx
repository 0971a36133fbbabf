/**
 * What is checked before the plan: who would receive mail by the words of the file, the lists of all its rows, which contacts they
 * may write to, and how their cells are read.
 */
import { ContactStatus, isMailedStatus, OnDuplicate } from "@roster/domain"
import { Schema } from "effect"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { counted } from "../kit/Counts.ts"
import { fieldTitle } from "../kit/FieldTitles.ts"
import { Choices } from "../kit/Mark.tsx"
import { Problem } from "../kit/Problem.tsx"
import { Numbers, Table } from "../kit/Table.tsx"
import { missing } from "../session/Rights.tsx"
import * as ImportApply from "./ImportApply.ts"
import * as ImportFile from "./ImportFile.ts"
import * as ImportPlan from "./ImportPlan.ts"
import { anyWord, type MailSum, rowProblem, type RowChoices, type WordChoices } from "./ImportChoices.ts"
import { step, StepActions } from "./ImportSteps.tsx"

// Words

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
          <Numbers key="rows">Rows</Numbers>,
          `Stands for the ${fieldTitle(field).toLowerCase()}`
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
                <Choices of={allowed} />
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

const Mail = () => {
  const words = useAtomValue(ImportFile.words)
  const mail = useAtomValue(ImportFile.mail)
  const becomes = useNew()
  return (
    <>
      <h3>Who receives mail</h3>
      {words.map((choices) => (
        <Words key={choices.of} {...choices} />
      ))}
      {mail === undefined && words.some(({ field }) => field === "Status") ? (
        <p className="note">Several columns become the status: of what they say in a row, the strictest counts.</p>
      ) : mail === undefined ? (
        <p className="note">No column becomes the status: every {becomes}, and stored ones keep their status.</p>
      ) : (
        <Sum {...mail} becomes={becomes} />
      )}
    </>
  )
}

// All rows

const isStatus = Schema.is(ContactStatus)
const isOnDuplicate = Schema.is(OnDuplicate)

const onlyTexts = { all: "new and existing contacts", new: "new contacts alone", existing: "existing contacts alone" }

const RowOptions = () => {
  const [rows, setRows] = useAtom(ImportFile.rowChoices)
  const set = (more: Partial<RowChoices>): void => setRows({ ...rows, ...more })
  return (
    <div className="fields">
      <label>
        Rows are taken for
        <select
          value={rows.only ?? "all"}
          onChange={({ currentTarget: { value } }) =>
            set({ only: value === "new" || value === "existing" ? value : undefined })
          }
        >
          {Object.entries(onlyTexts).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Status of new contacts whose rows give none
        <select
          value={rows.defaultStatus ?? "Active"}
          onChange={({ currentTarget: { value } }) =>
            set({ defaultStatus: isStatus(value) && value !== "Active" ? value : undefined })
          }
        >
          <Choices of={ContactStatus.literals} />
        </select>
      </label>
      <label>
        Of rows with the same address
        <select
          value={rows.onDuplicate}
          onChange={({ currentTarget: { value } }) => set({ onDuplicate: isOnDuplicate(value) ? value : "last" })}
        >
          <option value="last">the last values are imported</option>
          <option value="first">the first values are imported</option>
          <option value="reject">none is imported</option>
        </select>
      </label>
      <label>
        An empty cell
        <select
          value={rows.isCleared ? "clear" : "keep"}
          onChange={({ currentTarget: { value } }) => set({ isCleared: value === "clear" })}
        >
          <option value="keep">leaves its field as it is</option>
          <option value="clear">clears a name or custom field</option>
        </select>
      </label>
      <label>
        Form of the dates, in UTC
        <input
          value={rows.dateFormat}
          placeholder="as ISO 8601; or DD.MM.YYYY"
          autoComplete="off"
          onChange={({ currentTarget: { value } }) => set({ dateFormat: value })}
        />
      </label>
      <label className="choice">
        <input
          type="checkbox"
          checked={rows.isTrimmed}
          onChange={({ currentTarget: { checked } }) => set({ isTrimmed: checked })}
        />
        Without the blanks around the texts of cells
      </label>
      <label className="choice">
        <input
          type="checkbox"
          checked={rows.failsOnWarning}
          onChange={({ currentTarget: { checked } }) => set({ failsOnWarning: checked })}
        />
        Import nothing if something looks odd in the rows
      </label>
      <Problem message={rowProblem(rows)} />
    </div>
  )
}

const ForAll = () => {
  const [lists, setLists] = useAtom(ImportFile.lists)
  const [resubscribe, setResubscribe] = useAtom(ImportFile.resubscribe)
  return (
    <>
      <h3>All rows</h3>
      <label>
        Put them on lists, one a line
        <textarea rows={2} value={lists} onChange={(event) => setLists(event.currentTarget.value)} />
      </label>
      <label className="choice">
        <input
          type="checkbox"
          checked={resubscribe}
          onChange={(event) => setResubscribe(event.currentTarget.checked)}
        />
        Subscribe people again who have left, complained or cannot be reached, where the file says so
      </label>
      <details>
        <summary>Which rows are taken, and how their cells are read</summary>
        <RowOptions />
      </details>
    </>
  )
}

export const CheckStep = () => {
  const registry = useRegistry()
  const planned = useAtomValue(ImportPlan.planned)
  const isReady = useAtomValue(ImportPlan.isReady)
  const problem = useAtomValue(ImportPlan.saidProblem)
  const reason = useAtomValue(missing("ViewContacts")) ?? problem
  return (
    <>
      <div className="step-body">
        <Mail />
        <ForAll />
      </div>
      <StepActions at="check">
        <button
          type="button"
          className="primary"
          disabled={!isReady || reason !== undefined}
          onClick={() => {
            ImportApply.makePlan(registry)
            registry.set(step, "plan")
          }}
        >
          {planned === undefined ? "Plan" : "Plan again"}
        </button>
        <span>{reason}</span>
      </StepActions>
    </>
  )
}
