/**
 * What a person does to contacts: planned, so that it is seen first, and applied as a run that can be undone. It goes on while one
 * looks at other views, and its result stays until another one is there.
 */
import {
  deleteListAsRun,
  emptyReport,
  type Plan,
  isMoreThanHalf,
  planDelete,
  planImport,
  planUpdate,
  type PlanStorage,
  RunOrigin,
  type RosterCommand,
  selectionWords,
  type UpdateOfMany
} from "@roster/workflows"
import { Data, Effect, Stream } from "effect"
import { AsyncResult, Atom } from "effect/reactivity"
import { choice, noChoice } from "../contacts/ContactAtoms.ts"
import { placeProgram, placeWrite, updateCommand } from "../contacts/ContactEdit.ts"
import {
  listQuestion,
  addressFileName,
  meantOf,
  type NewContact,
  type NewValue,
  readMeant,
  ruleBut,
  type Wanted,
  wanted
} from "../contacts/ContactSelection.ts"
import { blobOf, bytesOf } from "../kit/Blobs.ts"

import { askWhile } from "../session/Unsaved.tsx"
import { contactsChanged } from "../session/Changes.ts"
import { type Ended, runEnd } from "../session/RunEnd.ts"
import { runtime } from "../session/Session.ts"
import { counted } from "../texts/Language.ts"
import { planTexts } from "../texts/PlanTexts.ts"
import { nouns, people, sharedTexts } from "../texts/SharedTexts.ts"

export type Add = Extract<Wanted, { readonly _tag: "Add" }>
export type AddMany = Extract<Wanted, { readonly _tag: "AddMany" }>
export type Change = Extract<Wanted, { readonly _tag: "Change" }>
export type Remove = Extract<Wanted, { readonly _tag: "Delete" }>
export type DeleteList = Extract<Wanted, { readonly _tag: "DeleteList" }>

const changesOf = (to: NewValue): UpdateOfMany =>
  to.field === "list"
    ? placeWrite(to)
    : to.field === "custom"
      ? { customFields: { [to.name.trim()]: to.value } }
      : { [to.field]: to.value }

const lifts = (to: NewValue): boolean => to.field === "status" && to.resubscribe

const givenNames = ({ firstName, lastName }: NewContact) => ({
  ...(firstName === "" ? {} : { firstName }),
  ...(lastName === "" ? {} : { lastName })
})

/** The command that does the same; `lists` are those that there are. */
export const commandOf = (of: Wanted, lists: ReadonlyArray<string> = []): RosterCommand => {
  if (of._tag === "DeleteList") return { program: "lists delete", given: [of.name] }
  if (of._tag === "Add") {
    return { program: "contacts add", given: [of.contact.email.trim()], values: givenNames(of.contact) }
  }
  if (of._tag === "AddMany") return { program: "contacts import", given: [addressFileName], values: { only: "new" } }
  const { given, values } = meantOf(of.meant)
  if (of._tag === "Delete") return { program: "contacts delete", given, values }
  const { to } = of
  if (to.field !== "list") return updateCommand({ given, values }, changesOf(to), lifts(to))
  const isNew = listQuestion(to, to.isOn, lists)._tag === "New"
  return {
    program: placeProgram(to.isOn),
    given: [to.name.trim(), ...given],
    values: { ...values, createList: isNew && lists.length > 0, newField: isNew && to.isMeant }
  }
}

/** What is planned before it is done. */
export type Planable = Change | Remove | AddMany

/** A plan, what it is of, and whether the number of contacts has to be typed before it is applied. */
export interface Planned {
  readonly of: Planable
  readonly plan: Plan<PlanLost>
  /** How many contacts it changes. */
  readonly count: number
  readonly isSevere: boolean
}

/** Maximum number of contacts that are deleted or changed without its being typed. */
export const mostByClick = 1000

/** The browser has lost what it kept of a plan. */
export class PlanLost extends Data.TaggedError("PlanLost") {
  override get message(): string {
    return planTexts.lost
  }
}

/** Keeps a plan where the browser likes, on disk as well, so that it may have any size. */
const planStorageBlob = (): PlanStorage<PlanLost> => {
  let kept = new Blob()
  return {
    write: (content) =>
      Effect.map(blobOf(content, "application/json"), (made) => {
        kept = made
      }),
    content: Stream.suspend(() => bytesOf(kept, () => new PlanLost()))
  }
}

interface Planning {
  readonly storage: PlanStorage<PlanLost>
  readonly onProgress: (read: number) => Effect.Effect<void>
}

const planOf = (of: Planable, options: Planning) => {
  if (of._tag === "AddMany") {
    return planImport(Stream.fromIterable(of.emails.map((email) => ({ email }))), { ...options, only: "new" })
  }
  const contacts = readMeant(of.meant)
  return of._tag === "Delete"
    ? planDelete(contacts, options)
    : planUpdate(contacts, changesOf(of.to), { ...options, resubscribe: lifts(of.to) })
}

/** Plans what is wanted, and tells now and then how many contacts were read. */
export const planned = Effect.fnUntraced(function* (
  of: Planable,
  onProgress: (read: number) => Effect.Effect<void> = () => Effect.void
) {
  const plan = yield* planOf(of, { storage: planStorageBlob(), onProgress })
  const { changed, deleted = 0, new: added } = plan.summary
  const count = changed + deleted + added
  const isByRule = of._tag !== "AddMany" && of.meant._tag === "ByRule"
  const made: Planned = {
    of,
    plan,
    count,
    isSevere: count > mostByClick || (isByRule && (yield* isMoreThanHalf(count)))
  }
  return made
})

