/**
 * A `ContactsService` that records what its writes change. In a store of this process a write, the states around it and
 * its record are one transaction; over the interface the record has what was read before and what the call gives.
 */
import {
  type AddOptions,
  type AddSummary,
  type ContactFilter,
  type ContactPayload,
  ContactsService,
  type InvalidInput,
  keptStatuses,
  LocalContacts,
  ServiceError,
  type StoredContact,
  StoreFailure
} from "@roster/domain"
import { FastContacts } from "@roster/domain/FastContacts"
import { Effect } from "effect"
import type { ContactLookup } from "./ContactLookup.ts"
import {
  changesOf,
  contentDigestOf,
  type ContactState,
  digestOf,
  givenBy,
  merged,
  idField,
  stateOf
} from "./ContactState.ts"
import type { Changed } from "../runs/RunEntry.ts"
import { countsOf, noCounts, type RecordLog, type RunChanges, sumOf } from "./RunRecord.ts"

type Service = ContactsService["Service"]

/** A contact before and after a write. */
export interface Transition {
  readonly email: string
  readonly before: ContactState | undefined
  readonly after: ContactState | undefined
}

/** The entry of a write; `undefined` if it changed nothing. */
const entryOf = (transitions: Iterable<Transition>): RunChanges | undefined => {
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
      if (Object.keys(fields).length === 0) continue
      const id = before[idField]
      changed.push({ email, fields, after: contentDigestOf(after), ...(typeof id === "number" ? { id } : {}) })
    }
  }
  if (created.length + changed.length + deleted.length === 0) return undefined
  return {
    _tag: "Changes",
    ...(created.length === 0 ? {} : { created }),
    ...(changed.length === 0 ? {} : { changed }),
    ...(deleted.length === 0 ? {} : { deleted })
  }
}

/** A failure to record is one of the operation whose changes are recorded: that is not carried out. */
const failing = (operation: string) =>
  Effect.mapError((reason: StoreFailure) => new ServiceError({ operation, reason }))

/** Appends the entries of a run, and counts them. */
export const makeRecorder = (log: RecordLog) => {
  let counts = noCounts
  const unknown = new Set<string>()
  return {
    /** Records once that the run makes changes that cannot be known. */
    recordUnknown: (operation: string, what: string) =>
      Effect.suspend(() => {
        if (unknown.has(what)) return Effect.void
        unknown.add(what)
        return failing(operation)(log.append({ _tag: "Unknown", what }))
      }),
    isIncomplete: Effect.sync(() => unknown.size > 0),
    /** Records transitions before they are written, or in the transaction that writes them. */
    record: (operation: string, transitions: Iterable<Transition>) =>
      Effect.suspend(() => {
        const entry = entryOf(transitions)
        if (entry === undefined) return Effect.void
        return Effect.map(failing(operation)(log.append(entry)), () => {
          counts = sumOf(counts, countsOf(entry))
        })
      }),
    counts: Effect.sync(() => counts)
  }
}

/** Records the writes of a run. */
export type Recorder = ReturnType<typeof makeRecorder>

/** A failure of the file system as a failure of the call that needed it. */
const temporaryFileFailure = (operation: string) =>
  new ServiceError({
    operation,
    reason: new StoreFailure({ detail: "the temporary file of the contacts as they were cannot be read" })
  })

/** The recorder of a run and the lookup that it needs. */
export interface RecordOptions {
  readonly recorder: Recorder
  /** Finds what is stored, where there is no store in this process. */
  readonly lookup: ContactLookup
}

type States = ReadonlyArray<ContactState | undefined>

/** A write that depends on what is stored, and what it is expected to make of it. */
export interface PlannedWrite<A, E, R> {
  readonly expected: () => States
  readonly write: Effect.Effect<A, E, R>
  /** The states that the answer of the write gives; without them, a store is read again. */
  readonly madeBy?: ((answer: A) => States | undefined) | undefined
}

/** The answer to an add: what it says, and in a store of this process the states that it made. */
export interface Added {
  readonly summary: AddSummary
  readonly states: States | undefined
}

/** Makes the function that adds contacts without their answer. */
export const makeAdd = Effect.fnUntraced(function* (service: Service) {
  const store = yield* LocalContacts
  return (contacts: ReadonlyArray<ContactPayload>, options: Omit<AddOptions, "idempotencyKey">) =>
    store === undefined
      ? Effect.map(service.addWithoutAnswer(contacts, options), (summary): Added => ({ summary, states: undefined }))
      : Effect.map(store.add(contacts, options), (stored): Added => {
          const kept =
            options.resubscribe === false
              ? keptStatuses(
                  contacts,
                  stored.map(({ contact }) => contact)
                )
              : []
          return { summary: { keptStatuses: kept }, states: stored.map(stateOf) }
        })
})

