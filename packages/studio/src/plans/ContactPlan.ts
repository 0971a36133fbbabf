/** What a person does to contacts: planned, so that it is seen first, and applied as a run that can be undone. */
import {
  type Plan,
  isMoreThanHalf,
  planDelete,
  planImport,
  planUpdate,
  RunOrigin,
  type RosterCommand,
  selectionWords,
  type UpdateOfMany
} from "@roster/workflows"
import { Data, Effect, Stream } from "effect"
import { people } from "../kit/Counts.ts"
import { contactsChanged } from "../session/Changes.ts"
import { runEnd } from "../session/RunEnd.ts"
import { runtime } from "../session/Session.ts"
import { updateCommand } from "../contacts/ContactEdit.ts"
import { meantOf, type NewContact, type NewValue, readMeant, type Wanted } from "../contacts/ContactSelection.ts"

const changesOf = (to: NewValue): UpdateOfMany =>
  to.field === "custom" ? { customFields: { [to.name.trim()]: to.value } } : { [to.field]: to.value }

const lifts = (to: NewValue): boolean => to.field === "status" && to.resubscribe

const givenNames = ({ firstName, lastName }: NewContact) => ({
  ...(firstName === "" ? {} : { firstName }),
  ...(lastName === "" ? {} : { lastName })
})

/** The command that does the same, if there is one. */
export const commandOf = (given: Wanted): RosterCommand | undefined => {
  if (given._tag === "Delete") return { program: "contacts delete", ...meantOf(given.meant) }
  if (given._tag === "Change") {
    return updateCommand(meantOf(given.meant), changesOf(given.to), lifts(given.to))
  }
  return { program: "contacts add", given: [given.contact.email.trim()], values: givenNames(given.contact) }
}

/** A plan, what it is of, and whether the number of contacts has to be typed before it is applied. */
export interface Planned {
  readonly of: Wanted
  readonly plan: Plan
  /** How many contacts it changes. */
  readonly count: number
  readonly isSevere: boolean
}

/** Maximum number of contacts that are deleted or changed without its being typed. */
const mostByClick = 1000

/** Plans what is wanted. */
export const planned = Effect.fnUntraced(function* (of: Wanted) {
  const plan = yield* planOf(of)
  const { changed, deleted = 0, new: added } = plan.summary
  const count = changed + deleted + added
  const isByRule = of._tag !== "Add" && of.meant._tag === "ByRule"
  const made: Planned = {
    of,
    plan,
    count,
    isSevere: count > mostByClick || (isByRule && (yield* isMoreThanHalf(count)))
  }
  return made
}, Effect.scoped)

const planOf = Effect.fnUntraced(function* (of: Wanted) {
  if (of._tag === "Add") {
    return yield* planImport(Stream.make({ email: of.contact.email.trim(), ...givenNames(of.contact) }), {
      only: "new"
    })
  }
  const contacts = Stream.fromIterable(yield* readMeant(of.meant))
  if (of._tag === "Delete") return yield* planDelete(contacts)
  const { to } = of
  return yield* planUpdate(contacts, changesOf(to), { resubscribe: lifts(to) })
})

/** Plans what is wanted. */
export const plan = runtime.fn(planned)

const commands = { Add: "add", Change: "update", Delete: "delete" } as const

/** Which contacts it is of, as the person who does it sees it: an address, a rule, or a number. */
export const titleOf = (of: Wanted): string => {
  if (of._tag === "Add") return of.contact.email.trim()
  if (of.meant._tag === "ByRule") return of.meant.rule
  const [first = "", ...others] = of.meant.emails
  return others.length === 0 ? first : people(others.length + 1)
}

/** What its run is of. Who was added is in what the run recorded. */
const originOf = (of: Wanted) =>
  of._tag === "Add" ? {} : { about: selectionWords(of.meant._tag === "ByRule" ? of.meant.rule : of.meant.emails.size) }

/** Nothing would be done. */
export class NothingToDo extends Data.TaggedError("NothingToDo")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** Applies a plan to the contacts that still are as it saw them; what is added is planned at once. */
export const apply = runtime.fn(
  Effect.fnUntraced(function* (given: Planned | Extract<Wanted, { readonly _tag: "Add" }>) {
    const { of, plan } = "plan" in given ? given : yield* planned(given)
    const { leftOut = 0, rejectedRows } = plan.summary
    if (of._tag === "Add" && leftOut > 0) {
      return yield* new NothingToDo({ reason: `A contact ${titleOf(of)} is stored already. Open it to change it.` })
    }
    if (of._tag === "Add" && rejectedRows.length > 0) {
      return yield* new NothingToDo({ reason: rejectedRows.map(({ reason }) => reason).join("\n") })
    }
    const applying = Effect.map(plan.applyWith({ command: commands[of._tag] }), ({ report }) => report)
    return yield* runEnd(Effect.provideService(applying, RunOrigin, originOf(of)))
  }),
  { reactivityKeys: contactsChanged }
)