/** How many contacts a plan has read, or its application has written. */
export const progress = Atom.keepAlive(Atom.make(0))

/** Plans what is wanted. */
export const plan = runtime.fn((of: Planable, get) => {
  get.set(progress, 0)
  return planned(of, (read) => Effect.sync(() => get.set(progress, read)))
})

const commands = { AddMany: "import", Change: "update", Delete: "delete" } as const

const commandNameOf = (of: Planable): string =>
  of._tag === "Change" && of.to.field === "list" ? placeProgram(of.to.isOn) : commands[of._tag]

const everybody = ruleBut("", new Set())

/** Which contacts it is of, as the person who does it sees it: an address, a rule, or a number. */
export const titleOf = (of: Wanted): string => {
  if (of._tag === "Add") return of.contact.email.trim()
  if (of._tag === "DeleteList") return of.name
  if (of._tag === "AddMany") return counted(of.emails.length, nouns.address)
  if (of.meant._tag === "ByRule") return of.meant.rule === everybody ? sharedTexts.allContacts : of.meant.rule
  const [first = "", ...others] = of.meant.emails
  return others.length === 0 ? first : people(others.length + 1)
}

/** What its run is of. Who was added is in what the run recorded. */
const originOf = (of: Planable) => {
  if (of._tag === "AddMany") return {}
  const words = selectionWords(of.meant._tag === "ByRule" ? of.meant.rule : of.meant.emails.size)
  return { about: of._tag === "Change" && of.to.field === "list" ? `${of.to.name.trim()}: ${words}` : words }
}

/** Nothing would be done. */
export class NothingToDo extends Data.TaggedError("NothingToDo")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** What was done, as its run ended. */
export interface Applied extends Ended {
  readonly of: Wanted
}

/** What was done last, until a person puts it away. */
export const result = Atom.keepAlive(Atom.make<Applied | undefined>(undefined))

/** What is applied, or was last: it can be gone on with where it stopped, since a plan that is applied again writes nothing twice. */
export const applied = Atom.keepAlive(Atom.make<Planned | DeleteList | undefined>(undefined))

/** Whether some of what was applied last is not done, or nobody knows. */
export const isLeft = Atom.readable((get): boolean => {
  const made = get(apply)
  if (made.waiting || AsyncResult.isInitial(made)) return false
  return (
    AsyncResult.isFailure(made) || made.value.stoppedBy !== undefined || made.value.notSent + made.value.unknown > 0
  )
})

/** Adds a contact that is not there yet. */
export const add = runtime.fn(
  Effect.fnUntraced(function* (of: Add, get: Atom.FnContext) {
    const plan = yield* planImport(Stream.make({ email: of.contact.email.trim(), ...givenNames(of.contact) }), {
      only: "new"
    })
    const { leftOut = 0, rejectedRows } = plan.summary
    if (leftOut > 0) {
      return yield* new NothingToDo({ reason: planTexts.isStored(titleOf(of)) })
    }
    if (rejectedRows.length > 0) {
      return yield* new NothingToDo({ reason: rejectedRows.map(({ reason }) => reason).join("\n") })
    }
    const applied: Applied = { of, ...(yield* runEnd(reportOf(plan.applyWith({ command: "add" })))) }
    get.set(result, applied)
    return applied
  }, Effect.scoped),
  { reactivityKeys: contactsChanged }
)

const reportOf = <A, E, R>(applying: Effect.Effect<{ readonly report: A }, E, R>) =>
  Effect.map(applying, ({ report }) => report)

/** Whether an application was stopped, and waits for the answers to what it sent. */
export const isStopped = Atom.keepAlive(Atom.make(false))

const deleteList = Effect.fnUntraced(function* ({ contacts: told = 0, name }: DeleteList) {
  const { contacts = told, run } = yield* Effect.provideService(deleteListAsRun(name), RunOrigin, { about: name })
  const counts = { read: contacts, done: contacts, changed: contacts }
  return { ...emptyReport, ...counts, stoppedBy: undefined, ...(contacts === 0 ? {} : { run }) }
})

/** Applies a plan to the contacts that still are as it saw them, or deletes a list. */
export const apply = Atom.keepAlive(
  runtime.fn(
    Effect.fnUntraced(function* (given: Planned | DeleteList, get: Atom.FnContext) {
      get.set(isStopped, false)
      get.set(progress, 0)
      get.set(result, undefined)
      get.set(applied, given)
      const of = "plan" in given ? given.of : given
      const ended = yield* "plan" in given
        ? reportOf(
            given.plan.applyWith({
              command: commandNameOf(given.of),
              onProgress: (rows) => Effect.sync(() => get.set(progress, rows)),
              proceed: Effect.sync(() => !get.registry.get(isStopped))
            })
          ).pipe(runEnd, Effect.provideService(RunOrigin, originOf(given.of)))
        : deleteList(given)
      const made: Applied = { ...ended, of }
      // All that a rule selects may be others by now.
      if (of._tag === "Delete" || (of._tag === "Change" && of.meant._tag === "ByRule")) get.set(choice, noChoice)
      get.set(result, made)
      return made
    }, Effect.scoped),
    { reactivityKeys: contactsChanged }
  )
)

askWhile(
  (registry) =>
    registry.get(apply).waiting ||
    // A plan that is made, or being made, which a person has not answered.
    (registry.get(wanted) !== undefined && !AsyncResult.isInitial(registry.get(plan)))
)
