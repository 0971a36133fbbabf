/** The file, and how it is read: its encoding, what stands between its cells, and where its header is. */
import { AsyncResult } from "effect/reactivity"
import { useState } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"

import { Icon } from "../kit/Icon.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Table } from "../kit/Table.tsx"
import { importTexts } from "../texts/ImportTexts.ts"
import type { FileSight, Reading } from "./thread/FileSight.ts"
import * as ImportFile from "./ImportFile.ts"
import { begin, Continue, StepActions } from "./ImportSteps.tsx"

const encodings = [
  "utf-8",
  "windows-1252",
  "iso-8859-15",
  "windows-1250",
  "windows-1251",
  "windows-1254",
  "macintosh",
  "utf-16le",
  "utf-16be",
  "shift_jis",
  "gb18030",
  "big5",
  "euc-kr"
]

const delimiters = [
  [",", importTexts.delimiters.comma],
  [";", importTexts.delimiters.semicolon],
  ["\t", importTexts.delimiters.tab],
  ["|", importTexts.delimiters.bar]
] as const

const HowRead = ({ sight }: { readonly sight: FileSight }) => {
  const [reading, setReading] = useAtom(ImportFile.reading)
  const isJson = sight.header?.format !== undefined
  const sheet = sight.reading.sheet ?? "1"
  const read = (more: Reading): void => setReading(ImportFile.readAs(sight, reading, more))
  return (
    <div className="fields">
      {sight.isWorkbook ? (
        <label>
          {importTexts.sheet}
          <input
            key={sheet}
            defaultValue={sheet}
            autoComplete="off"
            onBlur={({ currentTarget: { value } }) => {
              const wanted = value.trim()
              if (wanted !== "" && wanted !== sheet) read({ sheet: wanted })
            }}
            onKeyDown={({ currentTarget, key }) => (key === "Enter" ? currentTarget.blur() : undefined)}
          />
        </label>
      ) : (
        <>
          <label>
            {importTexts.encoding} {sight.isMarked ? <small>{importTexts.saysItself}</small> : null}
            <select
              value={sight.encoding}
              disabled={sight.isMarked}
              onChange={(event) => read({ encoding: event.currentTarget.value })}
            >
              {[...new Set([...encodings, sight.encoding])].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          {isJson ? null : (
            <label>
              {importTexts.betweenCells}
              <select
                value={sight.header?.delimiter ?? reading.delimiter ?? ","}
                onChange={(event) => {
                  const found = delimiters.find(([delimiter]) => delimiter === event.currentTarget.value)
                  if (found !== undefined) read({ delimiter: found[0] })
                }}
              >
                {delimiters.map(([delimiter, name]) => (
                  <option key={name} value={delimiter}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
        </>
      )}
      {isJson ? null : (
        <label>
          {importTexts.linesAbove}
          <input
            type="number"
            min={0}
            max={1000}
            value={sight.reading.skipLines ?? 0}
            onChange={(event) => read({ skipLines: Math.max(0, Math.trunc(event.currentTarget.valueAsNumber || 0)) })}
          />
        </label>
      )}
      {isJson ? null : (
        <label>
          {importTexts.firstLine}
          <select
            value={sight.reading.header === false ? "row" : "headings"}
            onChange={({ currentTarget: { value } }) => read({ header: value === "headings" })}
          >
            <option value="headings">{importTexts.hasHeadings}</option>
            <option value="row">{importTexts.isContact}</option>
          </select>
        </label>
      )}
    </div>
  )
}

const FirstRows = ({ sight }: { readonly sight: FileSight }) => (
  <Table
    label={importTexts.firstRows}
    columns={sight.columns.map(({ name }, index) => (
      <bdi key={index}>{name}</bdi>
    ))}
    className="preview"
  >
    {sight.rows.map((row, index) => (
      <tr key={index}>
        {row.map((cell, at) => (
          <td key={at}>
            <bdi>{cell}</bdi>
          </td>
        ))}
      </tr>
    ))}
  </Table>
)

/** What was read, as text. */
const Read = ({ isReading, sight }: { readonly sight: FileSight; readonly isReading: boolean }) => (
  <p aria-live="polite" aria-busy={isReading}>
    {isReading ? importTexts.reading : importTexts.read(sight.read, sight.columns.length)}{" "}
    {isReading || sight.malformed === 0 ? "" : importTexts.malformed(sight.malformed)}
  </p>
)

/** The way back from a reading by which nothing can be read, such as a sheet that is not there. */
const ReadAgain = () => {
  const [reading, setReading] = useAtom(ImportFile.reading)
  if (Object.keys(reading).length === 0) return null
  return (
    <button type="button" onClick={() => setReading({})}>
      {importTexts.readAsProposed}
    </button>
  )
}

export const FileStep = () => {
  const registry = useRegistry()
  const file = useAtomValue(ImportFile.file)
  const result = useAtomValue(ImportFile.sight)
  const sight = useAtomValue(ImportFile.seen)
  const [isOver, setOver] = useState(false)
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    const [dropped] = event.dataTransfer?.files ?? []
    if (dropped !== undefined) begin(registry, dropped)
  }
  const isReading = !AsyncResult.isFailure(result) && (result.waiting || sight?.isComplete !== true)
  return (
    <>
      <div className="step-body">
        <div
          className={`drop${isOver ? " over" : ""}${file === undefined ? "" : " chosen"}`}
          onDragOver={(event) => {
            event.preventDefault()
            setOver(true)
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          {file === undefined ? <Icon name="import" /> : null}
          <label>
            {file === undefined ? importTexts.drop : importTexts.dropOther}
            <input
              type="file"
              onChange={(event) => {
                const [chosen] = event.currentTarget.files ?? []
                if (chosen !== undefined) begin(registry, chosen)
              }}
            />
          </label>
          {file === undefined ? (
            <small>{importTexts.kindsOfFiles}</small>
          ) : (
            <p>{importTexts.fileSize(<bdi>{file.name}</bdi>, Math.ceil(file.size / 1024))}</p>
          )}
        </div>
        {AsyncResult.isFailure(result) && !result.waiting ? <ReadAgain /> : null}
        {file === undefined || sight === undefined ? null : (
          <>
            <Read sight={sight} isReading={isReading} />
            <HowRead sight={sight} />
            <FirstRows sight={sight} />
          </>
        )}
        <Problem message={problemOf(result)} />
      </div>
      {sight === undefined || sight.columns.length === 0 ? null : (
        <StepActions at="file">
          <Continue to="columns" isFixed={isReading} />
        </StepActions>
      )}
    </>
  )
}