const stateOrNone = (stored: StoredContact | undefined): ContactState | undefined =>
  stored === undefined ? undefined : stateOf(stored)

/** Makes the function that runs a write to contacts of some addresses, and records what it changes. */
export const recordedWrites = Effect.fnUntraced(function* ({ lookup, recorder }: RecordOptions) {
  const store = yield* LocalContacts
  const transitions = (emails: ReadonlyArray<string>, before: States, after: States) =>
    emails.map((email, index) => ({ email, before: before[index], after: after[index] }))
  return <A, E, R>(
    operation: string,
    emails: ReadonlyArray<string>,
    plan: (before: States) => PlannedWrite<A, E, R>
  ): Effect.Effect<A, E | InvalidInput | ServiceError, R> =>
    store === undefined
      ? Effect.gen(function* () {
          const before = yield* lookup.find(emails).pipe(
            Effect.catchTag("PlatformError", () => temporaryFileFailure(operation)),
            Effect.catchReason("ServiceError", "AccessDenied", () => Effect.undefined)
          )
          // A key that may write but not read can still be used.
          const { expected, write } = plan(before ?? emails.map(() => undefined))
          if (before === undefined)
            yield* recorder.recordUnknown(operation, "changes by a key that may not read contacts")
          else yield* recorder.record(operation, transitions(emails, before, expected()))
          return yield* write
        })
      : store.atomically(
          Effect.gen(function* () {
            const before = (yield* store.read(emails)).map(stateOrNone)
            const { madeBy, write } = plan(before)
            const answer = yield* write
            const after = madeBy?.(answer) ?? (yield* store.read(emails)).map(stateOrNone)
            yield* recorder.record(operation, transitions(emails, before, after))
            return answer
          })
        )
})

/** The addresses of contacts; none if one of them is no text, which the service refuses. */
const emailsOf = (contacts: ReadonlyArray<ContactPayload>): ReadonlyArray<string> => {
  const emails = contacts.map(({ email }) => email)
  return emails.every((email: unknown) => typeof email === "string") ? emails : []
}

const gone = (before: States): States => before.map(() => undefined)

/** Makes a service that records what the writes of another one change. */
export const recordedContacts = Effect.fnUntraced(function* (
  service: Service,
  options: RecordOptions
): Effect.fn.Return<Service> {
  const recorded = yield* recordedWrites(options)
  const addQuietly = yield* makeAdd(service)
  const { recordUnknown } = options.recorder
  const add = <A, E, R>(
    contacts: ReadonlyArray<ContactPayload>,
    { resubscribe = true }: AddOptions = {},
    write: Effect.Effect<A, E, R>,
    madeBy?: (answer: A) => States | undefined
  ) =>
    recorded("contactsPost", emailsOf(contacts), (before) => ({
      expected: () =>
        before.map((state, index) => {
          const contact = contacts[index]
          return contact === undefined ? state : merged(state, givenBy(contact), { resubscribe }).after
        }),
      write,
      madeBy
    }))

  return ContactsService.of({
    ...service,
    add: (contacts, options) => add(contacts, options, service.add(contacts, options)),
    addWithoutAnswer: (contacts, options = {}) =>
      Effect.suspend(() => {
        // Contacts that can be read once alone are both recorded and added.
        const some = Array.from(contacts)
        // A store keeps the answers to calls with a key.
        if (options.idempotencyKey !== undefined) {
          const sent = contacts instanceof FastContacts ? contacts : some
          return add(some, options, service.addWithoutAnswer(sent, options))
        }
        return Effect.map(
          add(some, options, addQuietly(some, options), ({ states }) => states),
          ({ summary }) => summary
        )
      }),
    update: (email, changes) =>
      recorded("contactsByEmailPut", [email], (before) => ({
        expected: () => before.map((state) => state && merged(state, givenBy(changes)).after),
        write: service.update(email, changes)
      })),
    delete: (email) =>
      recorded("contactsByEmailDelete", [email], (before) => ({
        expected: () => gone(before),
        write: service.delete(email)
      })),
    deleteMany: (filter: ContactFilter) =>
      filter._tag === "ByEmails"
        ? recorded("contactsDeletePost", filter.emails, (before) => ({
            expected: () => gone(before),
            write: service.deleteMany(filter)
          }))
        : Effect.andThen(
            recordUnknown("contactsDeletePost", "contacts that a rule selected were deleted"),
            service.deleteMany(filter)
          ),
    import: (source, options) =>
      Effect.andThen(
        recordUnknown("contactsImportPost", "a file that the service imported itself"),
        service.import(source, options)
      )
  })
})
