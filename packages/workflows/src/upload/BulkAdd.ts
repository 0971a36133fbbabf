/**
 * Adding any number of contacts: adds of at most 1000, some at once, and for every contact, in the order in which they
 * came, what became of it.
 */
import { Array as Arrays, Data, Effect, Ref, Stream } from "effect"
import {
  type ContactPayload,
  ContactsService,
  InvalidInput,
  maximumContactsPerAdd,
  Rejected,
  ServiceError,
  Unavailable
} from "@roster/domain"

/**
 * What became of one contact: added or updated; refused for what it is; sent with no answer that can be read; or not sent,
 * since something about the service ended the sending.
 */
export type AddOutcome = Data.TaggedEnum<{
  Accepted: {}
  Refused: {
    /** The place of the contact among all that were given, counted from 0. */
    readonly index: number
    /** Its address; empty where it has none that is a text. */
    readonly email: string
    /** What is wrong with it. The field is one of its own, such as `FirstName`, whatever it was sent with. */
    readonly error: InvalidInput
  }
  Unknown: { readonly error: ServiceError }
  /** Sending it again is safe. */
  NotSent: { readonly error: ServiceError }
}>

export const AddOutcome = Data.taggedEnum<AddOutcome>()

/** How many adds are under way at once. The public service cuts connections off at 20. */
export const defaultAddConcurrency = 8

/** What became of some contacts that stand behind each other. */
export interface AddResult {
  readonly count: number
  readonly outcome: AddOutcome
}

/** Contacts that are sent together, at most 1000. */
interface Batch extends Iterable<ContactPayload> {
  readonly length: number
}

/** Sends contacts part by part, until something about the service ends it. */
export interface BulkAdder {
  /** Sends a batch and returns the outcomes in its order. `index` is the place of its first contact (default: 0). */
  readonly send: (batch: Batch, index?: number) => Effect.Effect<ReadonlyArray<AddResult>>
  /** What ended the sending, where something did. */
  readonly stoppedBy: Effect.Effect<ServiceError | undefined>
}

/** What is said of a request without an answer is not true of contacts that were not in it. */
const notSent = (error: ServiceError): AddOutcome => {
  if (!error.mayHaveHappened) return AddOutcome.NotSent({ error })
  const detail = "an earlier request has no answer that can be read, and nothing was sent after it"
  const { operation } = error
  return AddOutcome.NotSent({ error: new ServiceError({ operation, reason: new Unavailable({ detail }) }) })
}

/** Whether a refusal is about what all adds have in common. What is said in words that nobody here knows may be about a contact. */
const isAboutCall = ({ field }: InvalidInput): boolean => /^listnames\b/i.test(field)

const rejected = ({ message }: InvalidInput): ServiceError =>
  new ServiceError({ operation: "contactsPost", reason: new Rejected({ status: 400, detail: message }) })

/** The refusal of a contact that was sent alone. */
const refused = ([contact]: Batch, index: number, { field, issue }: InvalidInput): AddOutcome => {
  const email: unknown = contact?.email
  const own = field.replace(/^\[0\]\.?/, "")
  const error = new InvalidInput({ field: own === "" ? "body" : own, issue })
  return AddOutcome.Refused({ index, email: typeof email === "string" ? email : "", error })
}

/**
 * A part that the service refuses for one bad contact is sent again in halves, so that one bad address does not lose the
 * other 999. After a failure that is about the service, or about the names of the lists, and not about a contact nothing more
 * is sent.
 */
export const makeBulkAdder = Effect.fnUntraced(function* (listNames: ReadonlyArray<string> | undefined) {
  const service = yield* ContactsService
  const stopped = yield* Ref.make<ServiceError | undefined>(undefined)

  const sendHalves = (batch: Batch, index: number): Effect.Effect<ReadonlyArray<AddResult>> => {
    const contacts = Array.from(batch)
    const middle = Math.ceil(contacts.length / 2)
    const [left, right] = [contacts.slice(0, middle), contacts.slice(middle)]
    return Effect.zipWith(send(left, index), send(right, index + middle), (left, right) => [...left, ...right])
  }
  const send = Effect.fnUntraced(function* (batch: Batch, index = 0): Effect.fn.Return<ReadonlyArray<AddResult>> {
    const { length: count } = batch
    const all = (outcome: AddOutcome): ReadonlyArray<AddResult> => [{ count, outcome }]
    /** Ends the sending, and gives what ended it first. */
    const stop = (error: ServiceError) =>
      Ref.modify(stopped, (first = error): [ServiceError, ServiceError] => [first, first])
    const before = yield* Ref.get(stopped)
    if (before !== undefined) return all(notSent(before))
    return yield* service.addWithoutAnswer(batch, { listNames }).pipe(
      Effect.as(all(AddOutcome.Accepted())),
      Effect.catchTags({
        // A service that takes not even one would be asked for ever.
        TooManyContacts: ({ message }) =>
          count === 1
            ? Effect.succeed(all(refused(batch, index, new InvalidInput({ field: "body", issue: message }))))
            : sendHalves(batch, index),
        InvalidInput: (error) =>
          isAboutCall(error)
            ? Effect.map(stop(rejected(error)), (first) => all(notSent(first)))
            : count === 1
              ? Effect.succeed(all(refused(batch, index, error)))
              : sendHalves(batch, index),
        ServiceError: (error) =>
          Effect.as(stop(error), all(error.mayHaveHappened ? AddOutcome.Unknown({ error }) : notSent(error)))
      })
    )
  })
  const adder: BulkAdder = { send, stoppedBy: Ref.get(stopped) }
  return adder
})

const outcomesOf = (runs: ReadonlyArray<AddResult>): ReadonlyArray<AddOutcome> =>
  runs.flatMap(({ count, outcome }) => Arrays.replicate(outcome, count))

/** Adds the contacts of a stream. */
export const addAll = <E, R>(
  contacts: Stream.Stream<ContactPayload, E, R>,
  options: { readonly listNames?: ReadonlyArray<string> | undefined; readonly concurrency?: number | undefined } = {}
): Stream.Stream<AddOutcome, E, R | ContactsService> =>
  Stream.unwrap(
    Effect.map(makeBulkAdder(options.listNames), ({ send }) =>
      contacts.pipe(
        Stream.rechunk(maximumContactsPerAdd),
        Stream.chunks,
        Stream.zipWithIndex,
        Stream.mapEffect(([part, number]) => Effect.map(send(part, number * maximumContactsPerAdd), outcomesOf), {
          concurrency: options.concurrency ?? defaultAddConcurrency
        }),
        Stream.flattenIterable
      )
    )
  )
