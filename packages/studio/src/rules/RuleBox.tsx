/**
 * The box that selects contacts, by a name, addresses or a rule: it completes what one writes, marks what is wrong, and is applied with
 * Enter. What is done with addresses is said by the view that has it; elsewhere they are a rule too.
 */
import type { RuleSuggestion } from "@roster/domain"
import { readAddressList, readSearch, searchAsWords, searchTextOf } from "@roster/domain/internal"
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Icon, type IconName } from "../kit/Icon.tsx"
import { messageOf, Problem, problemOf } from "../kit/Problem.tsx"
import { ruleTexts } from "../texts/RuleTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import * as AppliedRule from "./AppliedRule.ts"
import * as RuleDraft from "./RuleDraft.ts"
import { SavedRules, type SavedView } from "./SavedRules.tsx"

/** The rule again, under the text that one writes, with the mistake marked. */
const Marked = ({ text }: { readonly text: string }) => {
  const problem = useAtomValue(RuleDraft.draftProblem)
  if (problem === undefined || problem.rule !== text) return null
  const end = problem.position + Math.max(1, problem.length)
  return (
    <div className="marked" aria-hidden="true">
      {text.slice(0, problem.position)}
      <mark>{text.slice(problem.position, end).padEnd(1)}</mark>
      {text.slice(end)}
    </div>
  )
}

const marked = (words: string): ReactNode => <bdi>{words}</bdi>

/** The rule that words became, which a person can go on writing; and words in place of a rule with a mistake. */
const Reading = ({ onRule, onWords }: { readonly onRule: (rule: string) => void; readonly onWords: () => void }) => {
  const [text, setText] = useAtom(AppliedRule.draft)
  const problem = useAtomValue(RuleDraft.draftProblem)
  const applied = useAtomValue(AppliedRule.rule)
  const search = useAtomValue(RuleDraft.search)
  const quoted = useAtomValue(RuleDraft.quotedDraft)
  if (search._tag === "Words" && search.rule === applied) {
    return (
      <p className="reading">
        {ruleTexts.whoeverHas(search.words, marked)}{" "}
        <button type="button" className="link" onClick={() => setText(applied)}>
          {ruleTexts.writeAsFilter}
        </button>
      </p>
    )
  }
  const words = problem === undefined ? undefined : searchAsWords(text)
  return words?._tag !== "Words" ? null : (
    <p className="reading bar">
      {quoted === undefined ? null : (
        <button type="button" onClick={() => onRule(quoted)}>
          {ruleTexts.findQuoted(marked(quoted))}
        </button>
      )}
      <button type="button" className="link" onClick={onWords}>
        {ruleTexts.lookForInstead(words.words, marked)}
      </button>
    </p>
  )
}

/** What a view does with what is written that is no rule. */
export interface RuleBoxProps extends SavedView {
  /** Called with the one address that is written, in place of a rule. */
  readonly onAddress?: (email: string) => void
  /** Called with the text of several addresses that are written or pasted, in place of a rule. */
  readonly onAddresses?: (text: string) => void
  /** What stands below the box. */
  readonly children?: ReactNode
  /** What else finds contacts, each below the box once its button is used. */
  readonly panels?: ReadonlyArray<Panel>
  /** Buttons for what finds contacts elsewhere. */
  readonly tools?: ReactNode
}

/** A part of the box that is shown by a button. */
export interface Panel {
  readonly icon?: IconName
  readonly title: string
  readonly part: ReactNode
}

const noPanels: ReadonlyArray<Panel> = []

