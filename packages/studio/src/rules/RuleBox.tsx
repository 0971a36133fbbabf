/** The rule that selects contacts: it completes what one writes, marks what is wrong, and is applied with Enter. */
import type { RuleSuggestion } from "@roster/domain"
import { useId, useLayoutEffect, useRef, useState } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import * as AppliedRule from "./AppliedRule.ts"
import * as RuleDraft from "./RuleDraft.ts"
import { SavedRules } from "./SavedRules.tsx"

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

const SavedRulesBelow = () => {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Saved rules</summary>
      {isOpen ? <SavedRules /> : null}
    </details>
  )
}

export const RuleBox = () => {
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
  const id = useId()

  const look = (): void => {
    setCaret(field.current?.selectionStart ?? undefined)
    setAt(-1)
  }

  const apply = (): void => {
    setCaret(undefined)
    setApplying(true)
    show()
  }

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
      <label htmlFor={`${id}-text`}>Rule</label>
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
          placeholder="all contacts; write a rule such as status = Active AND city = 'Köln'"
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
          onClick={look}
          // The service scans all contacts for it, so the page asks once a person writes a rule.
          onFocus={() => registry.get(AppliedRule.fieldsInUse)}
          onBlur={() => setCaret(undefined)}
        />
        <ul id={`${id}-list`} role="listbox" aria-label="What may be written here" hidden={suggestions.length === 0}>
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
              {suggestion.contacts === undefined ? null : <small>{suggestion.contacts.toLocaleString()} have it</small>}
            </li>
          ))}
        </ul>
      </div>
      <button type="button" className="primary" onClick={apply}>
        Show
      </button>
      {applied === "" ? null : (
        <button
          type="button"
          onClick={() => {
            setText("")
            registry.set(AppliedRule.rule, "")
          }}
        >
          Show all
        </button>
      )}
      <div id={`${id}-problem`} className="rule-problem">
        <Problem message={isApplying ? (problem?.message ?? problemOf(shown)) : undefined} />
      </div>
      <SavedRulesBelow />
    </div>
  )
}
