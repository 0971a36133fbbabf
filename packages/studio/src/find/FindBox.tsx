/** The box that finds contacts, with its filters, and what it says of an address that nobody has. */
import { searchAsWords } from "@roster/domain/internal"
import { AsyncResult } from "effect/reactivity"
import { Fragment } from "preact/compat"
import * as ContactAtoms from "../contacts/ContactAtoms.ts"
import { useAtom, useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { Conditions, FilterChoice } from "../rules/Filters.tsx"
import { RuleBox } from "../rules/RuleBox.tsx"
import * as RuleDraft from "../rules/RuleDraft.ts"
import { missing } from "../session/Rights.tsx"
import { findTexts } from "../texts/FindTexts.ts"
import { ruleTexts } from "../texts/RuleTexts.ts"
import { savedView } from "./ContactsAddress.ts"
import { lookUp } from "./AddressLookup.ts"
import { wanted } from "../contacts/ContactSelection.ts"
import { pasted } from "./PastedText.ts"

/** What came of looking for the address that stands in the box. */
const LookedUp = () => {
  const registry = useRegistry()
  const looked = useAtomValue(lookUp)
  const search = useAtomValue(RuleDraft.search)
  const want = useAtomSet(wanted)
  const reason = useAtomValue(missing("ModifyContacts"))
  if (search._tag !== "Address") return null
  const { email } = search
  if (looked.waiting) return <p role="status">{findTexts.looking(email)}</p>
  if (!AsyncResult.isSuccess(looked)) return <Problem message={problemOf(looked)} />
  if (looked.value.email !== email || looked.value.isFound) return null
  const asWords = (): void => {
    const words = searchAsWords(email)
    if (words?._tag === "Words") registry.set(AppliedRule.show, words.rule)
  }
  return (
    <div className="note" role="status">
      <p>{findTexts.nobodyHas(<bdi>{email}</bdi>)}</p>
      <div className="bar">
        <button
          type="button"
          disabled={reason !== undefined}
          onClick={() => want({ _tag: "Add", contact: { email, firstName: "", lastName: "" } })}
        >
          {findTexts.addThis}
        </button>
        <button type="button" onClick={asWords}>
          {findTexts.findContaining}
        </button>
        {reason === undefined ? null : <span>{reason}</span>}
      </div>
    </div>
  )
}

/** The custom fields to look into for words that no name and no address has, such as a city. */
const Elsewhere = () => {
  const search = useAtomValue(RuleDraft.search)
  const applied = useAtomValue(AppliedRule.rule)
  const total = useAtomValue(ContactAtoms.total)
  if (search._tag !== "Words" || search.rule !== applied || total !== 0) return null
  return <OtherFields words={search.words.join(" ")} />
}

const OtherFields = ({ words }: { readonly words: string }) => {
  // It asks for the fields, which is a scan at the service.
  useAtomValue(AppliedRule.fieldsInUse)
  const fields = useAtomValue(RuleDraft.fieldsToSearch(words))
  const show = useAtomSet(AppliedRule.show)
  return fields.length === 0 ? null : (
    <p className="reading" role="status">
      {findTexts.lookInFields(<bdi>{words}</bdi>)}{" "}
      {fields.map(({ name, rule }) => (
        <Fragment key={name}>
          <button type="button" onClick={() => show(rule)}>
            <bdi>{name}</bdi>
          </button>{" "}
        </Fragment>
      ))}
    </p>
  )
}

const filters = [{ icon: "filter", title: ruleTexts.filters, part: <FilterChoice /> }] as const

export const FindBox = () => {
  const find = useAtomSet(lookUp)
  const setPasted = useAtomSet(pasted)
  const [view, setView] = useAtom(savedView)
  return (
    <RuleBox
      view={view}
      onView={setView}
      onAddress={find}
      onAddresses={setPasted}
      panels={filters}
      tools={
        <button type="button" onClick={() => setPasted("")}>
          {findTexts.paste}
        </button>
      }
    >
      <LookedUp />
      <Elsewhere />
      <Conditions />
    </RuleBox>
  )
}
