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

import { Empty } from "../kit/Empty.tsx"
import { Icon } from "../kit/Icon.tsx"
import { Mark, type Tone } from "../kit/Mark.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Table } from "../kit/Table.tsx"
import { Time } from "../kit/Times.tsx"
import { ReadProblem } from "../session/ReadProblem.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { exportTexts } from "../texts/ExportTexts.ts"
import { hasDecimalComma } from "../texts/Language.ts"
import { people, sharedTexts, shortened } from "../texts/SharedTexts.ts"
import * as ExportAtoms from "./ExportAtoms.ts"

/** The forms of a file; the first three are made of the CSV of the service, if it is not as they are. */
type Format = keyof typeof exportTexts.formats

const isFormat = (text: string): text is Format => Object.hasOwn(exportTexts.formats, text)

const formatOf = ({ format, shape }: ExportAtoms.WantedExport): string =>
  exportTexts.formats[format === "Csv" ? (shape?.form ?? "Commas") : format]

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
        {saved.waiting ? exportTexts.making : sharedTexts.download}
      </button>
      <Problem message={problemOf(saved)} />
    </>
  )
}

const wordsOf = ({ meant }: ExportAtoms.WantedExport): string =>
  meant._tag === "Chosen"
    ? people(meant.emails.size)
    : meant.rule === ""
      ? sharedTexts.allContacts
      : shortened(meant.rule)

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
        {exportTexts.made(formatOf(one), { columns: one.shape?.columns?.length, isZip: one.compression === "Zip" })}
      </td>
      <td>
        <span aria-live="polite">
          <Mark tone={stateTones[one.state]}>{exportTexts.states[one.state]}</Mark>
        </span>
        {one.state === "Waiting" ? <progress aria-label={exportTexts.isMaking} /> : null}
        <Problem message={one.problem} />
      </td>
      <td>
        {one.state !== "Ready" ? null : one.shape !== undefined ? (
          <Save one={one} />
        ) : ExportAtoms.isWebLink(one.link) ? (
          <a className="button" href={one.link} download rel="noreferrer">
            {sharedTexts.download}
          </a>
        ) : null}
        {one.state === "Failed" ? (
          <button type="button" onClick={() => again(one)}>
            {exportTexts.lookAgain}
          </button>
        ) : null}
      </td>
    </tr>
  )
}

type ColumnChoice = keyof typeof exportTexts.columnChoices

const isColumnChoice = (text: string): text is ColumnChoice => Object.hasOwn(exportTexts.columnChoices, text)

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
      <legend>{exportTexts.besideAddress}</legend>
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
  const [format, setFormat] = useState<Format>(hasDecimalComma() ? "Semicolons" : "Commas")
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
          {exportTexts.format}
          <select
            value={format}
            onChange={({ currentTarget: { value } }) => (isFormat(value) ? setFormat(value) : undefined)}
          >
            {Object.entries(exportTexts.formatChoices).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {isTable ? (
          <label>
            {sharedTexts.columns}
            <select
              value={columns}
              onChange={({ currentTarget: { value } }) => (isColumnChoice(value) ? setColumns(value) : undefined)}
            >
              {Object.entries(exportTexts.columnChoices).map(([value, text]) => (
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
            {exportTexts.withLists}
          </label>
        ) : null}
        {shape === undefined ? (
          <label className="choice">
            <input type="checkbox" checked={isZipWanted} onChange={(event) => setZip(event.currentTarget.checked)} />
            {exportTexts.zip}
          </label>
        ) : null}
        {chosen === 0 ? null : (
          <label className="choice">
            <input type="checkbox" checked={isOfChosen} onChange={(event) => setOfAll(!event.currentTarget.checked)} />
            {exportTexts.onlyChosen(chosen)}
          </label>
        )}
      </div>
      {isTable && columns === "some" ? <SomeColumns names={some} onChange={setSome} /> : null}
      <button type="submit" className="primary">
        <Icon name="export" />
        {isOfChosen
          ? exportTexts.exportChosen(chosen)
          : rule === ""
            ? exportTexts.exportAll(total)
            : exportTexts.exportFiltered(total)}
      </button>
      <Problem message={problemOf(requested)} />
      <CommandLine command={ExportAtoms.exportCommand(wanted)} />
    </form>
  )
}

export const ExportView = () => {
  const { file, requested } = exportTexts.headings
  const count = useAtomValue(ContactAtoms.count)
  const exports = useAtomValue(ExportAtoms.exports)
  return (
    <section aria-labelledby="export-title">
      <h1 id="export-title">{sharedTexts.views.export}</h1>
      <RuleBox />
      <Unplaced />
      <ReadProblem of={count} />
      <Form total={AsyncResult.isSuccess(count) ? count.value.count : undefined} />
      <h2>{exportTexts.files}</h2>
      {exports.length === 0 ? (
        <Empty icon="export" title={exportTexts.noFile}>
          <p>{exportTexts.noFileYet}</p>
        </Empty>
      ) : (
        <Table
          label={exportTexts.files}
          columns={[requested, sharedTexts.views.contacts, exportTexts.format, sharedTexts.state, file]}
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
