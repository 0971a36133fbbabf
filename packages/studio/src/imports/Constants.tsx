/** What all rows of a file get, beside what its columns say: a field and its value. */
import { ContactFields } from "@roster/domain/internal"
import { useState } from "preact/compat"
import { useAtom, useAtomValue } from "../kit/Atoms.tsx"
import { Icon } from "../kit/Icon.tsx"
import { Choices } from "../kit/Mark.tsx"
import { importTexts } from "../texts/ImportTexts.ts"
import * as ImportFile from "./ImportFile.ts"
import { fieldTitle } from "../texts/SharedTexts.ts"

/** The fields of the record that all rows may get: each row has an address of its own. */
const offered = ContactFields.addedFields.filter(({ wire }) => wire !== "Email")

const Value = ({
  field,
  onChange,
  value
}: {
  readonly field: string
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const of = offered.find(({ wire }) => wire === field)
  return of?.kind === "enumeration" ? (
    <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      <option value="">{importTexts.chooseValue}</option>
      <Choices of={of.values} />
    </select>
  ) : (
    <input value={value} autoComplete="off" onChange={({ currentTarget }) => onChange(currentTarget.value)} />
  )
}

/** Chooses a field for all rows. */
const Add = ({ onAdd }: { readonly onAdd: (field: string) => void }) => {
  const known = useAtomValue(ImportFile.customFields)
  const { constants } = useAtomValue(ImportFile.edits)
  const [name, setName] = useState<string | undefined>(undefined)
  const rest = [...offered.map(({ wire }) => wire), ...known].filter((one) => !Object.hasOwn(constants, one))
  return name === undefined ? (
    <select
      aria-label={importTexts.giveAll}
      value=""
      onChange={({ currentTarget: { value } }) => (value === "new" ? setName("") : onAdd(value.slice(1)))}
    >
      <option value="">{importTexts.giveAllChoice}</option>
      {rest.map((one) => (
        <option key={one} value={`=${one}`}>
          {fieldTitle(one)}
        </option>
      ))}
      <option value="new">{importTexts.otherCustomField}</option>
    </select>
  ) : (
    <>
      <label>
        {importTexts.nameOfField}{" "}
        <input value={name} autoComplete="off" onChange={({ currentTarget }) => setName(currentTarget.value)} />
      </label>
      <button
        type="button"
        disabled={name.trim() === ""}
        onClick={() => {
          onAdd(name.trim())
          setName(undefined)
        }}
      >
        {importTexts.takeField}
      </button>
    </>
  )
}

export const Constants = () => {
  const [edits, setEdits] = useAtom(ImportFile.edits)
  const set = (constants: Readonly<Record<string, string>>): void => setEdits({ ...edits, constants })
  const { constants } = edits
  return (
    <div className="bar">
      {Object.entries(constants).map(([field, value]) => (
        <span key={field} className="bar">
          <label>
            {importTexts.allRowsGet(<bdi>{fieldTitle(field)}</bdi>)}{" "}
            <Value field={field} value={value} onChange={(value) => set({ ...constants, [field]: value })} />
          </label>
          <button
            type="button"
            className="quiet sign"
            title={importTexts.takeAway}
            aria-label={importTexts.takeFieldAway(fieldTitle(field))}
            onClick={() => set(Object.fromEntries(Object.entries(constants).filter(([name]) => name !== field)))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <Add onAdd={(field) => set({ ...constants, [field]: "" })} />
    </div>
  )
}
