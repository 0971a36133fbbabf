/** The contacts: a rule, how many it selects, a table of them, and one contact when it is opened. */
import { type ReactNode, useEffect, useRef, useState } from "preact/compat"
import { useAtom, useAtomValue } from "../kit/Atoms.tsx"
import { Empty } from "../kit/Empty.tsx"
import { Icon } from "../kit/Icon.tsx"
import { later } from "../kit/Later.tsx"
import { Pager } from "../kit/Pager.tsx"
import { ReadProblem } from "../session/ReadProblem.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { contactTexts } from "../texts/ContactTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import { Actions, AddContact } from "./Actions.tsx"
import * as ContactAtoms from "./ContactAtoms.ts"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { allColumns } from "./ContactColumn.ts"
import { ContactTable } from "./ContactTable.tsx"
import { Unplaced } from "./Unplaced.tsx"

const ContactCard = later(async () => (await import("./ContactCard.tsx")).ContactCard)

/** The contact that is open. */
const Opened = () => {
  const opened = useAtomValue(ContactAtoms.opened)
  return opened === undefined ? null : <ContactCard key={opened} email={opened} />
}

/** What a person can do where no contact is shown. */
const NoContacts = ({ rule }: { readonly rule: string }) => (
  <Empty icon="contacts" title={rule === "" ? contactTexts.none : contactTexts.noMatch}>
    {rule === "" ? (
      <>
        <p>{contactTexts.importOrAdd}</p>
        <a className="button primary" href="#import">
          <Icon name="import" />
          {sharedTexts.importFile}
        </a>
      </>
    ) : (
      <p>{contactTexts.lookElsewhere}</p>
    )}
  </Empty>
)

const Columns = () => {
  const [names, setNames] = useAtom(ContactAtoms.columns)
  const fieldsInUse = useAtomValue(AppliedRule.knownFields)
  return (
    <fieldset>
      <legend className="unseen">{contactTexts.columnsToShow}</legend>
      {allColumns(fieldsInUse).map(({ name, title }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={names.includes(name)}
            onChange={(event) =>
              setNames(event.currentTarget.checked ? [...names, name] : names.filter((one) => one !== name))
            }
          />{" "}
          {title}
        </label>
      ))}
    </fieldset>
  )
}

const ColumnChoice = () => {
  const [isOpen, setOpen] = useState(false)
  const menu = useRef<HTMLDetailsElement>(null)
  const button = useRef<HTMLElement>(null)
  // The browser knows whether it is open before this does.
  const close = (): void => {
    if (menu.current?.open !== true) return
    if (menu.current.contains(document.activeElement)) button.current?.focus()
    menu.current.open = false
  }
  useEffect(() => {
    const onPointerDown = ({ target }: PointerEvent): void => {
      if (target instanceof Node && menu.current?.contains(target) === false) close()
    }
    document.addEventListener("pointerdown", onPointerDown)
    return () => document.removeEventListener("pointerdown", onPointerDown)
  }, [])
  return (
    <details
      ref={menu}
      className="columns"
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onKeyDown={({ key }) => {
        if (key === "Escape") close()
      }}
    >
      <summary ref={button}>
        <Icon name="columns" />
        {sharedTexts.columns}
      </summary>
      {isOpen ? <Columns /> : null}
    </details>
  )
}

const Pages = ({ total }: { readonly total: number }) => {
  const [first, setFirst] = useAtom(ContactAtoms.first)
  return <Pager first={first} total={total} onFirst={setFirst} />
}

/** The view, with what finds contacts above them. */
export const ContactsView = ({ children }: { readonly children: ReactNode }) => {
  const rule = useAtomValue(AppliedRule.rule)
  const sort = useAtomValue(ContactAtoms.sort)
  const count = useAtomValue(ContactAtoms.count)
  const total = useAtomValue(ContactAtoms.total)
  const shownTotal = useAtomValue(ContactAtoms.shownTotal)
  return (
    <section className="contacts" aria-labelledby="contacts-title">
      <div className="title">
        <h1 id="contacts-title" tabIndex={-1}>
          {sharedTexts.views.contacts}
        </h1>
        <div className="buttons">
          <ColumnChoice />
          <AddContact isFirst={total !== 0} />
        </div>
      </div>
      {children}
      <ReadProblem of={count} />
      <Unplaced />
      {total === 0 ? <NoContacts rule={rule} /> : null}
      <ContactTable />
      <div className="foot">
        {total === undefined ? null : <Actions rule={rule} total={total} />}
        {shownTotal === undefined ? (
          <span role="status">{rule === "" ? contactTexts.counting : contactTexts.searching}</span>
        ) : (
          <Pages total={shownTotal} />
        )}
      </div>
      <CommandLine
        command={{
          program: "contacts list",
          values: { ...AppliedRule.selection(rule), sort: sort === "added" ? undefined : sort }
        }}
      />
      <Opened />
    </section>
  )
}
