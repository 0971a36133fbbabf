/** What is said of all rows of an import: their lists, which contacts they may write to, and how their cells are read. */
import { ContactStatus, OnDuplicate } from "@roster/domain"
import { Schema } from "effect"
import { useAtom } from "../kit/Atoms.tsx"
import { Problem } from "../kit/Problem.tsx"
import * as ImportFile from "./ImportFile.ts"
import { rowProblem, type RowChoices } from "./ImportChoices.ts"

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
          {ContactStatus.literals.map((status) => (
            <option key={status}>{status}</option>
          ))}
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

export const PlanOptions = () => {
  const [lists, setLists] = useAtom(ImportFile.lists)
  const [resubscribe, setResubscribe] = useAtom(ImportFile.resubscribe)
  return (
    <>
      <label>
        Put them on lists, one a line
        <textarea rows={2} value={lists} onChange={(event) => setLists(event.currentTarget.value)} />
      </label>
      <details>
        <summary>Which rows are taken, and how their cells are read</summary>
        <RowOptions />
      </details>
      <label className="choice">
        <input
          type="checkbox"
          checked={resubscribe}
          onChange={(event) => setResubscribe(event.currentTarget.checked)}
        />
        Subscribe people again who have left, complained or cannot be reached, where the file says so
      </label>
    </>
  )
}
