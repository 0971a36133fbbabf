/** The lists of a contact: each shows everybody who is on it, the contact is taken off it, and put on others. */
import { type Contact, Rule } from "@roster/domain"
import { AsyncResult } from "effect/reactivity"
import { type FormEvent, useEffect, useState } from "preact/compat"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { CommandLine } from "../session/CommandLine.tsx"
import { missing } from "../session/Rights.tsx"
import { UndoButton } from "../session/Undo.tsx"
import { cardTexts } from "../texts/CardTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import { placeContact, placeProgram } from "./ContactEdit.ts"
import { isSaid, listQuestion, type NamedList } from "./ContactSelection.ts"
import { ListName } from "./ListName.tsx"

const unnamed: NamedList = { name: "", isMeant: false }

export const ContactLists = ({
  contact: { email, lists },
  onClose
}: {
  readonly contact: Contact
  readonly onClose: () => void
}) => {
  const setRule = useAtomSet(AppliedRule.show)
  const known = useAtomValue(AppliedRule.knownLists)
  const [placed, place] = useAtom(placeContact)
  const [list, setList] = useState(unnamed)
  const isFixed = useAtomValue(missing("ModifyContacts")) !== undefined
  // A service of others shows no lists of a contact, and changes none in one step.
  if (lists === undefined) return null
  const isReady = isSaid(listQuestion(list, true, known)) && !placed.waiting
  const done = AsyncResult.isSuccess(placed) && !placed.waiting ? placed.value : undefined
  // A list that could not be written is not named again.
  useEffect(() => {
    if (done?.isOn === true) setList(unnamed)
  }, [done])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!isReady) return
    place({ email, name: list.name, isOn: true })
  }
  const show = (name: string): void => {
    setRule(Rule.print(Rule.onList(name)))
    onClose()
  }
  return (
    <section className="stack" aria-label={sharedTexts.views.lists}>
      <h3>{sharedTexts.views.lists}</h3>
      {lists.length === 0 ? <p>{cardTexts.onNone}</p> : null}
      <ul className="values">
        {lists.map((name) => (
          <li key={name}>
            <button type="button" className="link" title={sharedTexts.showList} onClick={() => show(name)}>
              <bdi>{name}</bdi>
            </button>{" "}
            <button
              type="button"
              disabled={isFixed || placed.waiting}
              aria-label={cardTexts.takeOffNamed(name)}
              onClick={() => place({ email, name, isOn: false })}
            >
              {cardTexts.takeOff}
            </button>
          </li>
        ))}
      </ul>
      <form className="bar" onSubmit={submit}>
        <ListName label={cardTexts.otherList} list={list} onChange={setList} />
        <button type="submit" disabled={isFixed || !isReady}>
          {cardTexts.putOn}
        </button>
      </form>
      <Problem message={problemOf(placed)} />
      <p role="status">
        {done === undefined
          ? null
          : done.isOn
            ? cardTexts.isOn(<bdi>{done.name.trim()}</bdi>)
            : cardTexts.isOff(<bdi>{done.name.trim()}</bdi>)}
      </p>
      {done === undefined ? null : <UndoButton key={done.run} run={done.run} title={sharedTexts.undo} total={1} />}
      {isReady ? <CommandLine command={{ program: placeProgram(true), given: [list.name.trim(), email] }} /> : null}
    </section>
  )
}
