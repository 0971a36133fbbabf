/**
 * Changes that are recorded, so that they can be undone: what a write changes is in the log before it is sent. A service that
 * compares and changes in one step writes only to contacts as they were recorded; over any other one the record has what was
 * read before. (docs/decisions/runs.md)
 */
import {
  type AddOptions,
  canonicalEmail,
  type ChangeAnswer,
  type Contact,
  type ContactChange,
  type ContactContent,
  type ContactsService,
  type ContactState,
  type ContactWrite,
  type EmailAddress,
  ServiceError,
  sometimes,
  StoreFailure
} from "@roster/domain"
import { changeOf, contentAfter, contentOf, listsAfter, statusDateIn, withoutOwnKey } from "@roster/domain/internal"
import { Clock, Effect, identity, Stream, Struct } from "effect"
import { type AppendedEntry, type Changed, type Changes, maximumUnderWay } from "./RunEntry.ts"
import type { Run, RunLogFailure } from "./RecordedRun.ts"
import { type Found, nobody, stateOfFound } from "./ContactReader.ts"

type Service = ContactsService["Service"]

/** Takes the writes of a run, and their entries. */
export interface Recorder extends Pick<Run, "append" | "takesEntries" | "write">, Partial<Pick<Run, "header">> {}

/** Takes the writes of what is not recorded. */
export const unrecorded: Recorder = { append: () => Effect.void, takesEntries: false, write: identity }

/** A contact before and after the writes of a call. */
interface Transition {
  readonly email: string
  readonly before: ContactState | undefined
  readonly after: ContactState | undefined
}

/** The entry of writes; `undefined` if they change nothing. */
const entryOf = (transitions: Iterable<Transition>): Changes | undefined => {
  const created: Array<readonly [string, string]> = []
  const parts: Array<string> = []
  const changed: Array<Changed> = []
  const deleted: Array<ContactState> = []
  for (const { after, before, email } of transitions) {
    const change = changeOf(email, before, after)
    if (change?.after == null) {
      if (change !== undefined && before !== undefined) deleted.push(before)
    } else if (change.effect === "Created") {
      created.push([email, change.after])
      parts.push(change.parts ?? "")
    } else changed.push({ email, fields: change.fields, after: change.after })
  }
  if (created.length + changed.length + deleted.length === 0) return undefined
  return {
    _tag: "Changes",
    ...(created.length === 0 ? {} : { created, parts }),
    ...(changed.length === 0 ? {} : { changed }),
    ...(deleted.length === 0 ? {} : { deleted })
  }
}

/** The addresses of an entry. */
const addressesIn = (entry: Changes | undefined): ReadonlyArray<string> => [
  ...(entry?.created ?? []).map(([email]) => email),
  ...(entry?.changed ?? []).map(({ email }) => email),
  ...(entry?.deleted ?? []).map(({ Email }) => String(Email))
]

const operation = "contactsChangesPost"

/** Appends an entry. Without it the change that it records is not made. */
const appended = (run: Recorder, entry: AppendedEntry, isDurable = true): Effect.Effect<void, ServiceError> =>
  Effect.mapError(
    Effect.flatMap(Clock.currentTimeMillis, (at) =>
      run.append(entry._tag === "Changes" ? { ...entry, at } : entry, { isDurable })
    ),
    ({ detail }) => new ServiceError({ operation, reason: new StoreFailure({ detail: `the log of runs: ${detail}` }) })
  )

/** Records that the run changes contacts that nobody can name. */
export const recordUnknown = (run: Recorder, what: string) =>
  run.takesEntries ? appended(run, { _tag: "Unknown", what }) : Effect.void

/** Takes back recorded changes that were not made. */
const notMade = (run: Recorder, emails: ReadonlyArray<string>) =>
  emails.length === 0 ? Effect.void : appended(run, { _tag: "NotMade", emails })

