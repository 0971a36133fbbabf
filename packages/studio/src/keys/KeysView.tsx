/** The API keys and SMTP credentials: what they may do, what the audit finds, and what is done with them. */
import { AsyncResult } from "effect/reactivity"
import { type FormEvent, useEffect } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Icon } from "../kit/Icon.tsx"
import { Mark } from "../kit/Mark.tsx"
import { Table } from "../kit/Table.tsx"
import { Time } from "../kit/Times.tsx"
import { unseen } from "../kit/Unseen.tsx"
import { ReadProblem } from "../session/ReadProblem.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { Needs } from "../session/Rights.tsx"
import { session } from "../session/Session.ts"
import { keyTexts } from "../texts/KeyTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import * as KeyAtoms from "./KeyAtoms.ts"
import { KeyForm } from "./KeyForm.tsx"
import { actionOf, findingWords, levelSentence } from "./KeyWords.ts"
import { RemoveDialog } from "./RemoveDialog.tsx"
import { RotationStatus } from "./RotationStatus.tsx"
import { SecretDialog } from "./SecretDialog.tsx"

type Open = KeyAtoms.Open

const isKnown = (level: string): boolean => KeyAtoms.choices.some((choice) => choice.level === level)

const Levels = ({ levels }: { readonly levels: ReadonlyArray<string> }) => {
  const others = levels.filter((level) => !isKnown(level))
  return (
    <>
      <ul>
        {levels.filter(isKnown).map((level) => (
          <li key={level}>{levelSentence(level)}</li>
        ))}
      </ul>
      {others.length === 0 ? null : (
        <details>
          <summary>{keyTexts.otherLevels(others.length)}</summary>
          {others.join(", ")}
        </details>
      )}
    </>
  )
}

const Row = ({
  isRotating,
  listed,
  onOpen,
  onRotate
}: {
  readonly listed: KeyAtoms.ListedKey
  readonly isRotating: boolean
  readonly onOpen: (open: Open) => void
  readonly onRotate: (listed: KeyAtoms.ListedKey) => void
}) => {
  const { findings, key, kind, levels } = listed
  const { expires, ipRanges, lastUse, name } = key
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      {kind === "smtp" ? null : (
        <td>
          <Levels levels={levels ?? []} />
        </td>
      )}
      <td>{(ipRanges ?? []).length === 0 ? keyTexts.everywhere : (ipRanges ?? []).join(", ")}</td>
      <td>{expires == null ? keyTexts.ends.never : <Time at={expires} />}</td>
      <td>{lastUse == null ? keyTexts.ends.never : <Time at={lastUse} />}</td>
      {kind === "smtp" ? null : (
        <td>
          {findings.length === 0 ? <Mark tone="good">{keyTexts.nothingFound}</Mark> : null}
          {findings.map((finding) => {
            const action = actionOf(finding)
            return (
              <div key={finding._tag} className="note warn">
                {findingWords(finding)}{" "}
                <button type="button" className="link" onClick={() => onOpen({ _tag: action, listed })}>
                  {action === "Delete" ? sharedTexts.deleteNamed(name, unseen) : keyTexts.change(name, unseen)}
                </button>
              </div>
            )
          })}
        </td>
      )}
      <td>
        <div className="buttons">
          <button type="button" onClick={() => onOpen({ _tag: "Change", listed })}>
            {keyTexts.change(name, unseen)}
          </button>
          <button type="button" disabled={isRotating} onClick={() => onRotate(listed)}>
            {keyTexts.rotate(name, unseen)}
          </button>
          <button type="button" className="danger" onClick={() => onOpen({ _tag: "Leaked", listed })}>
            {keyTexts.leaked(name, unseen)}
          </button>
          <button type="button" className="danger" onClick={() => onOpen({ _tag: "Delete", listed })}>
            {sharedTexts.deleteNamed(name, unseen)}
          </button>
        </div>
      </td>
    </tr>
  )
}

