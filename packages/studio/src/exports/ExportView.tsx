/** Exports: which contacts, in which form, and the files of this session, which the browser downloads. */
import { AsyncResult } from "effect/reactivity"
import { type FormEvent, useState } from "preact/compat"
import * as ContactAtoms from "../contacts/ContactAtoms.ts"
import { allColumns, listsColumn } from "../contacts/ContactColumn.ts"
import type { Meant } from "../contacts/ContactSelection.ts"
import { Unplaced } from "../contacts/Unplaced.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { RuleBox } from "../rules/RuleBox.tsx"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { counted, people } from "../kit/Counts.ts"
import { Empty } from "../kit/Empty.tsx"
import { Icon } from "../kit/Icon.tsx"
import { Mark, type Tone } from "../kit/Mark.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { shortened } from "../kit/Shortened.ts"
import { Table } from "../kit/Table.tsx"
import { Time } from "../kit/Times.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import * as ExportAtoms from "./ExportAtoms.ts"

/** The forms of a file; the first three are made of the CSV of the service, if it is not as they are. */
const formats = {
  Workbook: "Excel workbook (.xlsx)",
  Semicolons: "CSV with semicolons, for spreadsheets of many countries",
  Commas: "CSV with commas",
  Json: "JSON, for programs",
  Xml: "XML, for programs"
} as const

type Format = keyof typeof formats

const isFormat = (text: string): text is Format => Object.hasOwn(formats, text)

const formatOf = ({ format, shape }: ExportAtoms.WantedExport): string =>
  formats[format === "Csv" ? (shape?.form ?? "Commas") : format].replace(/,.*/, "")

const stateWords: Readonly<Record<ExportAtoms.MadeExport["state"], string>> = {
  Waiting: "being made…",
  Ready: "ready",
  Failed: "not ready"
}

const stateTones: Readonly<Record<ExportAtoms.MadeExport["state"], Tone>> = {
  Waiting: "plain",
  Ready: "good",
  Failed: "wrong"
}

/** Saves a file that the page gives its form. */
const Save = ({ one }: { readonly one: ExportAtoms.MadeExport }) => {
  const [saved, save] = useAtom(ExportAtoms.save(one.id))
  return (
    <>
      <button type="button" disabled={saved.waiting} onClick={() => save(one)}>
        {saved.waiting ? "Making the file…" : "Download"}
      </button>
      <Problem message={problemOf(saved)} />
    </>
  )
}

const wordsOf = ({ meant }: ExportAtoms.WantedExport): string =>
  meant._tag === "Chosen" ? people(meant.emails.size) : meant.rule === "" ? "all contacts" : shortened(meant.rule)

const Made = ({ one }: { readonly one: ExportAtoms.MadeExport }) => {
  const again = useAtomSet(ExportAtoms.waitAgain)
  return (
    <tr>
      <td>
        <Time at={one.requestedAt} />
      </td>
      <td>
        <bdi>{wordsOf(one)}</bdi>
      </td>
      <td>
        {formatOf(one)}
        {one.shape?.columns === undefined ? "" : `, ${counted(one.shape.columns.length, "column")}`}
        {one.compression === "Zip" ? ", in a ZIP file" : ""}
      </td>
      <td>
        <span aria-live="polite">
          <Mark tone={stateTones[one.state]}>{stateWords[one.state]}</Mark>
        </span>
        {one.state === "Waiting" ? <progress aria-label="The export is being made" /> : null}
        <Problem message={one.problem} />
      </td>
      <td>
        {one.state !== "Ready" ? null : one.shape !== undefined ? (
          <Save one={one} />
        ) : ExportAtoms.isWebLink(one.link) ? (
          <a className="button" href={one.link} download rel="noreferrer">
            Download
          </a>
        ) : null}
        {one.state === "Failed" ? (
          <button type="button" onClick={() => again(one)}>
            Look again
          </button>
        ) : null}
      </td>
    </tr>
  )
}

const columnTexts = { all: "All columns", shown: "Those that Contacts shows", some: "Some of them" } as const

type ColumnChoice = keyof typeof columnTexts

const isColumnChoice = (text: string): text is ColumnChoice => Object.hasOwn(columnTexts, text)

/** Chooses some of the columns. */
const SomeColumns = ({
  names,
  onChange
}: {
  readonly names: ReadonlyArray<string>
  readonly onChange: (names: ReadonlyArray<string>) => void
}) => {
  const columns = allColumns(useAtomValue(AppliedRule.knownFields))
  return (
    <fieldset className="kinds">
      <legend>Columns beside the address</legend>
      {columns.map(({ name, title }) => (
        <label key={name} className="choice">
          <input
            type="checkbox"
            checked={names.includes(name)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...names, name] : names.filter((one) => one !== name))
            }
          />
          <bdi>{title}</bdi>
        </label>
      ))}
    </fieldset>
  )
}

