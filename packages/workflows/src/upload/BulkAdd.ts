/** Adds any number of contacts in concurrent requests of at most 1000 and 8 MiB, with an outcome for every contact. */
import {
  type Named,
  type AddOptions,
  type AddSummary,
  ContactPayload,
  ContactsService,
  InvalidInput,
  type KeptStatus,
  maximumPlaces,
  maximumContactsPerAdd,
  Rejected,
  ServiceError,
  type TooManyContacts,
  Unavailable,
  ListsText
} from "@roster/domain"
import {
  exceedsAdd,
  exceedsPlaces,
  invalidInput,
  listsAfter,
  withoutOwnKey,
  KnownFields,
  resubscribeIssue
} from "@roster/domain/internal"
import { Array as Arrays, Data, Effect, Predicate, Ref, Result, Schema, Stream } from "effect"
import { emptyReport, type RunEffect, type RunReport } from "../runs/RunReport.ts"
import { type Stopped, unlessStopped } from "../runs/Stopped.ts"
import type { SentRow } from "./UploadBatches.ts"

// Outcomes

/**
 * The outcome of a contact. `Unknown`: sent without a readable answer. `NotSent`: not sent, or only in a request that the
 * service refused as a whole.
 */
export type AddOutcome = Named<
  Data.TaggedEnum<{
    Accepted: {
      /** The status that the contact kept in place of the given one. */
      readonly keptStatus?: KeptStatus["status"] | undefined
      /** What it did to the contact; `undefined` where nobody looked. */
      readonly effect?: RunEffect | undefined
      /** Whether the person receives mail now, and is known not to have received any before. */
      readonly isRecipient?: boolean
    }
    Refused: {
      /** The position of the contact in the input, counted from 0. */
      readonly index: number
      /** Its address; empty if it is not a text. */
      readonly email: string
      /** The problem, in a field of the contact such as `firstName`. */
      readonly error: InvalidInput
    }
    Unknown: { readonly error: ServiceError }
    /** Sending it again is safe. */
    NotSent: { readonly error: ServiceError }
  }>
>

/** The outcome of an item, with the item itself. */
export type ItemOutcome<A> = AddOutcome & {
  /** The item as it was given. */
  readonly item: A
}

/** Constructors and matchers of outcomes. */
export const AddOutcome = Data.taggedEnum<AddOutcome>()

/** The common outcome of consecutive contacts. */
export interface AddResult {
  /** The number of contacts. */
  readonly count: number
  /** What became of each of them. */
  readonly outcome: AddOutcome
}

/** An error of a lost answer says that the request was sent, which is wrong for contacts of later requests. */
const notSent = (error: ServiceError): AddOutcome => {
  if (!error.mayHaveHappened) return AddOutcome.NotSent({ error })
  const detail = "the answer to an earlier request cannot be read, and Roster sent nothing after it"
  const { operation } = error
  return AddOutcome.NotSent({ error: new ServiceError({ operation, reason: new Unavailable({ detail }) }) })
}

/** Whether a refusal is about the whole call; any other may be about a contact. */
const isAboutCall = ({ field }: InvalidInput): boolean => /^(?:listNames|addToLists)\b/i.test(field)

const rejected = ({ message }: InvalidInput): ServiceError =>
  new ServiceError({ operation: "contactsPost", reason: new Rejected({ status: 400, detail: message }) })

/** The statuses by which a service refuses what a request holds, rather than the call. */
const contentStatuses = new Set([400, 413, 422])

/** The refusal of a contact in the service's own words; `undefined` for an error of the service or the call. */
const refusalInWords = ({ reason }: ServiceError): InvalidInput | undefined =>
  reason._tag === "Rejected" && contentStatuses.has(reason.status)
    ? new InvalidInput({ field: "body", issue: reason.detail })
    : undefined

/**
 * Contacts that a service refuses one after the other in its own words, after which it means the call: such words do not
 * say whether they are about a contact, a list or the account.
 */
const maximumRefusedInARow = 25

/** Whether a request that was sent may have been carried out. A redirect or an unusual status does not say. */
const mayBeDone = (error: ServiceError): boolean =>
  error.mayHaveHappened ||
  error.reason._tag === "UnexpectedRedirect" ||
  (error.reason._tag === "Rejected" && error.reason.status >= 500)

const isRefusal = Predicate.isTagged("Refused") as <Own>(
  outcome: AddOutcome | Own
) => outcome is Extract<AddOutcome, { readonly _tag: "Refused" }>

