/** Exports: which contacts, in which form, and the files of this session, which the browser downloads. */
import { AsyncResult } from "effect/reactivity"
import { type FormEvent, useState } from "preact/compat"
import * as ContactAtoms from "../contacts/ContactAtoms.ts"
import type { Meant } from "../contacts/ContactSelection.ts"
import { Unplaced } from "../contacts/Unplaced.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { RuleBox } from "../rules/RuleBox.tsx"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { people } from "../kit/Counts.ts"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { shortened } from "../kit/Shortened.ts"
import { Table } from "../kit/Table.tsx"
import { Time } from "../kit/Times.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import * as ExportAtoms from "./ExportAtoms.ts"

type Format = ExportAtoms.WantedExport["format"]

const formats: Readonly<Record<Format, string>> = {
  Csv: "CSV, for spreadsheets",
  Json: "JSON, for programs",
  Xml: "XML"
}

const isFormat = (text: string): text is Format => Object.hasOwn(formats, text)

const stateWords: Readonly<Record<ExportAtoms.MadeExport["state"], string>> = {
  Waiting: "being made…",
  Ready: "ready",
  Failed: "not ready"
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
        {one.format}
        {one.compression === "Zip" ? ", in a ZIP file" : ""}
      </td>
      <td>
        <span aria-live="polite">{stateWords[one.state]}</span>
        {one.state === "Waiting" ? <progress aria-label="The export is being made" /> : null}
        <Problem message={one.problem} />
      </td>
      <td>
        {one.state === "Ready" && ExportAtoms.isWebLink(one.link) ? (
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

export const ExportView = () => {
  const rule = useAtomValue(AppliedRule.rule)
  const count = useAtomValue(ContactAtoms.count)
  const exports = useAtomValue(ExportAtoms.exports)
  const [requested, request] = useAtom(ExportAtoms.request)
  const [format, setFormat] = useState<Format>("Csv")
  const [isZip, setZip] = useState(false)
  const [lists, setLists] = useState(false)
  const chosen = useAtomValue(ContactAtoms.numberChosen)
  const meantOfChoice = useAtomValue(ContactAtoms.meant)
  // Who has chosen contacts means those, unless all are asked for.
  const [isOfAll, setOfAll] = useState(false)
  const isOfChosen = chosen > 0 && !isOfAll
  const meant: Meant = isOfChosen ? meantOfChoice : { _tag: "ByRule", rule }
  const wanted = { meant, format, compression: isZip ? ("Zip" as const) : ("None" as const), lists }
  const total = AsyncResult.isSuccess(count) ? count.value.count : undefined
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    request(wanted)
  }
  return (
    <section aria-labelledby="export-title">
      <h1 id="export-title">Export</h1>
      <RuleBox />
      <Unplaced />
      <form className="bar" onSubmit={submit}>
        <label>
          Form
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
        <label className="choice">
          <input type="checkbox" checked={isZip} onChange={(event) => setZip(event.currentTarget.checked)} />
          In a ZIP file
        </label>
        <label className="choice">
          <input type="checkbox" checked={lists} onChange={(event) => setLists(event.currentTarget.checked)} />
          With their lists
        </label>
        {chosen === 0 ? null : (
          <label className="choice">
            <input type="checkbox" checked={isOfChosen} onChange={(event) => setOfAll(!event.currentTarget.checked)} />
            Only the {chosen.toLocaleString()} chosen
          </label>
        )}
        <button type="submit" className="primary">
          {isOfChosen ? "Export the chosen" : rule === "" ? "Export all contacts" : "Export those of the rule"}
          {isOfChosen ? `: ${chosen.toLocaleString()}` : total === undefined ? "" : `: ${total.toLocaleString()}`}
        </button>
      </form>
      <Problem message={problemOf(count) ?? problemOf(requested)} />
      <CommandLine command={ExportAtoms.exportCommand(wanted)} />
      <h2>Exports of this session</h2>
      {exports.length === 0 ? (
        <p>There are none. A file stays for a while at the service, and its link opens it without a key.</p>
      ) : (
        <Table
          label="Exports of this session"
          columns={["Asked for", "Contacts", "Form", "State", "File"]}
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
