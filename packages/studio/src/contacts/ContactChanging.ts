/** Sets one field of many contacts, after their number and the first of them were seen, as a run that can be undone. */
import type { ContactUpdatePayload } from "@roster/domain"
import { type ImportPlan, isMoreThanHalf, planUpdate } from "@roster/workflows"
import { Effect, Stream } from "effect"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"
import { type Meant, mostByClick, readMeant } from "./ContactSelection.ts"

/** A field that many contacts get the same value of. */
export type SetField =
  | { readonly _tag: "FirstName" }
  | { readonly _tag: "LastName" }
  | { readonly _tag: "Custom"; readonly name: string }

/** What is to change; an empty value removes the field. */
export interface Wanted {
  readonly meant: Meant
  readonly field: SetField
  readonly value: string
}

/** The change of each contact. */
export const changesOfField = ({ field, value }: Pick<Wanted, "field" | "value">): ContactUpdatePayload =>
  field._tag === "FirstName"
    ? { firstName: value }
    : field._tag === "LastName"
      ? { lastName: value }
      : { customFields: { [field.name]: value } }

/** A change that was planned, and whether the number of contacts has to be typed. */
export interface PlannedChange {
  readonly plan: ImportPlan
  readonly isSevere: boolean
}

/** Plans a change of the contacts that are meant. */
export const planChange = runtime.fn(
  Effect.fnUntraced(function* ({ meant, ...wanted }: Wanted) {
    const plan = yield* planUpdate(Stream.fromIterable(yield* readMeant(meant)), changesOfField(wanted))
    const { changed } = plan.summary
    const planned: PlannedChange = {
      plan,
      isSevere: changed > mostByClick || (meant._tag === "ByRule" && (yield* isMoreThanHalf(changed)))
    }
    return planned
  })
)

/** Carries a planned change out, on the contacts that still are as it saw them. */
export const applyChange = runtime.fn(
  (plan: ImportPlan) => Effect.map(plan.applyWith({ command: "update" }), ({ report }) => report),
  { reactivityKeys: contactsChanged }
)
