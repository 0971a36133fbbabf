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
  contentAfter,
  type ContactContent,
  contentOf,
  type ContactPayload,
  ContactsService,
  type ContactWrite,
  type EmailAddress,
  type InvalidInput,
  keptStatuses,
  type KeptStatus,
  maximumChanges,
  ServiceError,
  StoreFailure,
  type TooManyContacts,
  Unavailable
} from "@roster/domain"
import { FastContacts } from "@roster/domain/FastContacts"
import { Array as Arrays, Clock, Deferred, Effect, Struct } from "effect"
import { changesOf, type ContactState, digestOf } from "./ContactState.ts"
import type { AppendedEntry, Changed, Changes, RowRange } from "./RunEntry.ts"
import type { Run } from "./RunLog.ts"
import {
  type ContactReader,
  type Found,
  foundIn,
  makeContactReader,
  nobody,
  readNow,
  type ReaderOptions,
  type Reading,
  stateOfFound
} from "./ContactReader.ts"

type Service = ContactsService["Service"]

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
const appended = (run: Run, entry: AppendedEntry): Effect.Effect<void, ServiceError> =>
  Effect.mapError(
    Effect.flatMap(Clock.currentTimeMillis, (at) => run.append(entry._tag === "Changes" ? { ...entry, at } : entry)),
    ({ detail }) => new ServiceError({ operation, reason: new StoreFailure({ detail: `the log of runs: ${detail}` }) })
  )

