/** The lists: each with its people and when it was made. They are made, renamed, exported, deleted, and the chosen are put on them. */
import { type ContactList } from "@roster/domain"
import { AsyncResult } from "effect/reactivity"
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "preact/compat"
import * as ContactAtoms from "../contacts/ContactAtoms.ts"
import { isSaid, listQuestion, type NamedList, wanted } from "../contacts/ContactSelection.ts"
import { ListName } from "../contacts/ListName.tsx"
import { addressOf, shown } from "../find/ContactsAddress.ts"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"

import { Dialog } from "../kit/Dialog.tsx"
import { Empty } from "../kit/Empty.tsx"
import { Icon } from "../kit/Icon.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Numbers, Table } from "../kit/Table.tsx"
import { Time } from "../kit/Times.tsx"
import { unseen } from "../kit/Unseen.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { ReadProblem } from "../session/ReadProblem.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { missing, Needs } from "../session/Rights.tsx"
import { number } from "../texts/Language.ts"
import { listTexts } from "../texts/ListTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import * as ListAtoms from "./ListAtoms.ts"

const unnamed: NamedList = { name: "", isMeant: false }

/** Whether there is a list of this name now: what was done to one that others deleted is said no more. */
const useIsThere = (name: string | undefined): boolean => {
  const known = useAtomValue(AppliedRule.knownLists)
  return name !== undefined && known.includes(name)
}

const NewList = () => {
  const known = useAtomValue(AppliedRule.knownLists)
  const [created, create] = useAtom(ListAtoms.create)
  const [list, setList] = useState(unnamed)
  const question = listQuestion(list, true, known)
  const made = AsyncResult.isSuccess(created) && !created.waiting ? created.value.listName : undefined
  const isThere = useIsThere(made)
  // A name whose list could not be made is not written again.
  useEffect(() => {
    if (made !== undefined) setList(unnamed)
  }, [made])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    create(list.name)
  }
  return (
    <Needs level="ModifyContacts">
      <form className="bar" onSubmit={submit}>
        <ListName label={listTexts.new} list={list} onChange={setList} />
        <button
          type="submit"
          className="primary"
          disabled={!isSaid(question) || question._tag === "Known" || created.waiting}
        >
          {listTexts.makeIt}
        </button>
        {question._tag === "Known" ? <span role="status">{listTexts.isThere}</span> : null}
        <span role="status">{isThere ? listTexts.isMade(<bdi>{made}</bdi>) : null}</span>
      </form>
      <Problem message={problemOf(created)} />
      {question._tag === "New" ? <CommandLine command={ListAtoms.createCommand(list.name, list.isMeant)} /> : null}
    </Needs>
  )
}

const RenameDialog = ({ name, onClose }: { readonly name: string; readonly onClose: () => void }) => {
  const [renamed, rename] = useAtom(ListAtoms.rename)
  const before = useRef(renamed)
  const [to, setTo] = useState(name)
  const isOther = to.trim() !== "" && to.trim() !== name
  useEffect(() => {
    if (renamed !== before.current && AsyncResult.isSuccess(renamed) && !renamed.waiting) onClose()
  }, [onClose, renamed])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    rename({ from: name, to })
  }
  return (
    <Dialog title={listTexts.renameNamed(name)} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label>
          {listTexts.newName}
          <input autoComplete="off" value={to} onChange={({ currentTarget }) => setTo(currentTarget.value)} />
        </label>
        <p>{listTexts.staysOn}</p>
        <button type="submit" className="primary" disabled={!isOther || renamed.waiting}>
          {listTexts.renameIt}
        </button>
      </form>
      <Problem message={renamed === before.current ? undefined : problemOf(renamed)} />
      {isOther ? <CommandLine command={ListAtoms.renameCommand({ from: name, to })} /> : null}
      <div className="buttons">
        <button type="button" onClick={onClose}>
          {sharedTexts.close}
        </button>
      </div>
    </Dialog>
  )
}

/** What was renamed last, and the way back. What goes wrong in the dialog is said there. */
const Renamed = ({ isAsking }: { readonly isAsking: boolean }) => {
  const [renamed, rename] = useAtom(ListAtoms.rename)
  const last = AsyncResult.getOrElse(renamed, () => undefined)
  const isThere = useIsThere(last?.to.trim())
  if (last === undefined || renamed.waiting || !isThere) return null
  const { from, to } = last
  return (
    <>
      <p className="note" role="status">
        {listTexts.isRenamed(<bdi>{from}</bdi>, <bdi>{to.trim()}</bdi>)}{" "}
        <button type="button" onClick={() => rename({ from: to.trim(), to: from })}>
          {sharedTexts.undo}
        </button>
      </p>
      <Problem message={isAsking ? undefined : problemOf(renamed)} />
    </>
  )
}