const Form = ({ total }: { readonly total: number | undefined }) => {
  const rule = useAtomValue(AppliedRule.rule)
  const [requested, request] = useAtom(ExportAtoms.request)
  const [format, setFormat] = useState<Format>(ExportAtoms.readsSemicolons() ? "Semicolons" : "Commas")
  const [columns, setColumns] = useState<ColumnChoice>("all")
  const shown = useAtomValue(ContactAtoms.columns)
  const [some, setSome] = useState(shown)
  const [isZipWanted, setZip] = useState(false)
  const [isListsWanted, setLists] = useState(false)
  const chosen = useAtomValue(ContactAtoms.numberChosen)
  const meantOfChoice = useAtomValue(ContactAtoms.meant)
  // Who has chosen contacts means those, unless all are asked for.
  const [isOfAll, setOfAll] = useState(false)
  const isOfChosen = chosen > 0 && !isOfAll
  const meant: Meant = isOfChosen ? meantOfChoice : { _tag: "ByRule", rule }
  const isTable = format !== "Json" && format !== "Xml"
  const names = !isTable || columns === "all" ? undefined : ["Email", ...(columns === "shown" ? shown : some)]
  const shape = isTable && (format !== "Commas" || names !== undefined) ? { form: format, columns: names } : undefined
  const wanted: ExportAtoms.WantedExport = {
    meant,
    format: isTable ? "Csv" : format,
    compression: isZipWanted && shape === undefined ? "Zip" : "None",
    lists: names === undefined ? isListsWanted : names.includes(listsColumn),
    shape
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    request(wanted)
  }
  return (
    <form className="stack" onSubmit={submit}>
      <div className="bar">
        <label>
          Format
          <select
            value={format}
            onChange={({ currentTarget: { value } }) => (isFormat(value) ? setFormat(value) : undefined)}
          >
            {Object.entries(formats).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {isTable ? (
          <label>
            Columns
            <select
              value={columns}
              onChange={({ currentTarget: { value } }) => (isColumnChoice(value) ? setColumns(value) : undefined)}
            >
              {Object.entries(columnTexts).map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        {names === undefined ? (
          <label className="choice">
            <input
              type="checkbox"
              checked={isListsWanted}
              onChange={(event) => setLists(event.currentTarget.checked)}
            />
            With their lists
          </label>
        ) : null}
        {shape === undefined ? (
          <label className="choice">
            <input type="checkbox" checked={isZipWanted} onChange={(event) => setZip(event.currentTarget.checked)} />
            In a ZIP file
          </label>
        ) : null}
        {chosen === 0 ? null : (
          <label className="choice">
            <input type="checkbox" checked={isOfChosen} onChange={(event) => setOfAll(!event.currentTarget.checked)} />
            Only the {chosen.toLocaleString()} chosen
          </label>
        )}
      </div>
      {isTable && columns === "some" ? <SomeColumns names={some} onChange={setSome} /> : null}
      <button type="submit" className="primary">
        <Icon name="export" />
        {isOfChosen ? "Export the chosen" : rule === "" ? "Export all contacts" : "Export those of the filter"}
        {isOfChosen ? `: ${chosen.toLocaleString()}` : total === undefined ? "" : `: ${total.toLocaleString()}`}
      </button>
      <Problem message={problemOf(requested)} />
      <CommandLine command={ExportAtoms.exportCommand(wanted)} />
    </form>
  )
}

export const ExportView = () => {
  const count = useAtomValue(ContactAtoms.count)
  const exports = useAtomValue(ExportAtoms.exports)
  return (
    <section aria-labelledby="export-title">
      <h1 id="export-title">Export</h1>
      <RuleBox />
      <Unplaced />
      <Problem message={problemOf(count)} />
      <Form total={AsyncResult.isSuccess(count) ? count.value.count : undefined} />
      <h2>Files of this session</h2>
      {exports.length === 0 ? (
        <Empty icon="export" title="No file yet">
          <p>
            Files that are asked for stand here until the page is left. A link opens its file without a key for a while.
          </p>
        </Empty>
      ) : (
        <Table
          label="Files of this session"
          columns={["Asked for", "Contacts", "Format", "State", "File"]}
          className="broad"
        >
          {exports.map((one) => (
            <Made key={one.id} one={one} />
          ))}
        </Table>
      )}
    </section>
  )
}