/** Takes recorded changes back if the call that makes them is refused as a whole. */
const takenBack = <A, E, R>(
  run: Recorder,
  emails: ReadonlyArray<string>,
  making: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.tapError(making, (error) =>
    error instanceof ServiceError && error.mayHaveHappened ? Effect.void : Effect.ignore(notMade(run, emails))
  )

/** Changes of contacts as they were found. */
interface Making {
  readonly changes: ReadonlyArray<ContactChange>
  readonly found: ReadonlyArray<Found>
}

/** Records changes and makes them by one call, at a service that compares nothing. */
export const madeBy = Effect.fnUntraced(function* <A, E, R>(
  run: Recorder,
  { changes, found }: Making,
  call: Effect.Effect<A, E, R>
) {
  if (!run.takesEntries) return yield* run.write(call)
  const entry = entryFor(changes, found)
  if (entry !== undefined) yield* appended(run, entry)
  return yield* takenBack(run, addressesIn(entry), call)
})

/** Records changes, makes them, and takes back of the record what was not made. More than one call takes goes in halves. */
export const made = (service: Service, run: Recorder, { changes, found }: Making): ReturnType<typeof madeAtOnce> =>
  changes.length === 0
    ? Effect.succeed([])
    : Effect.catchTag(madeAtOnce(service, run, { changes, found }), "InvalidInput", (error) => {
        if (error.field !== "body" || changes.length === 1) return Effect.fail(error)
        const middle = Math.ceil(changes.length / 2)
        const part = (from: number, to?: number) =>
          made(service, run, { changes: changes.slice(from, to), found: found.slice(from, to) })
        return Effect.zipWith(part(0, middle), part(middle), (left, right) => [...left, ...right])
      })

/**
 * The times of the statuses that changes gave, where the service tells them, and of those that went with deleted contacts that
 * got no mail.
 */
export const datesGiven = ({ changes, found }: Making, answers: ReadonlyArray<ChangeAnswer>) =>
  changes.flatMap((change, place) => {
    const answer = answers[place]
    const date = answer && statusDateIn(change, found[place]?.contact ?? null, answer)
    return date === undefined ? [] : [{ email: canonicalEmail(change.email), ...date }]
  })

const madeAtOnce = Effect.fnUntraced(function* (service: Service, run: Recorder, { changes, found }: Making) {
  if (!run.takesEntries) {
    return yield* run.write(withoutOwnKey(service.change(changes)), (answers) =>
      answers.some(({ _tag }) => _tag !== "Outdated")
    )
  }
  const entry = entryFor(changes, found)
  const recorded = addressesIn(entry)
  if (entry !== undefined) yield* appended(run, entry)
  yield* sometimes("a change is recorded and not yet made")
  const answers = yield* takenBack(run, recorded, withoutOwnKey(service.change(changes)))
  yield* sometimes("a recorded change is made")
  // Only an undo adds contacts whose status others gave.
  const isUndo = run.header?.undoes !== undefined
  const dates = datesGiven({ changes, found }, answers).filter(({ before }) => isUndo || before !== null)
  // Without it an undo cannot tell who gave the status, and leaves it.
  if (dates.length > 0) yield* appended(run, { _tag: "StatusesGiven", dates }, false)
  const outdated = new Set(
    changes.flatMap(({ email }, place) => (answers[place]?._tag === "Outdated" ? [canonicalEmail(email)] : []))
  )
  yield* notMade(
    run,
    recorded.filter((email) => outdated.has(canonicalEmail(email)))
  )
  return answers
})

/** What earlier processes of a run recorded. */
export interface EarlierChanges {
  /** Whether they recorded a change of a contact that was not taken back. */
  readonly has: (email: string) => boolean
  /**
   * Takes back what they recorded of contacts that are changed again: it was not made, or others changed them since. Only the
   * last writes of a process may have no answer.
   */
  readonly takeBack: (changes: ReadonlyArray<Pick<ContactChange, "email">>) => Effect.Effect<void, ServiceError>
}

/** Reads what earlier processes of a run recorded. */
export const readEarlier = Effect.fnUntraced(function* (
  run: Run
): Effect.fn.Return<EarlierChanges, RunLogFailure | ServiceError> {
  if (!run.takesEntries) return nothingEarlier
  const last: Array<ReadonlyArray<string>> = []
  const all = new Set<string>()
  yield* Stream.runForEach(run.earlier, (entry) =>
    Effect.sync(() => {
      if (entry._tag === "NotMade") for (const email of entry.emails) all.delete(canonicalEmail(email))
      if (entry._tag !== "Changes") return
      const emails = addressesIn(entry)
      for (const email of emails) all.add(canonicalEmail(email))
      last.push(emails)
      if (last.length > maximumUnderWay) last.shift()
    })
  )
  const open = new Map(
    last.flatMap((emails) =>
      emails.flatMap((email) => {
        const key = canonicalEmail(email)
        return all.has(key) ? [[key, email] as const] : []
      })
    )
  )
  return {
    has: (email) => all.has(canonicalEmail(email)),
    takeBack: (changes) =>
      notMade(
        run,
        open.size === 0
          ? []
          : changes.flatMap((change) => {
              const key = canonicalEmail(change.email)
              const email = open.get(key)
              open.delete(key)
              return email === undefined ? [] : [email]
            })
      )
  }
})

/** Nothing was recorded earlier. */
export const nothingEarlier: EarlierChanges = { has: () => false, takeBack: () => Effect.void }

/** What to do with a contact. */
export type Write = Omit<ContactChange, "seen">

/** How often a write to a contact that others change at the same time is tried. */
export const attempts = 4

const contactOf = (email: string, content: ContactContent): Contact =>
  // `contentOf` leaves out what has no value.
  ({ ...contentOf(content), email }) as Contact

/** The date of adding, which no write changes. */
const addedOf = (contact: Contact | null): Pick<Contact, "dateAdded"> =>
  contact?.dateAdded === undefined ? {} : { dateAdded: contact.dateAdded }

/** What a write makes of what was found. */
export const madeOf = ({ contact, lists }: Found, { email, write }: Write): Found =>
  write === undefined
    ? { contact: null, lists: lists && [] }
    : {
        // It has the address that was written, unless it had one.
        contact: { ...contactOf(contact?.email ?? email, contentAfter(contact, write)), ...addedOf(contact) },
        lists: lists && listsAfter(lists, write).toSorted()
      }

/** What is recorded of changes, those to one address one after the other. */
const entryFor = (changes: ReadonlyArray<Write>, found: ReadonlyArray<Found | undefined>): Changes | undefined => {
  const states = new Map<string, { readonly first: Found; readonly last: Found }>()
  for (const [index, change] of changes.entries()) {
    const key = canonicalEmail(change.email)
    const known = states.get(key)
    const before = known?.last ?? found[index] ?? nobody
    states.set(key, { first: known?.first ?? before, last: madeOf(before, change) })
  }
  return entryOf(
    Array.from(states, ([email, { first, last }]): Transition => ({
      email: last.contact?.email ?? first.contact?.email ?? email,
      before: stateOfFound(email, first),
      after: stateOfFound(email, last)
    }))
  )
}

/** The write of a contact, which is put on lists and taken off others. */
export const writeOfContact = (
  { email, ...given }: { readonly email: string } & ContactWrite,
  {
    listNames = [],
    removeFromLists = [],
    resubscribe = false
  }: Pick<AddOptions, "listNames" | "resubscribe"> & Pick<ContactWrite, "removeFromLists">
): Write => {
  return {
    // The service checks it.
    email: email as EmailAddress,
    write: {
      ...Struct.pick(given, ["status", "firstName", "lastName", "customFields", "consent"]),
      ...(listNames.length === 0 ? {} : { addToLists: listNames }),
      ...(removeFromLists.length === 0 ? {} : { removeFromLists }),
      resubscribe
    }
  }
}
