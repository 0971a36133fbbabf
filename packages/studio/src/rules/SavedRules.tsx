/** The saved rules: shown, saved under a name, removed. */
import type { SavedRules as Texts } from "@roster/domain"
import { AsyncResult } from "effect/reactivity"
import { useState } from "preact/compat"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { ReadProblem } from "../session/ReadProblem.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { Asked } from "../session/Unsaved.tsx"
import { missing, Needs } from "../session/Rights.tsx"
import { ruleTexts } from "../texts/RuleTexts.ts"
import * as AppliedRule from "./AppliedRule.ts"
import * as RuleDraft from "./RuleDraft.ts"

const Rules = ({ onShow, rules }: { readonly rules: Texts; readonly onShow: (rule: string) => void }) => {
  const [removed, remove] = useAtom(RuleDraft.removeRule)
  const isFixed = useAtomValue(missing("ModifyContacts")) !== undefined
  return (
    <>
      <ul className="values">
        {Object.entries(rules).map(([name, rule]) => (
          <li key={name}>
            <button type="button" className="link" onClick={() => onShow(`@${name}`)}>
              @{name}
            </button>{" "}
            <code>{rule}</code>{" "}
            <button
              type="button"
              aria-label={ruleTexts.removeNamed(name)}
              disabled={isFixed}
              onClick={() => remove(name)}
            >
              {ruleTexts.removeIt}
            </button>
          </li>
        ))}
      </ul>
      <Problem message={problemOf(removed)} />
    </>
  )
}

/** What a view gives the saved rules: how it shows contacts, and what shows them so. */
export interface SavedView {
  /** How the contacts are shown, which a rule is saved with. */
  readonly view?: string | undefined
  /** Called with how a saved rule has its contacts shown. */
  readonly onView?: ((view: string) => void) | undefined
}

const Save = ({ view }: Pick<SavedView, "view">) => {
  const text = useAtomValue(AppliedRule.draft)
  const [saved, save] = useAtom(RuleDraft.saveRule)
  const [name, setName] = useState("")
  const taken = saved.waiting ? undefined : RuleDraft.takenBy(saved)
  return (
    <form
      className="bar"
      onSubmit={(event) => {
        event.preventDefault()
        save({ name, view })
      }}
    >
      <label>
        {ruleTexts.name}{" "}
        <input
          value={name}
          autoComplete="off"
          spellcheck={false}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={name.trim() === "" || text.trim() === ""}>
        {ruleTexts.save}
      </button>
      {AsyncResult.isSuccess(saved) ? <span role="status">{ruleTexts.isSaved(saved.value)}</span> : null}
      {taken === undefined ? (
        <Problem message={problemOf(saved)} />
      ) : (
        <Asked>
          <p>{taken.message}</p>
          <p>
            <code>{taken.rule}</code>
          </p>
          <div className="buttons">
            <button type="button" onClick={() => save({ name: taken.name, view, replaces: true })}>
              {ruleTexts.saveInPlace(taken.name)}
            </button>
          </div>
        </Asked>
      )}
      {name.trim() !== "" && text.trim() !== "" ? (
        <CommandLine command={{ program: "rules save", given: [RuleDraft.savedNameOf(name), text.trim()] }} />
      ) : null}
    </form>
  )
}

export const SavedRules = ({ onView, view }: SavedView) => {
  const saved = useAtomValue(RuleDraft.savedRules)
  const setDraft = useAtomSet(AppliedRule.draft)
  const show = useAtomSet(RuleDraft.show)
  const rules = AsyncResult.getOrElse(saved, () => undefined)
  return (
    <div className="stack">
      <ReadProblem of={saved} />
      {rules === undefined ? null : (
        <>
          {Object.keys(rules).length === 0 ? <p>{ruleTexts.noneSaved}</p> : null}
          <Rules
            rules={rules}
            onShow={(rule) => {
              setDraft(rule)
              show(onView)
            }}
          />
        </>
      )}
      <Needs level="ModifyContacts">
        <Save view={view} />
      </Needs>
    </div>
  )
}
