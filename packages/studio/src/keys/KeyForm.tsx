/** What a credential may do, until when, and from where: of a new one, or of one that is changed. */
import { AccessLevel } from "@roster/domain"
import { Schema } from "effect"
import { AsyncResult } from "effect/reactivity"
import { type FormEvent, useEffect } from "preact/compat"
import { useAtom, useAtomValue } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { useAskedClose } from "../session/Unsaved.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { keyTexts } from "../texts/KeyTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import * as KeyAtoms from "./KeyAtoms.ts"
import { levelSentence, purposesOf } from "./KeyWords.ts"

type Ends = KeyAtoms.KeyEdited["ends"]

const endsTexts: Readonly<Record<Ends, string>> = keyTexts.ends

const isEnds = (text: string): text is Ends => Object.hasOwn(endsTexts, text)

const isLevel = Schema.is(AccessLevel)

/** A list of ranges as the form has it. */
const textOfRanges = (ranges: ReadonlyArray<string> | null | undefined): string => (ranges ?? []).join("\n")

const Levels = ({
  chosen,
  onChoose
}: {
  readonly chosen: ReadonlyArray<AccessLevel>
  readonly onChoose: (levels: ReadonlyArray<AccessLevel>) => void
}) => {
  const offered = [...new Set([...KeyAtoms.choices.map(({ level }) => level), ...chosen])]
  return (
    <fieldset>
      <legend>{keyTexts.mayDo}</legend>
      {offered.map((level) => (
        <label key={level} className="choice">
          <input
            type="checkbox"
            checked={chosen.includes(level)}
            onChange={(event) =>
              onChoose(event.currentTarget.checked ? [...chosen, level] : chosen.filter((one) => one !== level))
            }
          />
          <span>
            {levelSentence(level)} <small>{keyTexts.level(level, purposesOf(level))}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** Makes a credential, or changes the one that is given. */
export const KeyForm = ({
  kind,
  listed,
  onClose,
  proposed
}: {
  readonly kind: KeyAtoms.Kind
  readonly listed: KeyAtoms.ListedKey | undefined
  readonly proposed: { readonly levels: ReadonlyArray<AccessLevel>; readonly addresses: ReadonlyArray<string> }
  readonly onClose: () => void
}) => {
  const [created, create] = useAtom(KeyAtoms.create)
  const [changed, change] = useAtom(KeyAtoms.change)
  const email = useAtomValue(KeyAtoms.subaccount)
  const before = listed?.levels?.filter(isLevel) ?? proposed.levels
  const [kept, setKept] = useAtom(KeyAtoms.draft)
  const edited: KeyAtoms.KeyEdited = kept ?? {
    name: "",
    levels: before,
    ends: listed === undefined ? "90" : "keep",
    addresses: textOfRanges(listed?.key.ipRanges)
  }
  const { addresses, ends, levels, name } = edited
  const set = (part: Partial<KeyAtoms.KeyEdited>): void => setKept({ ...edited, ...part })
  const result: AsyncResult.AsyncResult<unknown, { readonly message: string }> =
    listed === undefined ? created : changed
  const isDone = AsyncResult.isSuccess(result) && !result.waiting
  useEffect(() => {
    if (isDone) onClose()
  }, [isDone, onClose])
  const { close, question } = useAskedClose(kept !== undefined && !isDone, onClose)
  const days = ends === "never" ? null : ends === "keep" ? undefined : Number(ends)
  const settings: KeyAtoms.KeySettings = { name, levels, days: days ?? undefined, addresses }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (listed === undefined) return create({ kind, settings })
    const isSame = levels.length === before.length && levels.every((level) => before.includes(level))
    change({
      kind,
      name: listed.key.name,
      levels: kind === "smtp" || isSame ? undefined : levels,
      days,
      addresses: addresses === textOfRanges(listed.key.ipRanges) ? undefined : addresses
    })
  }
  const unused = proposed.addresses.filter((one) => !KeyAtoms.addressesOf(addresses).includes(one))
  return (
    <Dialog
      title={listed === undefined ? keyTexts.titleOfNew[kind] : keyTexts.titleOfChange(listed.key.name)}
      onClose={result.waiting ? undefined : close}
    >
      {question}
      <form onSubmit={submit} className="stack">
        {listed === undefined ? (
          <label className="wide">
            {keyTexts.name[kind]}
            <input
              value={name}
              required
              autoComplete="off"
              onChange={(event) => set({ name: event.currentTarget.value })}
            />
          </label>
        ) : null}
        {kind === "smtp" ? null : <Levels chosen={levels} onChoose={(levels) => set({ levels })} />}
        <label>
          {keyTexts.itEnds}
          <select
            value={ends}
            onChange={({ currentTarget: { value } }) => (isEnds(value) ? set({ ends: value }) : undefined)}
          >
            {Object.entries(endsTexts).map(([value, text]) =>
              value === "keep" && listed === undefined ? null : (
                <option key={value} value={value}>
                  {text}
                </option>
              )
            )}
          </select>
        </label>
        <label className="wide">
          {keyTexts.addresses}
          <textarea rows={3} value={addresses} onChange={(event) => set({ addresses: event.currentTarget.value })} />
        </label>
        {unused.length === 0 ? null : (
          <div className="buttons">
            <span>{keyTexts.othersHave}</span>
            {unused.slice(0, 5).map((one) => (
              <button
                key={one}
                type="button"
                onClick={() => set({ addresses: `${addresses.trimEnd()}\n${one}`.trim() })}
              >
                {one}
              </button>
            ))}
          </div>
        )}
        <Problem message={problemOf(result)} />
        <div className="buttons">
          <button
            type="submit"
            className="primary"
            disabled={result.waiting || (kind === "apikeys" && levels.length === 0)}
          >
            {result.waiting ? sharedTexts.oneMoment : listed === undefined ? keyTexts.makeIt : keyTexts.changeIt}
          </button>
          <button type="button" disabled={result.waiting} onClick={close}>
            {sharedTexts.close}
          </button>
        </div>
      </form>
      {listed === undefined && name.trim() !== "" ? (
        <CommandLine command={KeyAtoms.createCommand(kind, settings, email)} />
      ) : null}
    </Dialog>
  )
}
