/**
 * Writes that are recorded, so that they can be undone: what a write changes is in the log before it is sent. A service that
 * compares and changes in one step writes only to contacts as they were recorded; over any other one the record has what was
 * read before. (docs/decisions/runs.md)
 */
import {
  canonicalEmail,
  type Contact,
  type ContactChange,
  ContactFilter,
  ContactNotFound,
  contentAfter,
  type ContactContent,
  contentOf,
  type ContactPayload,
  ContactsService,
  ContactUpdatePayload,
  type ContactWrite,
  type EmailAddress,
  type InvalidInput,
  keptStatuses,
  listsAfter,
  type KeptStatus,
  maximumChanges,
  sameContent,
  ServiceError,
  sometimes,
  StoreFailure,
  type TooManyContacts,
  Unavailable,
  validated
} from "@roster/domain"
import { FastContacts } from "@roster/domain/FastContacts"
import { Array as Arrays, Clock, Deferred, Effect, Struct } from "effect"
import { changesOf, type ContactState, digestOf } from "./ContactState.ts"
import { type AppendedEntry, type Changed, type Changes, effectsOf, type RowRange } from "./RunEntry.ts"
import type { Run } from "./RunLog.ts"
import type { RunEffect } from "./RunReport.ts"
import {
  type ContactReader,
  type Found,
  foundIn,
  makeContactReader,
  mayNotRead,
  nobody,
  readNow,
  type ReaderOptions,
  type Reading,
  stateOfFound
} from "./ContactReader.ts"

type Service = ContactsService["Service"]

/** What takes the entries of a run. */
type Recorder = Pick<Run, "append">

/** Takes the entries of what is not recorded. */
export const unrecorded: Recorder = { append: () => Effect.void }

/** A contact before and after the writes of a call. */
interface Transition {
  readonly email: string
  readonly before: ContactState | undefined
  readonly after: ContactState | undefined
}

/** The entry of writes; `undefined` if they change nothing. */
const entryOf = (transitions: Iterable<Transition>, rows: RowRange | undefined): Changes | undefined => {
  const created: Array<readonly [string, string]> = []
  const changed: Array<Changed> = []
  const deleted: Array<ContactState> = []
  for (const { after, before, email } of transitions) {
    if (before === undefined) {
      if (after !== undefined) created.push([email, digestOf(after)])
    } else if (after === undefined) {
      deleted.push(before)
    } else {
      const fields = changesOf(before, after)
      if (Object.keys(fields).length > 0) changed.push({ email, fields, after: digestOf(after) })
    }
  }
  if (created.length + changed.length + deleted.length === 0) return undefined
  return {
    _tag: "Changes",
    ...(rows === undefined ? {} : { rows }),
    ...(created.length === 0 ? {} : { created }),
    ...(changed.length === 0 ? {} : { changed }),
    ...(deleted.length === 0 ? {} : { deleted })
  }
}

/** The addresses of an entry. */
export const addressesIn = (entry: Changes | undefined): ReadonlyArray<string> => [
  ...(entry?.created ?? []).map(([email]) => email),
  ...(entry?.changed ?? []).map(({ email }) => email),
  ...(entry?.deleted ?? []).map(({ Email }) => String(Email))
]

const operation = "contactsChangesPost"

/** A failure to record is one of the operation whose changes are recorded: that is not carried out. */
const appended = (run: Recorder, entry: AppendedEntry): Effect.Effect<void, ServiceError> =>
  Effect.mapError(
    Effect.flatMap(Clock.currentTimeMillis, (at) => run.append(entry._tag === "Changes" ? { ...entry, at } : entry)),
    ({ detail }) => new ServiceError({ operation, reason: new StoreFailure({ detail: `the log of runs: ${detail}` }) })
  )

/** Takes back recorded changes that were not made. */
const notMade = (run: Recorder, emails: ReadonlyArray<string>) =>
  emails.length === 0 ? Effect.void : appended(run, { _tag: "NotMade", emails })