/** The refusal of an item: of the only one in a call, or by its own check. */
const refused = (
  [contact]: Iterable<{ readonly email: string } | undefined>,
  index: number,
  { field, issue }: InvalidInput
): AddOutcome => {
  const email: unknown = contact?.email
  const own = field.replace(/^\[0\]\.?(?:write\.)?/, "")
  const error = new InvalidInput({ field: own === "" ? "body" : own, issue })
  return AddOutcome.Refused({ index, email: typeof email === "string" ? email : "", error })
}

// Sending

/** Default number of concurrent requests. The public service closes connections at 20. */
export const defaultAddConcurrency = 8

/** How contacts are added. */
export interface BulkAddOptions {
  /** Lists that the contacts are put on; new ones are created. */
  readonly listNames?: ReadonlyArray<string> | undefined
  /** Number of concurrent requests (default: 8). */
  readonly concurrency?: number | undefined
  /**
   * The statuses that are lifted: `true` for all but Abuse, or their names (default: false, which is none: nobody's status is
   * lowered and NotConfirmed is given to new contacts only, while everything else is updated).
   */
  readonly resubscribe?: AddOptions["resubscribe"]
}

/** Its fields. */
export const bulkFields: KnownFields.Names<BulkAddOptions> = {
  listNames: ListsText.listNamesIssue,
  concurrency: true,
  resubscribe: resubscribeIssue
}

/** The numbers of contacts so far, by their outcome, as a report has them. */
export interface AddProgress extends Pick<RunReport, "done" | "rejected" | "unknown" | "notSent"> {}

/** How `addAll` adds. */
export interface AddAllOptions extends BulkAddOptions {
  /** Runs after each request. */
  readonly onProgress?: ((progress: AddProgress) => Effect.Effect<void>) | undefined
}

const addAllFields = KnownFields.fieldsOf<AddAllOptions & { readonly toContact?: unknown }>("this call", {
  ...bulkFields,
  onProgress: true,
  toContact: true
})

/** A contact whose address may be any text: one that is no address is refused alone. */
export interface ContactDraft extends Omit<ContactPayload, "email"> {
  /** The address of the contact. */
  readonly email: string
}

/** The common outcome of consecutive items, of which a sender may have outcomes of its own. */
export interface SentResult<Own> {
  readonly count: number
  readonly outcome: AddOutcome | Own
}

/** How items are sent. */
interface Sending<A, Own, About> {
  /** Sends items in one call, `about` which the caller says more. */
  readonly call: (
    batch: ReadonlyArray<A>,
    about: About
  ) => Effect.Effect<ReadonlyArray<SentResult<Own>>, TooManyContacts | InvalidInput | ServiceError>
  /** Whether they are more than one call takes. */
  readonly exceeds: (batch: ReadonlyArray<A>) => boolean
  /** What our own check has against an item. */
  readonly check: (item: A) => InvalidInput | undefined
}

/** Sends batches until an error of the service stops it. */
export interface BulkSender<A, Own, About> {
  /** Sends a batch and returns the outcomes in its order. `index` is the place of its first item. */
  readonly send: (
    batch: ReadonlyArray<A>,
    about: About,
    index?: number
  ) => Effect.Effect<ReadonlyArray<SentResult<Own>>>
  /** The error that stopped the sending, if any. */
  readonly stoppedBy: Effect.Effect<ServiceError | undefined>
}

/** The outcomes of an accepted batch: one for all, or a run for each contact that kept its status. */
export const acceptedRuns = (count: number, { keptStatuses }: AddSummary): ReadonlyArray<AddResult> => {
  const runs: Array<AddResult> = []
  let done = 0
  const upTo = (index: number) => {
    if (index > done) runs.push({ count: index - done, outcome: AddOutcome.Accepted({}) })
    done = index
  }
  for (const { index, status } of keptStatuses) {
    upTo(index)
    runs.push({ count: 1, outcome: AddOutcome.Accepted({ keptStatus: status }) })
    done++
  }
  upTo(count)
  return runs
}

const encodePayload = Schema.encodeUnknownResult(ContactPayload)

/** What our own check has against a contact. */
export const problemOf = (contact: ContactPayload): InvalidInput | undefined =>
  Result.match(encodePayload(contact), { onFailure: (error) => invalidInput(error), onSuccess: () => undefined })

/**
 * Makes a sender. Of a refused batch it sends again what our own check lets pass; if that is all of it, it sends halves, to
 * lose only the bad items. Other errors stop it.
 */
