/** Pictures of contacts, as tables with bars: by status, by the day on which they were added, and by the values of a field. */
import { AsyncResult, Atom } from "effect/reactivity"
import { useState } from "react"
import * as ContactAtoms from "../contacts/ContactAtoms.ts"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { RuleBox } from "../rules/RuleBox.tsx"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { shortened } from "../kit/Shortened.ts"
import * as PictureAtoms from "./PictureAtoms.ts"

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 })

const Bars = ({
  parts,
  title,
  total
}: {
  readonly title: string
  readonly parts: ReadonlyArray<PictureAtoms.Part>
  readonly total: number
}) => {
  const largest = Math.max(1, ...parts.map(({ count }) => count))
  return (
    <table className="picture">
      <caption>{title}</caption>
      <thead className="unseen">
        <tr>
          <th scope="col">{title}</th>
          <th scope="col">Contacts</th>
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ count, name }) => (
          <tr key={name}>
            <th scope="row">
              <bdi>{name}</bdi>
              <div className="amount" aria-hidden="true" style={{ width: `${(100 * count) / largest}%` }} />
            </th>
            <td>{count.toLocaleString()}</td>
            <td>{percent.format(count / Math.max(1, total))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const PicturesView = () => {
  const registry = useRegistry()
  const rule = useAtomValue(AppliedRule.rule)
  const total = useAtomValue(ContactAtoms.count)
  const known = useAtomValue(AppliedRule.knownFields)
  const [result, count] = useAtom(PictureAtoms.count)
  const counted = useAtomValue(PictureAtoms.counted)
  const [field, setField] = useState("")
  const expected = AsyncResult.isSuccess(total) ? total.value : undefined
  const shown = AsyncResult.isSuccess(result) && !result.waiting ? result.value : undefined
  return (
    <section aria-labelledby="pictures-title">
      <h1 id="pictures-title" className="unseen">
        Pictures
      </h1>
      <RuleBox />
      <div className="bar">
        <label>
          Values of the field
          <select value={field} onChange={(event) => setField(event.target.value)}>
            <option value="">none</option>
            {(known?.fields ?? [])
              .filter(({ isCustom }) => isCustom)
              .map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
          </select>
        </label>
        {result.waiting ? (
          <button type="button" onClick={() => registry.set(PictureAtoms.count, Atom.Interrupt)}>
            Stop
          </button>
        ) : (
          <button
            type="button"
            className="primary"
            onClick={() => count({ rule, field: field === "" ? undefined : field })}
          >
            {rule === "" ? "Count all contacts" : "Count those of the rule"}
            {expected === undefined ? "" : `: ${expected.toLocaleString()}`}
          </button>
        )}
      </div>
      <Problem message={problemOf(total) ?? problemOf(result)} />
      {result.waiting ? (
        <label>
          {counted.toLocaleString()} {expected === undefined ? "" : `of ${expected.toLocaleString()} `}contacts counted
          <progress max={Math.max(1, expected ?? counted)} value={expected === undefined ? undefined : counted} />
        </label>
      ) : null}
      {shown === undefined ? null : (
        <>
          <p role="status">
            {shown.total.toLocaleString()} contacts
            {shown.rule === "" ? "" : ", by the rule "}
            {shown.rule === "" ? null : <code>{shortened(shown.rule)}</code>}
          </p>
          <div className="pictures">
            <Bars title="By status" parts={shown.statuses} total={shown.total} />
            <Bars title="Added on" parts={shown.days} total={shown.total} />
            {shown.field === undefined ? null : (
              <Bars title={`Values of ${shown.field}`} parts={shown.values} total={shown.total} />
            )}
          </div>
        </>
      )}
    </section>
  )
}

export default PicturesView