/** Takes back recorded changes that were not made. */
const notMade = (run: Run, emails: ReadonlyArray<string>) =>
  emails.length === 0 ? Effect.void : appended(run, { _tag: "NotMade", emails })

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
  run: Run,
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
  run: Run,
  changes: ReadonlyArray<ContactChange>,
  entry: Changes | undefined
) {
  const recorded = addressesIn(entry)
  if (entry !== undefined) yield* appended(run, entry)
  const answers = yield* service
    .change(changes)
    .pipe(
      Effect.tapError((error) =>
        error._tag === "ServiceError" && error.mayHaveHappened ? Effect.void : Effect.ignore(notMade(run, recorded))
      )
    )
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

/** How often a write to a contact that others change at the same time is tried. */
export const attempts = 4

/** The outcome of one write. */
export interface WriteResult {
  readonly before: Found
  /** The contact after it, with its lists where they are known. */
  readonly after: Found
  /** Whether it was not made, since others changed the contact again and again. */
  readonly isOutdated: boolean
}

const contactOf = (email: string, content: ContactContent): Contact =>
  // `contentOf` leaves out what has no value.
  ({ ...contentOf(content), email }) as Contact

/** What a write makes of what was found. */
export const madeOf = ({ contact, lists }: Found, { email, write }: Write): Found => {
  if (write === undefined) return { contact: null, lists: lists && [] }
  const { addToLists = [], removeFromLists = [] } = write
  const gone = new Set(removeFromLists)
  return {
    // It has the address that was written, unless it had one.
    contact: contactOf(contact?.email ?? email, contentAfter(contact, write)),
    lists: lists && [...new Set([...lists, ...addToLists])].filter((name) => !gone.has(name)).sort()
  }
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
  readonly run: Run
  readonly reader: ContactReader
  /** Addresses of recorded changes of an earlier process that may not have been made. */
  readonly unanswered?: ReadonlyArray<string> | undefined
}

/** The answer to recorded writes: one for each, or that of a plain call where the service compares nothing. */
export type Written<A> =
  | { readonly _tag: "Compared"; readonly results: ReadonlyArray<WriteResult> }
  | { readonly _tag: "Plain"; readonly answer: A }

/** Makes the function that records what writes change, and carries them out: `plain` does so where nothing is compared. */
export const recordedWrites = (service: Service, { reader, run, unanswered = [] }: Recording) => {
  const open = new Set(unanswered)
  const unknown = new Set<string>()
  /** Records once that the run makes changes that cannot be known. */
  const recordUnknown = (what: string) =>
    Effect.suspend(() => {
      if (unknown.has(what)) return Effect.void
      unknown.add(what)
      return appended(run, { _tag: "Unknown", what })
    })

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
    rows: RowRange | undefined
  ) {
    const results: Array<WriteResult> = []
    let due = writes.map((write, index) => ({ write, index, now: found[index] }))
    for (let attempt = 1; due.length > 0; attempt++) {
      const { entry, steps } = follow(
        due.map(({ write }) => write),
        due.map(({ now }) => now),
        rows
      )
      // What is still to be changed was not made then.
      yield* notMade(
        run,
        addressesIn(entry).filter((email) => open.delete(email))
      )
      const changes = steps.map(({ before, write }): ContactChange => ({ ...write, seen: before.contact }))
      const answers = yield* made(service, run, { changes, found: steps.map(({ before }) => before), rows, entry })
      const outdated = due.flatMap(({ index, write }, place) => {
        const [answer, step] = [answers[place], steps[place]]
        if (step !== undefined) results[index] = { ...step, isOutdated: answer?._tag === "Outdated" }
        return answer?._tag === "Outdated" ? [{ write, index, now: foundIn(answer) }] : []
      })
      // A key that may not see how the contact is now cannot try again.
      due = attempt < attempts ? outdated.filter(({ now }) => now !== undefined) : []
    }
    return results
  })

  /** Records writes and carries them out; `reading` is what is stored, if the caller has read it. */
  const write = Effect.fnUntraced(function* <A, E>(
    writes: ReadonlyArray<Write>,
    plain: Effect.Effect<A, E>,
    { reading, rows }: { readonly reading?: Reading; readonly rows?: RowRange } = {}
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
          return { _tag: "Compared", results: yield* compared(writes, found, rows) }
        }
        if (found === undefined) yield* recordUnknown("changes by a key that may not read contacts")
        else {
          const { entry } = follow(writes, found, rows)
          if (entry !== undefined) yield* appended(run, entry)
        }
        return { _tag: "Plain", answer: yield* plain }
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
  const recording: RecordedContacts = ContactsService.of({
    ...service,
    add: Effect.fnUntraced(function* (contacts, options = {}) {
      const writes = contacts.map((contact) => writeOfContact(contact, options))
      const written = yield* write(writes, service.add(contacts, options))
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
      const written = yield* write(writes, plain)
      if (written._tag === "Plain") return written.answer
      yield* failIfOutdated(written.results)
      return { keptStatuses: keptIn(given, written.results) }
    }),
    update: Effect.fnUntraced(function* (email, { customFields, firstName, lastName }) {
      const change = { customFields, firstName, lastName }
      // The service checks the address.
      const at = email as EmailAddress
      const reading = yield* Effect.catchTag(readNow(service, [email]), "TooManyContacts", Effect.die)
      if (reading.found?.[0]?.contact === null) return yield* service.update(email, change)
      const written = yield* Effect.catchTag(
        write([{ email: at, write: change }], service.update(email, change), { reading }),
        "TooManyContacts",
        Effect.die
      )
      if (written._tag === "Plain") return written.answer
      yield* failIfOutdated(written.results)
      return yield* service.get(email)
    }),
    delete: Effect.fnUntraced(function* (email) {
      // The service checks the address.
      const at = email as EmailAddress
      const written = yield* Effect.catchTag(
        write([{ email: at, delete: true }], service.delete(email)),
        "TooManyContacts",
        Effect.die
      )
      if (written._tag === "Plain") return
      yield* failIfOutdated(written.results)
      // There was none, which the service says best.
      if (written.results[0]?.before.contact === null) yield* service.delete(email)
    }),
    deleteMany: Effect.fnUntraced(function* (filter) {
      if (filter._tag !== "ByEmails") {
        yield* recordUnknown("contacts that a rule selected were deleted")
        return yield* service.deleteMany(filter)
      }
      for (const emails of Arrays.chunksOf(filter.emails, maximumChanges)) {
        // The service checks the addresses.
        const writes = emails.map((email) => ({ email: email as EmailAddress, delete: true as const }))
        const plain = service.deleteMany(ContactFilter.ByEmails({ emails }))
        const written = yield* Effect.catchTag(write(writes, plain), "TooManyContacts", Effect.die)
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
    if (answer !== undefined) all[index] = answer
  }
  return all
})
