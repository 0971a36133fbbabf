/** The saved rules: shown, saved under a name, removed. */
import { AsyncResult } from "effect/reactivity"
import { useState } from "react"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import * as RuleDraft from "./RuleDraft.ts"
import type { KeptRules } from "./RuleStorage.ts"

const Rules = ({ onShow, rules }: Pick<KeptRules, "rules"> & { readonly onShow: (rule: string) => void }) => {
  const [removed, remove] = useAtom(RuleDraft.removeRule)
  return (
    <>
      <ul className="values">
        {Object.entries(rules).map(([name, rule]) => (
          <li key={name}>
            <button type="button" className="link" onClick={() => onShow(`@${name}`)}>
              @{name}
            </button>{" "}
            <code>{rule}</code>{" "}
            <button type="button" aria-label={`Remove @${name}`} onClick={() => remove(name)}>
              Remove
            </button>
          </li>
        ))}
      </ul>
      <Problem message={problemOf(removed)} />
    </>
  )
}

const Place = ({ place }: Pick<KeptRules, "place">) => {
  const [kept, keep] = useAtom(RuleDraft.keepRules)
  return place === "commandLine" ? (
    <small>They are those of the command line: --rule @NAME stands for one.</small>
  ) : (
    <>
      <label className="choice">
        <input type="checkbox" checked={place === "browser"} onChange={({ target }) => keep(target.checked)} />
        Keep them in this browser until I sign out; else they end with this page
      </label>
      <Problem message={problemOf(kept)} />
    </>
  )
}

const Save = ({ place }: Pick<KeptRules, "place">) => {
  const text = useAtomValue(RuleDraft.draft)
  const [saved, save] = useAtom(RuleDraft.saveRule)
  const [name, setName] = useState("")
  return (
    <form
      className="bar"
      onSubmit={(event) => {
        event.preventDefault()
        save(name)
      }}
    >
      <label>
        Name for the rule above{" "}
        <input
          value={name}
          placeholder="vip"
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <button type="submit" disabled={name.trim() === "" || text.trim() === ""}>
        Save it
      </button>
      {AsyncResult.isSuccess(saved) ? <span role="status">@{saved.value} is saved.</span> : null}
      <Problem message={problemOf(saved)} />
      {place === "commandLine" && name.trim() !== "" && text.trim() !== "" ? (
        <CommandLine isLocal command={{ program: "rules save", given: [name.trim(), text.trim()] }} />
      ) : null}
    </form>
  )
}

export const SavedRules = () => {
  const saved = useAtomValue(RuleDraft.savedRules)
  const setDraft = useAtomSet(RuleDraft.draft)
  const show = useAtomSet(RuleDraft.show)
  if (!AsyncResult.isSuccess(saved)) return <Problem message={problemOf(saved)} />
  const { place, rules } = saved.value
  return (
    <div className="stack">
      {Object.keys(rules).length === 0 ? <p>No rule is saved yet.</p> : null}
      <Rules
        rules={rules}
        onShow={(rule) => {
          setDraft(rule)
          show()
        }}
      />
      <Save place={place} />
      <Place place={place} />
    </div>
  )
}
