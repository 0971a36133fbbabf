/** What becomes of each column: a field of the contact, a custom field, or nothing. The mapping of it can be saved. */
import { useState } from "preact/compat"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { download } from "../kit/Download.ts"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Numbers, Table } from "../kit/Table.tsx"
import { importTexts } from "../texts/ImportTexts.ts"
import { number } from "../texts/Language.ts"
import type { FileSight } from "./thread/FileSight.ts"
import * as ImportFile from "./ImportFile.ts"
import * as Choices from "./ImportChoices.ts"
import { Constants } from "./Constants.tsx"
import { Continue, StepActions } from "./ImportSteps.tsx"
import { fieldTitle, sharedTexts } from "../texts/SharedTexts.ts"

const Kinds = ({ of }: { readonly of: ReadonlyArray<string> }) =>
  of.map((kind) => (
    <option key={kind} value={kind}>
      {Choices.kindText(kind)}
    </option>
  ))

const Column = ({
  choice: { field, isCustom, isUnheard, key, kind, kinds, near, otherKinds, sight },
  known,
  read
}: {
  readonly choice: Choices.ColumnChoice
  /** The custom fields that contacts have. */
  readonly known: ReadonlyArray<string>
  readonly read: number
}) => {
  const [edits, setEdits] = useAtom(ImportFile.edits)
  const set = (to: string | null): void => setEdits(ImportFile.setColumn(edits, key, to))
  const name = sight.name === "" ? key : sight.name
  const isKnown = field !== null && known.includes(field)
  // Who types a name may pass one that is known, such as Stadt on the way to Stadtteil.
  const [isTyped, setTyped] = useState(false)
  const isChosen = isKnown && !isTyped
  const choose = (value: string): void => {
    setTyped(value === "custom")
    set(value === "out" ? null : value === "custom" ? sight.name.trim() : value.slice(value.indexOf(":") + 1))
  }
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      <td>
        <div className="target">
          <select
            aria-label={importTexts.becomes(name)}
            value={
              isUnheard
                ? ""
                : field === null
                  ? "out"
                  : !isCustom
                    ? `field:${field}`
                    : isChosen
                      ? `known:${field}`
                      : "custom"
            }
            onChange={({ currentTarget: { value } }) => choose(value)}
          >
            {isUnheard ? <option value="">{importTexts.chooseUnheard}</option> : null}
            <option value="out">{importTexts.leftOut}</option>
            <optgroup label={importTexts.ownFields}>
              {Choices.recordFields.map((name) => (
                <option key={name} value={`field:${name}`}>
                  {fieldTitle(name)}
                </option>
              ))}
            </optgroup>
            {known.length === 0 ? null : (
              <optgroup label={importTexts.knownFields}>
                {known.map((name) => (
                  <option key={name} value={`known:${name}`}>
                    {name}
                  </option>
                ))}
              </optgroup>
            )}
            <option value="custom">
              {known.length === 0 ? importTexts.customField : importTexts.otherCustomField}
            </option>
          </select>
          {isCustom && !isUnheard && !isChosen ? (
            <>
              <input
                aria-label={importTexts.customFieldFor(name)}
                list="custom-fields"
                value={field ?? ""}
                onChange={(event) => {
                  setTyped(true)
                  set(event.currentTarget.value)
                }}
              />
              <small>{isKnown ? importTexts.known : importTexts.new}</small>
              {near === undefined ? null : (
                <>
                  <button type="button" onClick={() => set(near)}>
                    {sharedTexts.itIs(<bdi>{fieldTitle(near)}</bdi>)}
                  </button>
                  <button type="button" onClick={() => setEdits(ImportFile.addField(edits, field ?? ""))}>
                    {importTexts.isNewField}
                  </button>
                </>
              )}
            </>
          ) : null}
          {isUnheard || kinds.length + otherKinds.length === 0 ? null : (
            <select
              aria-label={importTexts.kindOf(name)}
              value={kind}
              onChange={({ currentTarget: { value } }) => setEdits(ImportFile.setKind(edits, key, value))}
            >
              {kinds.length === 0 ? null : (
                <optgroup label={importTexts.looksLike}>
                  <Kinds of={kinds} />
                </optgroup>
              )}
              <option value="">{importTexts.asTexts}</option>
              <optgroup label={importTexts.readAs}>
                <Kinds of={otherKinds} />
              </optgroup>
            </select>
          )}
        </div>
        {kind !== "" || isUnheard ? null : <small>{Choices.kindAdvice(kinds)}</small>}
      </td>
      <td className="number">
        {importTexts.ofRead(sight.filled, read, (words) => (
          <small>{words}</small>
        ))}
      </td>
      <td>
        <ul className="values">
          {sight.values.slice(0, 5).map(({ count, value }) => (
            <li key={value}>
              <bdi>{value}</bdi> <small>{number(count)}</small>
            </li>
          ))}
        </ul>
        {sight.hasMore ? <small>{importTexts.ofFirst(sight.distinct)}</small> : null}
      </td>
    </tr>
  )
}

const SavedMapping = () => {
  const file = useAtomValue(ImportFile.file)
  const mapping = useAtomValue(ImportFile.mapping)
  const [loaded, load] = useAtom(ImportFile.loadMapping)
  const [name, setName] = useState<string | undefined>(undefined)
  return (
    <>
      <button
        type="button"
        onClick={() =>
          download(
            ImportFile.beside(file?.name ?? "contacts", ".mapping.json"),
            new Blob([ImportFile.mappingText(mapping)], { type: "application/json" })
          )
        }
      >
        {importTexts.saveChoices}
      </button>
      <label>
        {importTexts.useChoices}{" "}
        <input
          type="file"
          accept=".json,application/json"
          onChange={async (event) => {
            const [chosen] = event.currentTarget.files ?? []
            if (chosen === undefined) return
            setName(chosen.name)
            load(await chosen.text())
          }}
        />
      </label>
      <Problem message={problemOf(loaded)} />
      {name === undefined || problemOf(loaded) !== undefined ? null : (
        <span role="status">{importTexts.choicesUsed}</span>
      )}
    </>
  )
}

export const ColumnsStep = ({ sight }: { readonly sight: FileSight }) => {
  const columns = useAtomValue(ImportFile.columns)
  const known = useAtomValue(ImportFile.customFields)
  const edits = useAtomValue(ImportFile.edits)
  const missing = Choices.missingColumns(sight, edits)
  const setEdits = useAtomSet(ImportFile.edits)
  const problem = Choices.choiceProblem(columns) ?? Choices.constantProblem(edits.constants, columns)
  const { becomes, column, filled, values } = importTexts.columnHeadings
  return (
    <>
      <div className="step-body">
        <datalist id="custom-fields">
          {known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Table
          label={importTexts.columns}
          className="rows"
          columns={[column, becomes, <Numbers key="filled">{filled}</Numbers>, values]}
        >
          {columns.map((choice) => (
            <Column key={choice.key} choice={choice} read={sight.read} known={known} />
          ))}
        </Table>
        {missing.length === 0 ? null : (
          <p className="note warn">{importTexts.lacking(<bdi>{missing.slice(0, 10).join(", ")}</bdi>)}</p>
        )}
        <div className="bar">
          <Constants />
          <SavedMapping />
          {edits === Choices.noEdits ? null : (
            <button type="button" className="quiet" onClick={() => setEdits(Choices.noEdits)}>
              {importTexts.proposeAgain}
            </button>
          )}
        </div>
        <Problem message={problem} />
      </div>
      <StepActions at="columns">
        <Continue to="check" isFixed={problem !== undefined} />
      </StepActions>
    </>
  )
}