const Row = ({ list, onRename }: { readonly list: ContactList; readonly onRename: () => void }) => {
  const { contacts, dateAdded, listName: name } = list
  const want = useAtomSet(wanted)
  const chosen = useAtomValue(ContactAtoms.numberChosen)
  const meant = useAtomValue(ContactAtoms.meant)
  const isFixed = useAtomValue(missing("ModifyContacts")) !== undefined
  const mayNotExport = useAtomValue(missing("Export"))
  const place = (isOn: boolean): void =>
    want({ _tag: "Change", meant, to: { field: "list", name, isOn, isMeant: true } })
  return (
    <tr>
      <th scope="row">
        <a href={`#${addressOf({ rule: ListAtoms.ruleOf(list) })}`} title={sharedTexts.showList}>
          <bdi>{name}</bdi>
        </a>
      </th>
      <td className="number">{contacts === undefined ? null : number(contacts)}</td>
      <td>{dateAdded === undefined ? null : <Time at={dateAdded} />}</td>
      <td>
        <div className="buttons">
          {chosen === 0 ? null : (
            <>
              <button type="button" disabled={isFixed} onClick={() => place(true)}>
                {listTexts.putChosen(chosen, name, unseen)}
              </button>
              <button type="button" disabled={isFixed} onClick={() => place(false)}>
                {listTexts.takeChosen(chosen, name, unseen)}
              </button>
            </>
          )}
          {mayNotExport === undefined ? (
            <a className="button" href={`#${AppliedRule.exportAddress(ListAtoms.ruleOf(list))}`}>
              <Icon name="export" />
              {listTexts.export(name, unseen)}
            </a>
          ) : (
            <button type="button" disabled title={mayNotExport}>
              <Icon name="export" />
              {sharedTexts.export}
            </button>
          )}
          <button type="button" disabled={isFixed} onClick={onRename}>
            {listTexts.rename(name, unseen)}
          </button>
          <button
            type="button"
            className="danger"
            disabled={isFixed}
            onClick={() => want({ _tag: "DeleteList", name, contacts })}
          >
            <Icon name="delete" />
            {sharedTexts.deleteNamed(name, unseen)}
          </button>
        </div>
      </td>
    </tr>
  )
}

export const ListsView = () => {
  const lists = useAtomValue(ListAtoms.lists)
  const chosen = useAtomValue(ContactAtoms.numberChosen)
  // As they were shown last, since another rule would end the choice.
  const contacts = `#${addressOf(useAtomValue(shown))}`
  const [renaming, setRenaming] = useState<string | undefined>(undefined)
  const all = AsyncResult.getOrElse(lists, () => undefined)
  const toContacts = (words: string): ReactNode => <a href={contacts}>{words}</a>
  const { made, people } = listTexts.headings
  return (
    <section aria-labelledby="lists-title">
      <div className="title">
        <h1 id="lists-title">{sharedTexts.views.lists}</h1>
      </div>
      <NewList />
      <Renamed isAsking={renaming !== undefined} />
      <ReadProblem of={lists} />
      {all === undefined ? (
        problemOf(lists) === undefined && <p>{listTexts.reading}</p>
      ) : all.length === 0 ? (
        <Empty icon="lists" title={listTexts.none}>
          <p>{listTexts.firstSteps(toContacts)}</p>
        </Empty>
      ) : (
        <>
          <p>{chosen === 0 ? listTexts.chooseAmong(toContacts) : listTexts.chosenAmong(chosen, toContacts)}</p>
          <Table
            label={listTexts.all}
            columns={[sharedTexts.name, <Numbers key="people">{people}</Numbers>, made, sharedTexts.whatToDo]}
          >
            {all.map((list) => (
              <Row key={list.listName} list={list} onRename={() => setRenaming(list.listName)} />
            ))}
          </Table>
        </>
      )}
      <CommandLine command={{ program: "lists list" }} />
      {renaming === undefined ? null : <RenameDialog name={renaming} onClose={() => setRenaming(undefined)} />}
    </section>
  )
}