export const makeBulkSender = Effect.fnUntraced(function* <A extends { readonly email: string }, About, Own = never>({
  call,
  check,
  exceeds
}: Sending<A, Own, About>) {
  type Results = ReadonlyArray<SentResult<Own>>
  const stopped = yield* Ref.make<ServiceError | undefined>(undefined)
  let refusedInARow = 0

  const sendHalves = (batch: ReadonlyArray<A>, about: About, index: number): Effect.Effect<Results> => {
    const middle = Math.ceil(batch.length / 2)
    const [left, right] = [batch.slice(0, middle), batch.slice(middle)]
    return Effect.zipWith(send(left, about, index), send(right, about, index + middle), (left, right) => [
      ...left,
      ...right
    ])
  }
  /** Sends a refused batch again, without what needs no service to be refused. */
  const sendRest = Effect.fnUntraced(function* (batch: ReadonlyArray<A>, about: About, index: number) {
    const refusals = batch.map((item, place) => {
      const problem = check(item)
      return problem === undefined ? undefined : refused([item], index + place, problem)
    })
    const rest = batch.filter((_, place) => refusals[place] === undefined)
    if (rest.length === batch.length) return yield* sendHalves(batch, about, index)
    const sent = outcomesOf(rest.length === 0 ? [] : yield* send(rest, about)).values()
    return refusals.flatMap((refusal, place): Results => {
      const outcome = refusal ?? sent.next().value
      if (outcome === undefined) return []
      // Without the others an item was sent at another place.
      return [{ count: 1, outcome: isRefusal(outcome) ? { ...outcome, index: index + place } : outcome }]
    })
  })
  const send = Effect.fnUntraced(function* (
    batch: ReadonlyArray<A>,
    about: About,
    index = 0
  ): Effect.fn.Return<Results> {
    const { length: count } = batch
    const all = (outcome: AddOutcome): Results => [{ count, outcome }]
    /** Stops the sending, and returns the error that stopped it first. */
    const stop = (error: ServiceError) =>
      Ref.modify(stopped, (first = error): [ServiceError, ServiceError] => [first, first])
    const before = yield* Ref.get(stopped)
    if (before !== undefined) return all(notSent(before))
    if (count > 1 && exceeds(batch)) return yield* sendHalves(batch, about, index)
    return yield* call(batch, about).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          refusedInARow = 0
        })
      ),
      Effect.catchTags({
        // Splitting a single item would never end.
        TooManyContacts: ({ message }) =>
          count === 1
            ? Effect.succeed(all(refused(batch, index, new InvalidInput({ field: "body", issue: message }))))
            : sendHalves(batch, about, index),
        InvalidInput: (error) =>
          isAboutCall(error)
            ? Effect.map(stop(rejected(error)), (first) => all(notSent(first)))
            : count === 1
              ? Effect.succeed(all(refused(batch, index, error)))
              : sendRest(batch, about, index),
        ServiceError: (error) => {
          const refusal = refusalInWords(error)
          if (refusal === undefined) {
            return Effect.as(stop(error), all(mayBeDone(error) ? AddOutcome.Unknown({ error }) : notSent(error)))
          }
          if (count > 1) return sendHalves(batch, about, index)
          const alone = all(refused(batch, index, refusal))
          return ++refusedInARow < maximumRefusedInARow ? Effect.succeed(alone) : Effect.as(stop(error), alone)
        }
      })
    )
  })
  const sender: BulkSender<A, Own, About> = { send, stoppedBy: Ref.get(stopped) }
  return sender
})

/** How contacts are added unread. */
export const unreadAdding = Effect.fnUntraced(function* ({ listNames, resubscribe = false }: BulkAddOptions) {
  const service = yield* ContactsService
  return {
    add: (batch: ReadonlyArray<ContactPayload>) =>
      withoutOwnKey(service.addWithoutAnswer(batch, { listNames, resubscribe })),
    exceeds: (batch: ReadonlyArray<ContactPayload>) => exceedsAdd(batch) || exceedsPlaces(batch, listNames),
    check: problemOf
  }
})

/** How rows are added unread: those that name the same lists in one call. */
export const unreadRows = Effect.fnUntraced(function* ({ listNames = [], resubscribe = false }: BulkAddOptions) {
  const service = yield* ContactsService
  const add = Effect.fnUntraced(function* (batch: ReadonlyArray<SentRow>) {
    const keptStatuses: Array<KeptStatus> = []
    for (const some of Map.groupBy(batch.entries(), ([, { lists }]) => JSON.stringify(lists)).values()) {
      const kept = yield* withoutOwnKey(
        service.addWithoutAnswer(
          some.map(([, { contact }]) => contact),
          { listNames: onLists(listNames, some[0]?.[1].lists), resubscribe }
        )
      )
      for (const one of kept.keptStatuses) keptStatuses.push({ ...one, index: some[one.index]?.[0] ?? 0 })
    }
    return { keptStatuses: keptStatuses.sort((one, other) => one.index - other.index) }
  })
  return {
    add,
    exceeds: (batch: ReadonlyArray<SentRow>) =>
      exceedsAdd(batch.map(({ contact }) => contact)) || placesOf(batch, listNames) > maximumPlaces,
    check: ({ contact }: SentRow) => problemOf(contact)
  }
})

