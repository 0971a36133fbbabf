/** What a plan would do: how many change, the first of them, who keeps a status and why, and the button that does it. */
import { type PlanSummary, recipientWords } from "@roster/workflows"
import type { FormEvent } from "preact/compat"
import { Unplaced } from "../contacts/Unplaced.tsx"

import { Confirmed } from "../session/Confirmed.tsx"
import { planTexts } from "../texts/PlanTexts.ts"
import { sharedTexts, shortened, statusWords, valueWords } from "../texts/SharedTexts.ts"
import type * as ContactPlan from "./ContactPlan.ts"

const unshown: PlanSummary["sample"][number]["changes"] = {}

const textOf = (field: string, value: string | number | null): string =>
  shortened(value === null ? planTexts.nothing : valueWords(field, String(value)))

/** The contacts that a plan shows, each with what changes. */
const Sample = ({ count, of, plan: { summary } }: Pick<ContactPlan.Planned, "count" | "of" | "plan">) => {
  // What is done to a list is said above them.
  const isOfList = of._tag === "Change" && of.to.field === "list"
  const shown =
    summary.sample.length > 0
      ? summary.sample.slice(0, 5).map(({ changes, email }) => ({ email, changes: isOfList ? unshown : changes }))
      : (summary.firstContacts ?? []).map(({ email }) => ({ email, changes: unshown }))
  return (
    <ul>
      {shown.map(({ changes, email }) => (
        <li key={email}>
          <bdi>{email}</bdi>
          {Object.entries(changes).map(([field, [before, after]]) => (
            <span key={field}>
              {" "}
              <bdi className="old">{textOf(field, before)}</bdi> → <bdi className="new">{textOf(field, after)}</bdi>
            </span>
          ))}
        </li>
      ))}
      {count > shown.length ? <li>{sharedTexts.andMore(count - shown.length)}</li> : null}
    </ul>
  )
}

/** What is done to some contacts, or would be. */
const deedOf = (of: ContactPlan.Planned["of"], count: number, texts: typeof planTexts.deeds): string => {
  if (of._tag === "AddMany") return texts.add(count)
  if (of._tag === "Delete") return texts.delete(count)
  if (of.to.field !== "list") return texts.change(count)
  const name = shortened(of.to.name.trim())
  return of.to.isOn ? texts.putOn(count, name) : texts.takeOff(count, name)
}

/** Whether those are changed too who left: it is asked where somebody keeps a status, and planned again as it is answered. */
const Resubscribed = ({
  kept,
  of,
  onPlan
}: {
  readonly kept: number
  readonly of: ContactPlan.Planned["of"]
  readonly onPlan: (of: ContactPlan.Change) => void
}) => {
  if (of._tag !== "Change" || of.to.field !== "status") return null
  const { to } = of
  if (kept === 0 && !to.resubscribe) return null
  return (
    <label className="choice">
      <input
        type="checkbox"
        checked={to.resubscribe}
        onChange={({ currentTarget }) => onPlan({ ...of, to: { ...to, resubscribe: currentTarget.checked } })}
      />
      {planTexts.resubscribe}
    </label>
  )
}

export const Preview = ({
  onApply,
  onClose,
  onPlan,
  planned
}: {
  readonly planned: ContactPlan.Planned
  readonly onApply: () => void
  readonly onClose: () => void
  readonly onPlan: (of: ContactPlan.Change) => void
}) => {
  const { count, isSevere, of, plan } = planned
  const { alreadySo, statuses = {}, statusesKept: kept } = plan.summary

  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onApply()
  }
  return (
    <form className="stack" onSubmit={submit}>
      <p role="status">
        {[
          planTexts.withStatuses(
            count === 0 ? planTexts.wouldNothing : deedOf(of, count, planTexts.would),
            Object.entries(statuses).map(([status, contacts]) => [
              statusWords(status) || planTexts.withoutStatus,
              contacts
            ])
          ),
          ...(alreadySo === kept ? [] : [planTexts.alreadySo(alreadySo - kept)]),
          ...(kept === 0 ? [] : [planTexts.statusStays(kept)]),
          ...recipientWords(plan.summary)
        ].join(" ")}
      </p>
      <Resubscribed kept={kept} of={of} onPlan={onPlan} />
      {count === 0 ? null : (
        <>
          {of._tag === "Delete" ? <p>{planTexts.deleted}</p> : null}
          {of._tag !== "AddMany" && of.meant._tag === "ByRule" ? <Unplaced /> : null}
          <Sample count={count} of={of} plan={plan} />
        </>
      )}
      <div className="buttons">
        {count === 0 ? null : (
          <Confirmed count={isSevere ? count : undefined}>
            <button type="submit" className={of._tag === "Delete" ? "danger" : "primary"}>
              {deedOf(of, count, planTexts.deeds)}
            </button>
          </Confirmed>
        )}
        <button type="button" onClick={onClose}>
          {sharedTexts.close}
        </button>
      </div>
    </form>
  )
}