const List = ({ kind, onOpen }: { readonly kind: KeyAtoms.Kind; readonly onOpen: (open: Open) => void }) => {
  const result = useAtomValue(kind === "smtp" ? KeyAtoms.smtp : KeyAtoms.keys)
  const [rotation, rotate] = useAtom(KeyAtoms.rotate)
  const isStore = useAtomValue(session)?.host?.isStore === true
  const title = keyTexts.lists[kind]
  const { actions, audit, from, lastUse, may } = keyTexts.headings
  const { ends, name } = sharedTexts
  const listed = AsyncResult.isSuccess(result) ? result.value : []
  return (
    <>
      <div className="title">
        <h2>{title}</h2>
        <button
          type="button"
          className={kind === "smtp" ? "" : "primary"}
          onClick={() => onOpen({ _tag: "Create", kind, levels: [] })}
        >
          <Icon name="add" />
          {keyTexts.make[kind]}
        </button>
      </div>
      <ReadProblem of={result} />
      {AsyncResult.isInitial(result) ? <p>{keyTexts.reading}</p> : null}
      {AsyncResult.isSuccess(result) && listed.length === 0 ? (
        <p>{isStore && kind === "apikeys" ? keyTexts.noneOfStore : sharedTexts.thereAreNone}</p>
      ) : null}
      {listed.length === 0 ? null : (
        <Table
          label={title}
          columns={
            kind === "smtp" ? [name, from, ends, lastUse, actions] : [name, may, from, ends, lastUse, audit, actions]
          }
          className="entries"
        >
          {listed.map((one) => (
            <Row
              key={one.key.name}
              listed={one}
              isRotating={rotation.waiting}
              onOpen={onOpen}
              onRotate={({ key: { name } }) => rotate({ kind, name })}
            />
          ))}
        </Table>
      )}
    </>
  )
}

const isGrace = (text: string): text is keyof typeof keyTexts.graces => Object.hasOwn(keyTexts.graces, text)

const Grace = () => {
  const [grace, setGrace] = useAtom(KeyAtoms.grace)
  const { waiting } = useAtomValue(KeyAtoms.rotate)
  return (
    <label>
      {keyTexts.oldSecret}
      <select
        value={grace}
        disabled={waiting}
        onChange={({ currentTarget: { value } }) => (isGrace(value) ? setGrace(value) : undefined)}
      >
        {Object.entries(keyTexts.graces).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

const Subaccount = () => {
  const [email, setEmail] = useAtom(KeyAtoms.subaccount)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    setEmail(String(new FormData(event.currentTarget).get("subaccount") ?? "").trim())
  }
  return (
    <form className="bar" onSubmit={submit}>
      <label>
        {keyTexts.subaccount}
        <input name="subaccount" defaultValue={email} autoComplete="off" />
      </label>
      <button type="submit">{keyTexts.show}</button>
    </form>
  )
}

export const KeysView = () => {
  const registry = useRegistry()
  const [open, setOpen] = useAtom(KeyAtoms.open)
  useEffect(
    () => () => {
      // What is edited is still there after a look at another view; a question is asked anew.
      const left = registry.get(KeyAtoms.open)?._tag
      if (left === "Delete" || left === "Leaked") registry.set(KeyAtoms.open, undefined)
    },
    [registry]
  )
  const keys = useAtomValue(KeyAtoms.keys)
  const email = useAtomValue(KeyAtoms.subaccount)
  const close = (): void => setOpen(undefined)
  const addresses = [
    ...new Set((AsyncResult.isSuccess(keys) ? keys.value : []).flatMap(({ key }) => key.ipRanges ?? []))
  ]
  return (
    <section aria-labelledby="keys-title">
      <h1 id="keys-title">{sharedTexts.views.keys}</h1>
      <RotationStatus />
      <Needs level="ModifyAccessTokens">
        <List kind="apikeys" onOpen={setOpen} />
      </Needs>
      <CommandLine command={{ program: "apikeys audit", values: { subaccount: email || undefined } }} />
      <Needs level="ModifyAccessTokens">
        <List kind="smtp" onOpen={setOpen} />
      </Needs>
      <details>
        <summary>{keyTexts.more}</summary>
        <div className="bar">
          <Subaccount />
          <Grace />
        </div>
      </details>
      {open === undefined ? null : open._tag === "Create" ? (
        <KeyForm
          key={open.levels.join(" ")}
          kind={open.kind}
          listed={undefined}
          proposed={{ levels: open.levels, addresses }}
          onClose={close}
        />
      ) : open._tag === "Change" ? (
        <KeyForm kind={open.listed.kind} listed={open.listed} proposed={{ levels: [], addresses }} onClose={close} />
      ) : (
        <RemoveDialog
          listed={open.listed}
          isLeaked={open._tag === "Leaked"}
          onClose={close}
          onMakeManaging={() =>
            setOpen({ _tag: "Create", kind: "apikeys", levels: ["Security", "ModifyAccessTokens"] })
          }
        />
      )}
      <SecretDialog />
    </section>
  )
}