/** Takes recorded changes back if what makes them is refused as a whole. */
const takenBack = <A, E, R>(
  run: Recorder,
  emails: ReadonlyArray<string>,
  making: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.tapError(making, (error) =>
    error instanceof ServiceError && error.mayHaveHappened ? Effect.void : Effect.ignore(notMade(run, emails))
  )

/** Changes of contacts as they were found, and what is recorded of them (default: what follows from them). */
interface Making {
  readonly changes: ReadonlyArray<ContactChange>
  readonly found: ReadonlyArray<Found>
  readonly rows?: RowRange | undefined
  readonly entry?: Changes | undefined
}

/** Records changes, makes them, and takes back of the record what was not made. More than one call takes goes in halves. */
export const made = (
  service: Service,
  run: Recorder,
  { changes, found, rows, entry = follow(changes, found, rows).entry }: Making
): ReturnType<Service["change"]> =>
  changes.length === 0
    ? Effect.succeed([])
    : Effect.catchTag(madeAtOnce(service, run, changes, entry), "InvalidInput", (error) => {
        if (error.field !== "body" || changes.length === 1) return Effect.fail(error)
        const middle = Math.ceil(changes.length / 2)
        const part = (from: number, to?: number) =>
          made(service, run, { changes: changes.slice(from, to), found: found.slice(from, to), rows })
        return Effect.zipWith(part(0, middle), part(middle), (left, right) => [...left, ...right])
      })

const madeAtOnce = Effect.fnUntraced(function* (
  service: Service,
  run: Recorder,
  changes: ReadonlyArray<ContactChange>,
  entry: Changes | undefined
) {
  const recorded = addressesIn(entry)
  if (entry !== undefined) yield* appended(run, entry)
  yield* sometimes("a change is recorded and not yet made")
  const answers = yield* takenBack(run, recorded, service.change(changes))
  yield* sometimes("a recorded change is made")
  const outdated = new Set(
    changes.flatMap(({ email }, place) => (answers[place]?._tag === "Outdated" ? [canonicalEmail(email)] : []))
  )
  yield* notMade(
    run,
    recorded.filter((email) => outdated.has(canonicalEmail(email)))
  )
  return answers
})

/** What to do with a contact. */
export type Write = Omit<ContactChange, "seen">

/** Gives the write for what is stored, or `undefined` to leave it out. */
export type FitWrite = (write: Write, found: Found) => Write | undefined

/** How often a write to a contact that others change at the same time is tried. */
export const attempts = 4

/** The outcome of one write. */
export interface WriteResult {
  readonly before: Found
  /** The contact after it, with its lists where they are known. */
  readonly after: Found
  /** What it did, for the run: a write that an earlier process may have made did what that recorded. */
  readonly effect: RunEffect
  /** Whether it was not made, since others changed the contact again and again. */
  readonly isOutdated: boolean
  /** Whether it was not made, since it is not for what is stored. */
  readonly isLeftOut: boolean
}

/** A recorded change of an earlier process that may not have been made. */
export interface UnansweredChange {
  /** The address as it was recorded. */
  readonly email: string
  readonly effect: RunEffect
}

/** Such changes, by the address as addresses are compared. */
export type Unanswered = ReadonlyMap<string, UnansweredChange>

/** The changes of an entry as long as nobody knows whether they were made. */
export const unansweredIn = (entry: Changes): Unanswered => {
  const effects = effectsOf(entry)
  return new Map(
    addressesIn(entry).map((email) => {
      const key = canonicalEmail(email)
      return [key, { email, effect: effects.get(key) ?? "alreadySo" }]
    })
  )
}

const contactOf = (email: string, content: ContactContent): Contact =>
  // `contentOf` leaves out what has no value.
  ({ ...contentOf(content), email }) as Contact

/** What a write makes of what was found. */
export const madeOf = ({ contact, lists }: Found, { email, write }: Write): Found =>
  write === undefined
    ? { contact: null, lists: lists && [] }
    : {
        // It has the address that was written, unless it had one.
        contact: contactOf(contact?.email ?? email, contentAfter(contact, write)),
        lists: lists && listsAfter(lists, write).toSorted()
      }

/** What writes make of what was found, those to one address one after the other, and what is recorded of them. */
export const follow = (writes: ReadonlyArray<Write>, found: ReadonlyArray<Found | undefined>, rows?: RowRange) => {
  const states = new Map<string, { readonly first: Found; readonly last: Found }>()
  const steps = writes.map((write, index) => {
    const key = canonicalEmail(write.email)
    const known = states.get(key)
    const before = known?.last ?? found[index] ?? nobody
    const after = madeOf(before, write)
    states.set(key, { first: known?.first ?? before, last: after })
    return { write, before, after }
  })
  const transitions = Array.from(states, ([email, { first, last }]): Transition => ({
    email: last.contact?.email ?? first.contact?.email ?? email,
    before: stateOfFound(email, first),
    after: stateOfFound(email, last)
  }))
  return { steps, entry: entryOf(transitions, rows) }
}

/** How writes are recorded. */
export interface Recording {
  readonly run: Recorder
  readonly reader: ContactReader
  /** What an earlier process recorded and may not have made. */
  readonly unanswered?: Unanswered | undefined
  /** Fits each write to what is stored (default: all are for everything). */
  readonly fit?: FitWrite | undefined
}

/**
 * The answer to recorded writes: one for each, or that of a plain call where the service compares nothing, with what each
 * write did to what was read before, if the key may read.
 */
export type Written<A> =
  | { readonly _tag: "Compared"; readonly results: ReadonlyArray<WriteResult> }
  | {
      readonly _tag: "Plain"
      readonly answer: A
      readonly effects: ReadonlyArray<RunEffect> | undefined
      /** The places of the writes that were made; the others are left out. */
      readonly places: ReadonlyArray<number>
    }

/** Where nothing is compared: carries out the writes at these places. */
type Plain<A, E> = (places: ReadonlyArray<number>, writes: ReadonlyArray<Write>) => Effect.Effect<A, E>

/** Makes the function that records what writes change, and carries them out: `plain` does so where nothing is compared. */
export const recordedWrites = (service: Service, { fit, reader, run, unanswered }: Recording) => {
  const open = new Map(unanswered)
  const unknown = new Set<string>()
  /** Records once that the run makes changes that cannot be known. */
  const recordUnknown = (what: string) =>
    Effect.suspend(() => {
      if (unknown.has(what)) return Effect.void
      unknown.add(what)
      return appended(run, { _tag: "Unknown", what })
    })

  /** Takes back what is to be changed again: it was not made then. */
  const takeBack = (entry: Changes | undefined) =>
    notMade(
      run,
      addressesIn(entry).flatMap((email) => {
        const key = canonicalEmail(email)
        const recorded = open.get(key)
        open.delete(key)
        return recorded === undefined ? [] : [recorded.email]
      })
    )

  /** What each write does by its entry, or did in an earlier process. */
  const effectsIn = (entry: Changes | undefined, writes: ReadonlyArray<Write>): ReadonlyArray<RunEffect> => {
    const effects = effectsOf(entry)
    return writes.map(({ email }) => {
      const key = canonicalEmail(email)
      return effects.get(key) ?? open.get(key)?.effect ?? "alreadySo"
    })
  }

  /** Whether a contact is as an earlier process made it, whose answer was lost: it is no other one that is left out. */
  const isMadeEarlier = (write: Write, { contact }: Found): boolean => {
    const first = fit === undefined ? undefined : fit(write, nobody)
    return (
      first !== undefined &&
      open.get(canonicalEmail(write.email))?.effect === "new" &&
      sameContent(contact, madeOf(nobody, first).contact)
    )
  }

  let last = Effect.void
  /** The turn of a write, after those that began before: new contacts stand in the order of their rows. */
  const makeTurn = () => {
    const ended = Deferred.makeUnsafe<void>()
    const wait = last
    last = Deferred.await(ended)
    return { wait, end: Deferred.succeed(ended, undefined) }
  }

  const compared = Effect.fnUntraced(function* (
    writes: ReadonlyArray<Write>,
    found: ReadonlyArray<Found>,
    rows: RowRange | undefined,
    tries: number
  ) {
    const results: Array<WriteResult> = []
    let next = writes.map((write, index) => ({ write, index, now: found[index] }))
    for (let attempt = 1; next.length > 0; attempt++) {
      const due = next.flatMap(({ index, now = nobody, write }) => {
        const fitted = fit === undefined ? write : fit(write, now)
        if (fitted !== undefined) return [{ given: write, write: fitted, index, now }]
        const isOurs = isMadeEarlier(write, now)
        results[index] = {
          before: now,
          after: now,
          effect: isOurs ? "new" : "alreadySo",
          isOutdated: false,
          isLeftOut: !isOurs
        }
        return []
      })
      const { entry, steps } = follow(
        due.map(({ write }) => write),
        due.map(({ now }) => now),
        rows
      )
      yield* takeBack(entry)
      const effects = effectsIn(
        entry,
        due.map(({ write }) => write)
      )
      const changes = steps.map(({ before, write }): ContactChange => ({ ...write, seen: before.contact }))
      const answers = yield* made(service, run, { changes, found: steps.map(({ before }) => before), rows, entry })
      const outdated = due.flatMap(({ given, index }, place) => {
        const [answer, step, effect] = [answers[place], steps[place], effects[place] ?? "alreadySo"]
        if (step !== undefined)
          results[index] = { ...step, effect, isOutdated: answer?._tag === "Outdated", isLeftOut: false }
        return answer?._tag === "Outdated" ? [{ write: given, index, now: foundIn(answer) }] : []
      })
      // A key that may not see how the contact is now cannot try again.
      next = attempt < tries ? outdated.filter(({ now }) => now !== undefined) : []
    }
    return results
  })

  /**
   * Records writes and carries them out; `reading` is what is stored, if the caller has read it. A write to a contact that
   * others change meanwhile is tried again, also where they deleted it.
   */
  const write = Effect.fnUntraced(function* <A, E>(
    writes: ReadonlyArray<Write>,
    plain: Plain<A, E>,
    {
      reading,
      rows,
      tries = attempts
    }: { readonly reading?: Reading; readonly rows?: RowRange; readonly tries?: number } = {}
  ): Effect.fn.Return<Written<A>, E | InvalidInput | ServiceError | TooManyContacts> {
    const turn = makeTurn()
    return yield* Effect.ensuring(
      Effect.gen(function* (): Effect.fn.Return<Written<A>, E | InvalidInput | ServiceError | TooManyContacts> {
        const { found, isExact } =
          reading ??
          (yield* reader
            .read(writes.map(({ email }) => email))
            .pipe(Effect.catchTag("InvalidRule", (error) => Effect.die(error))))
        if (found !== undefined && isExact) {
          yield* turn.wait
          return { _tag: "Compared", results: yield* compared(writes, found, rows, tries) }
        }
        if (found === undefined) {
          if (fit !== undefined) return yield* mayNotRead
          yield* recordUnknown("changes by a key that may not read contacts")
          const places = [...writes.keys()]
          return { _tag: "Plain", answer: yield* plain(places, writes), effects: undefined, places }
        }
        const due = writes.flatMap((write, place) => {
          const before = found[place] ?? nobody
          const fitted = fit === undefined ? write : fit(write, before)
          return fitted === undefined ? [] : [{ place, before, write: fitted }]
        })
        const places = due.map(({ place }) => place)
        const fitted = due.map(({ write }) => write)
        const { entry } = follow(
          fitted,
          due.map(({ before }) => before),
          rows
        )
        yield* takeBack(entry)
        const effects = effectsIn(entry, fitted)
        if (entry !== undefined) yield* appended(run, entry)
        const answer = yield* takenBack(run, addressesIn(entry), plain(places, fitted))
        return { _tag: "Plain", answer, effects, places }
      }),
      turn.end
    )
  })
  return { write, recordUnknown, isIncomplete: () => unknown.size > 0 }
}

/** The write that adds a contact. */
export const writeOfContact = (
  { email, ...given }: { readonly email: string } & ContactWrite,
  {
    listNames = [],
    resubscribe = true
  }: { readonly listNames?: ReadonlyArray<string> | undefined; readonly resubscribe?: boolean | undefined }
): Write => {
  return {
    // The service checks it.
    email: email as EmailAddress,
    write: {
      ...Struct.pick(given, ["status", "firstName", "lastName", "customFields", "consent"]),
      ...(listNames.length === 0 ? {} : { addToLists: listNames }),
      resubscribe
    }
  }
}

/** The contacts of an add that kept their status. */
export const keptIn = (
  contacts: ReadonlyArray<ContactPayload>,
  results: ReadonlyArray<WriteResult>
): ReadonlyArray<KeptStatus> =>
  keptStatuses(
    contacts,
    results.map(({ after }) => ({ status: after.contact?.status }))
  )

/** Others changed a contact each time that it was to be written. */
const busy = (email: string | undefined) =>
  new ServiceError({
    operation,
    reason: new Unavailable({
      detail: `others keep changing ${email === undefined ? "a contact" : "one of the contacts"}`
    })
  })

const failIfOutdated = (results: ReadonlyArray<WriteResult>) => {
  const outdated = results.find(({ isOutdated }) => isOutdated)
  return outdated === undefined ? Effect.void : Effect.fail(busy(outdated.before.contact?.email))
}

/** How the writes of a service are recorded. */
export interface RecordOptions extends ReaderOptions {
  /** The run that the changes are recorded in. */
  readonly run: Run
  /** About how many contacts will be written (default: few). */
  readonly expected?: number | undefined
}

/** A `ContactsService` whose writes are recorded. */
export interface RecordedContacts extends Service {}

/**
 * Makes a service that records what the writes of another one change.
 *
 * ```ts
 * import { recordedContacts, RunLog } from "@roster/workflows"
 * import { Effect } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   const run = yield* (yield* RunLog).open({ command: "cleanup" })
 *   const contacts = yield* recordedContacts({ run })
 *   yield* contacts.add([{ email: "ada@example.com" }])
 *   yield* run.end
 * })
 * ```
 */
export const recordedContacts = Effect.fnUntraced(function* (recorded: RecordOptions) {
  const { expected = 1, run, ...options } = recorded
  const service = yield* ContactsService
  const reader = yield* makeContactReader(expected, options)
  const { recordUnknown, write } = recordedWrites(service, { run, reader })
  /** Writes to a contact that is there: one that comes or goes meanwhile is neither made nor deleted without a record. */
  const writeToOne = Effect.fnUntraced(function* <A, E>(
    email: string,
    change: Omit<Write, "email">,
    plain: Effect.Effect<A, E>
  ) {
    // The service checks the address.
    const writes = [{ ...change, email: email as EmailAddress }]
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const reading = yield* Effect.catchTag(
        readNow(service, [email], { isToChange: true }),
        "TooManyContacts",
        Effect.die
      )
      if (reading.found?.[0]?.contact === null) return yield* new ContactNotFound({ email })
      const written = yield* Effect.catchTag(
        write(writes, () => plain, { reading, tries: 1 }),
        "TooManyContacts",
        Effect.die
      )
      if (written._tag === "Plain" || written.results[0]?.isOutdated === false) return written
    }
    return yield* busy(email)
  })
  const recording: RecordedContacts = ContactsService.of({
    ...service,
    add: Effect.fnUntraced(function* (contacts, options = {}) {
      const writes = contacts.map((contact) => writeOfContact(contact, options))
      const written = yield* write(writes, () => service.add(contacts, options))
      if (written._tag === "Plain") return written.answer
      yield* failIfOutdated(written.results)
      const { found = [] } = yield* readNow(
        service,
        contacts.map(({ email }) => email)
      )
      return written.results.flatMap(({ after }, index): ReadonlyArray<Contact> => {
        const contact = found[index]?.contact ?? after.contact
        return contact === null ? [] : [contact]
      })
    }),
    addWithoutAnswer: Effect.fnUntraced(function* (contacts, options = {}) {
      const given = Array.from(contacts)
      const writes = given.map((contact) => writeOfContact(contact, options))
      const plain = service.addWithoutAnswer(contacts instanceof FastContacts ? contacts : given, options)
      const written = yield* write(writes, () => plain)
      if (written._tag === "Plain") return written.answer
      yield* failIfOutdated(written.results)
      return { keptStatuses: keptIn(given, written.results) }
    }),
    update: Effect.fnUntraced(function* (email, given) {
      const change = yield* validated(ContactUpdatePayload)(given)
      const written = yield* writeToOne(email, { write: change }, service.update(email, change))
      return written._tag === "Plain" ? written.answer : yield* service.get(email)
    }),
    delete: (email) => Effect.asVoid(writeToOne(email, { delete: true }, service.delete(email))),
    deleteMany: Effect.fnUntraced(function* (filter) {
      if (filter._tag !== "ByEmails") {
        yield* recordUnknown("contacts that a rule selected were deleted")
        return yield* service.deleteMany(filter)
      }
      for (const emails of Arrays.chunksOf(filter.emails, maximumChanges)) {
        // The service checks the addresses.
        const writes = emails.map((email) => ({ email: email as EmailAddress, delete: true as const }))
        const plain = service.deleteMany(ContactFilter.ByEmails({ emails }))
        const written = yield* Effect.catchTag(
          write(writes, () => plain),
          "TooManyContacts",
          Effect.die
        )
        if (written._tag === "Compared") yield* failIfOutdated(written.results)
      }
    }),
    change: Effect.fnUntraced(function* (changes, options = {}) {
      if (options.dryRun === true) return yield* service.change(changes, options)
      return yield* recordedChange(service, run, changes)
    }),
    import: (source, options) =>
      Effect.andThen(recordUnknown("a file that the service imported itself"), service.import(source, options))
  })
  return recording
})

/** Makes changes and records those that are due: what each of them would do is asked before. */
export const recordedChange = Effect.fnUntraced(function* (
  service: Service,
  run: Run,
  changes: ReadonlyArray<ContactChange>
) {
  const asked = yield* service.change(changes, { dryRun: true })
  const due = changes.flatMap((change, index) => (asked[index]?._tag === "Done" ? [{ change, index }] : []))
  if (due.length === 0) return asked
  const { found = [] } = yield* readNow(
    service,
    due.map(({ change }) => change.email)
  )
  const before = due.map(({ change: { email, seen } }, place): Found => ({
    contact: seen && contactOf(found[place]?.contact?.email ?? email, seen),
    lists: found[place]?.lists
  }))
  const writes = due.map(({ change }) => change)
  const answers = yield* made(service, run, { changes: writes, found: before })
  const all = [...asked]
  for (const [place, { index }] of due.entries()) {
    const answer = answers[place]
    // It was due and is recorded, so that a call of this run did it whose answer was lost.
    if (answer !== undefined) all[index] = answer._tag === "AlreadySo" ? { ...answer, _tag: "Done" } : answer
  }
  return all
})