export const RuleBox = ({ children, onAddress, onAddresses, onView, panels = noPanels, tools, view }: RuleBoxProps) => {
  const registry = useRegistry()
  const [text, setText] = useAtom(AppliedRule.draft)
  const problem = useAtomValue(RuleDraft.draftProblem)
  const applied = useAtomValue(AppliedRule.rule)
  const field = useRef<HTMLInputElement>(null)
  const [caret, setCaret] = useAtom(RuleDraft.caret)
  const { from, suggestions } = useAtomValue(RuleDraft.completions)
  const [shown, show] = useAtom(RuleDraft.show)
  const [at, setAt] = useState(-1)
  const [isApplying, setApplying] = useState(false)
  const [open, setOpen] = useState<string | undefined>(undefined)
  const all = [...panels, { title: ruleTexts.saved, part: <SavedRules view={view} onView={onView} /> }]
  const id = useId()

  const look = (): void => {
    setCaret(field.current?.selectionStart ?? undefined)
    setAt(-1)
  }

  const apply = (): void => {
    setCaret(undefined)
    const search = readSearch(text)
    if (search._tag === "Address" && onAddress !== undefined) return onAddress(search.email)
    if (search._tag === "Addresses" && onAddresses !== undefined) return onAddresses(search.text)
    setApplying(true)
    show(onView)
  }

  /** A rule with a mistake is words, if a person says so. */
  const takeAsWords = (): void => {
    const words = searchAsWords(text)
    if (words?._tag === "Words") registry.set(AppliedRule.show, words.rule)
    setApplying(false)
    field.current?.focus()
  }

  const takeQuoted = (rule: string): void => {
    registry.set(AppliedRule.show, rule)
    setApplying(false)
    field.current?.focus()
  }

  const onPaste = (event: ClipboardEvent): void => {
    const pasted = event.clipboardData?.getData("text/plain") ?? ""
    // A box of one line would lose the ends of lines.
    if (onAddresses === undefined || readAddressList(pasted).addresses.length < 2) return
    event.preventDefault()
    setCaret(undefined)
    onAddresses(pasted)
  }

  // A rule that was shown by a click or an address, and asks for words alone, stands here as these.
  useEffect(() => {
    if (registry.get(AppliedRule.draft) === applied) setText(searchTextOf(applied))
  }, [applied, registry, setText])

  // The value is set first, which puts the caret at its end. A person may be writing on by the next frame.
  const caretAfter = useRef<number>(undefined)
  useLayoutEffect(() => {
    const { current: at } = caretAfter
    if (at !== undefined) field.current?.setSelectionRange(at, at)
    caretAfter.current = undefined
  }, [text])

  const take = ({ text: taken }: RuleSuggestion): void => {
    if (caret === undefined) return
    const before = `${text.slice(0, from)}${taken} `
    setText(before + text.slice(caret).trimStart())
    setCaret(before.length)
    setAt(-1)
    caretAfter.current = before.length
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    const suggestion = suggestions[at]
    if (event.key === "ArrowDown" && suggestions.length > 0) setAt((at + 1) % suggestions.length)
    else if (event.key === "ArrowUp" && suggestions.length > 0) setAt((at <= 0 ? suggestions.length : at) - 1)
    else if (event.key === "Escape" && caret !== undefined) setCaret(undefined)
    else if (event.key === "Tab" && suggestion !== undefined) take(suggestion)
    else if (event.key === "Enter") {
      if (suggestion === undefined) apply()
      else take(suggestion)
    } else if (event.key === " " && event.ctrlKey) look()
    else return
    event.preventDefault()
  }

  return (
    <div className="rule">
      <label htmlFor={`${id}-text`} className="unseen">
        {ruleTexts.box}
      </label>
      <div className="rule-text">
        <Marked text={text} />
        <input
          id={`${id}-text`}
          ref={field}
          role="combobox"
          aria-expanded={suggestions.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={at < 0 ? undefined : `${id}-${at}`}
          aria-invalid={isApplying && problem !== undefined}
          aria-describedby={`${id}-problem`}
          placeholder={ruleTexts.placeholder}
          autoComplete="off"
          autoCapitalize="off"
          spellcheck={false}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setApplying(false)
            setCaret(event.currentTarget.selectionStart ?? undefined)
            setAt(-1)
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onClick={look}
          // The service scans all contacts for it, so the page asks once a person writes a rule.
          onFocus={() => registry.get(AppliedRule.fieldsInUse)}
          onBlur={() => setCaret(undefined)}
        />
        <ul id={`${id}-list`} role="listbox" aria-label={ruleTexts.whatMayBeWritten} hidden={suggestions.length === 0}>
          {suggestions.map((suggestion, index) => (
            <li
              key={suggestion.text}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              // The field keeps the focus.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => take(suggestion)}
            >
              <span>{suggestion.text}</span>
              {suggestion.words === undefined ? null : <small>{suggestion.words}</small>}
              {suggestion.contacts === undefined ? null : <small>{ruleTexts.haveIt(suggestion.contacts)}</small>}
            </li>
          ))}
        </ul>
      </div>
      <button type="button" onClick={apply}>
        <Icon name="search" />
        {ruleTexts.find}
      </button>
      <div className="rule-tools">
        {applied === "" ? null : (
          <button
            type="button"
            onClick={() => {
              setText("")
              registry.set(AppliedRule.rule, "")
            }}
          >
            {sharedTexts.showAll}
          </button>
        )}
        {all.map(({ icon, title }) => (
          <button
            key={title}
            type="button"
            aria-expanded={open === title}
            aria-controls={open === title ? `${id}-panel` : undefined}
            onClick={() => setOpen(open === title ? undefined : title)}
          >
            {icon === undefined ? null : <Icon name={icon} />}
            {title}
          </button>
        ))}
        {tools}
      </div>
      {open === undefined ? null : (
        <div id={`${id}-panel`} className="rule-panel">
          {all.find(({ title }) => title === open)?.part}
        </div>
      )}
      <div id={`${id}-problem`} className="rule-problem">
        <Problem message={isApplying ? (problem === undefined ? problemOf(shown) : messageOf(problem)) : undefined} />
        {isApplying || problem === undefined ? <Reading onWords={takeAsWords} onRule={takeQuoted} /> : null}
      </div>
      {children === undefined ? null : <div className="rule-below">{children}</div>}
    </div>
  )
}