/** The lists of all rows and those of one. The service checks them. */
export const onLists = (ofAll: ReadonlyArray<string>, own: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  own.length === 0 ? ofAll : listsAfter(ofAll, { addToLists: own })

/** The places on lists that rows give. */
const placesOf = (batch: ReadonlyArray<SentRow>, listNames: ReadonlyArray<string>): number => {
  const ofAll = new Set(listNames).size
  return batch.reduce((sum, { lists }) => sum + (lists.length === 0 ? ofAll : onLists(listNames, lists).length), 0)
}

/** The outcome of each contact of a batch. */
export const outcomesOf = <Own = never>(runs: ReadonlyArray<SentResult<Own>>): ReadonlyArray<AddOutcome | Own> =>
  runs.flatMap(({ count, outcome }) => Arrays.replicate(outcome, count))

/** A function that adds runs to its counts. */
const makeCounter = () => {
  const counts = { Accepted: 0, Refused: 0, Unknown: 0, NotSent: 0 }
  return (runs: ReadonlyArray<AddResult> = []): AddProgress => {
    for (const { count, outcome } of runs) counts[outcome._tag] += count
    const { Accepted: done, NotSent: notSent, Refused: rejected, Unknown: unknown } = counts
    return { done, rejected, unknown, notSent }
  }
}

/**
 * Adds the contacts of a stream, or what `toContact` makes of its items, and emits the outcome of each with its item, in
 * the same order. After the first error of the service nothing more is sent: the rest is `NotSent`, and the stream ends with
 * `Stopped`. To add contacts again writes them again, also over what others changed or deleted since.
 *
 * ```ts
 * import { addAll } from "@roster/workflows"
 * import { Stream } from "effect"
 *
 * const people = Stream.make("ada@example.com", "bob@example.com")
 *
 * export const example = Stream.runCollect(
 *   addAll(people, { listNames: ["newsletter"], toContact: (email) => ({ email }) })
 * )
 * ```
 */
export function addAll<E, R>(
  contacts: Stream.Stream<ContactPayload, E, R>,
  options?: AddAllOptions & { readonly toContact?: undefined }
): Stream.Stream<ItemOutcome<ContactPayload>, E | InvalidInput | Stopped, R | ContactsService>
export function addAll<A, E, R>(
  items: Stream.Stream<A, E, R>,
  options: AddAllOptions & { readonly toContact: (item: A) => ContactDraft }
): Stream.Stream<ItemOutcome<A>, E | InvalidInput | Stopped, R | ContactsService>
export function addAll<A, E, R>(
  items: Stream.Stream<A, E, R>,
  options: AddAllOptions & { readonly toContact?: ((item: A) => ContactDraft) | undefined } = {}
): Stream.Stream<ItemOutcome<A>, E | InvalidInput | Stopped, R | ContactsService> {
  const { concurrency = defaultAddConcurrency, onProgress, toContact } = options
  return Stream.unwrap(
    Effect.gen(function* () {
      yield* KnownFields.checkFields(addAllFields, options)
      const { add, ...checks } = yield* unreadAdding(options)
      const { send, stoppedBy } = yield* makeBulkSender<ContactPayload, void>({
        ...checks,
        call: (batch) => Effect.map(add(batch), (summary) => acceptedRuns(batch.length, summary))
      })
      const count = makeCounter()
      const ended = Effect.flatMap(stoppedBy, (cause) => {
        const counts = count()
        const read = counts.done + counts.rejected + counts.unknown + counts.notSent
        return unlessStopped({ ...emptyReport, ...counts, read, unknownWhetherNew: counts.done }, cause)
      })
      return items.pipe(
        Stream.rechunk(maximumContactsPerAdd),
        Stream.chunks,
        Stream.zipWithIndex,
        Stream.mapEffect(
          Effect.fnUntraced(function* ([part, number]) {
            const drafts: ReadonlyArray<unknown> = toContact === undefined ? part : part.map((item) => toContact(item))
            // The service checks each contact, as it does for callers without type checks.
            const runs = yield* send(drafts as ReadonlyArray<ContactPayload>, undefined, number * maximumContactsPerAdd)
            const progress = count(runs)
            if (onProgress !== undefined) yield* onProgress(progress)
            return Arrays.zipWith(part, outcomesOf(runs), (item, outcome): ItemOutcome<A> => ({ ...outcome, item }))
          }),
          { concurrency }
        ),
        Stream.flattenIterable,
        Stream.concat(Stream.fromEffectDrain(Effect.suspend(() => ended)))
      )
    })
  )
}
