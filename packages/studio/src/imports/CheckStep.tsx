/**
 * What is checked before the plan: who would receive mail by the words of the file, the lists of all its rows, which contacts they
 * may write to, and how their cells are read.
 */
import { ContactStatus, isMailedStatus, OnDuplicate } from "@roster/domain"
import { Schema } from "effect"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"

import { Choices } from "../kit/Mark.tsx"
import { Problem } from "../kit/Problem.tsx"
import { Numbers, Table } from "../kit/Table.tsx"
import { missing } from "../session/Rights.tsx"
import { importTexts } from "../texts/ImportTexts.ts"
import { number } from "../texts/Language.ts"
import * as ImportApply from "./ImportApply.ts"
import * as ImportFile from "./ImportFile.ts"
import * as ImportPlan from "./ImportPlan.ts"
import { anyWord, type MailSum, rowProblem, type RowChoices, type WordChoices } from "./ImportChoices.ts"
import { step, StepActions } from "./ImportSteps.tsx"
import { fieldTitle } from "../texts/SharedTexts.ts"

// Words

/** The choice that no field has as a value. */
const rejected = "-"

const Words = ({ allowed, column, field, of, words }: WordChoices) => {
  const [edits, setEdits] = useAtom(ImportFile.edits)
  return (
    <>
      <Table
        label={importTexts.wordsOf(of)}
        columns={[
          importTexts.wordIn(<bdi>{column.name}</bdi>),
          <Numbers key="rows">{importTexts.rows}</Numbers>,
          importTexts.standsFor(fieldTitle(field))
        ]}
      >
        {words.map(({ count, means, value }) => (
          <tr key={value}>
            <th scope="row">{value === anyWord ? importTexts.everyOther : <bdi>{value}</bdi>}</th>
            <td className="number">{number(count)}</td>
            <td>
              <select
                aria-label={importTexts.whatStandsFor(value)}
                value={means ?? rejected}
                onChange={({ currentTarget }) =>
                  setEdits(
                    ImportFile.setWord(edits, of, value, currentTarget.value === rejected ? null : currentTarget.value)
                  )
                }
              >
                <option value={rejected}>{importTexts.notKnown}</option>
                <option value="">{importTexts.asEmpty}</option>
                <Choices of={allowed} />
              </select>
            </td>
          </tr>
        ))}
      </Table>
      {(column.hasMore || column.distinct > words.length) && !words.some(({ value }) => value === anyWord) ? (
        <p>{importTexts.otherWords(words.length)}</p>
      ) : null}
    </>
  )
}

/** Whether new contacts of which the file says nothing will receive mail. */
const useIsNewMailed = (): boolean => isMailedStatus(useAtomValue(ImportFile.rowChoices).defaultStatus ?? "Active")

const Sum = ({ isNewMailed, unclear, unsaid, willNot, willReceive }: MailSum & { readonly isNewMailed: boolean }) => (
  <p className="note" aria-live="polite">
    {importTexts.mailSum(willReceive, willNot)} {unsaid === 0 ? "" : importTexts.unsaid(unsaid, isNewMailed)}{" "}
    {unclear === 0 ? "" : importTexts.unclear(unclear)}
  </p>
)

const Mail = () => {
  const words = useAtomValue(ImportFile.words)
  const mail = useAtomValue(ImportFile.mail)
  const isNewMailed = useIsNewMailed()
  return (
    <>
      <h3>{importTexts.mail}</h3>
      {words.map((choices) => (
        <Words key={choices.of} {...choices} />
      ))}
      {mail === undefined && words.some(({ field }) => field === "Status") ? (
        <p className="note">{importTexts.severalStatuses}</p>
      ) : mail === undefined ? (
        <p className="note">{importTexts.noStatus(isNewMailed)}</p>
      ) : (
        <Sum {...mail} isNewMailed={isNewMailed} />
      )}
    </>
  )
}

// All rows

const isStatus = Schema.is(ContactStatus)
const isOnDuplicate = Schema.is(OnDuplicate)

const RowOptions = () => {
  const [rows, setRows] = useAtom(ImportFile.rowChoices)
  const set = (more: Partial<RowChoices>): void => setRows({ ...rows, ...more })
  return (
    <div className="fields">
      <label>
        {importTexts.takenFor}
        <select
          value={rows.only ?? "all"}
          onChange={({ currentTarget: { value } }) =>
            set({ only: value === "new" || value === "existing" ? value : undefined })
          }
        >
          {Object.entries(importTexts.only).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        {importTexts.defaultStatus}
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
        {importTexts.sameAddress}
        <select
          value={rows.onDuplicate}
          onChange={({ currentTarget: { value } }) => set({ onDuplicate: isOnDuplicate(value) ? value : "last" })}
        >
          {OnDuplicate.literals.map((value) => (
            <option key={value} value={value}>
              {importTexts.onDuplicate[value]}
            </option>
          ))}
        </select>
      </label>
      <label>
        {importTexts.emptyCell}
        <select
          value={rows.isCleared ? "clear" : "keep"}
          onChange={({ currentTarget: { value } }) => set({ isCleared: value === "clear" })}
        >
          <option value="keep">{importTexts.keepsField}</option>
          <option value="clear">{importTexts.clearsField}</option>
        </select>
      </label>
      <label>
        {importTexts.dateForm}
        <input
          value={rows.dateFormat}
          placeholder={importTexts.dateFormHint}
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
        {importTexts.withoutBlanks}
      </label>
      <label className="choice">
        <input
          type="checkbox"
          checked={rows.failsOnWarning}
          onChange={({ currentTarget: { checked } }) => set({ failsOnWarning: checked })}
        />
        {importTexts.failsOnWarning}
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
      <h3>{importTexts.allRows}</h3>
      <label>
        {importTexts.ontoLists}
        <textarea rows={2} value={lists} onChange={(event) => setLists(event.currentTarget.value)} />
      </label>
      <label className="choice">
        <input
          type="checkbox"
          checked={resubscribe}
          onChange={(event) => setResubscribe(event.currentTarget.checked)}
        />
        {importTexts.resubscribe}
      </label>
      <details>
        <summary>{importTexts.rowOptions}</summary>
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
          {planned === undefined ? importTexts.plan : importTexts.planAgain}
        </button>
        <span>{reason}</span>
      </StepActions>
    </>
  )
}
