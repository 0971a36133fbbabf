/**
 * Reads what is stored for many addresses. A service that compares and changes in one step is asked what deleting them would
 * do, since that shows the lists too, and one that gives many contacts at once, to a key that may not change them, for these;
 * any other one is read by single calls for a few addresses, and otherwise once as a whole into a snapshot.
 */
import {
  AccessDenied,
  beforeWriting,
  canonicalEmail,
  type ChangeAnswer,
  Contact,
  ContactsService,
  type ContactState,
  type EmailAddress,
  type InvalidInput,
  type InvalidRule,
  maximumChanges,
  maximumLookup,
  ServiceError,
  type TooManyContacts
} from "@roster/domain"
import { ContactStates, JsonParser, withoutOwnKey, type KnownFields } from "@roster/domain/internal"
import { Array as Arrays, Effect, Schema, Stream } from "effect"

/** All contacts of an account as texts by their addresses, which a caller may keep in a file. */
export interface ContactSnapshot {
  /** Keeps contacts, of which none is kept yet. */
  readonly put: (
    contacts: ReadonlyArray<readonly [email: string, contact: string]>
  ) => Effect.Effect<void, ServiceError>
  /** Gives the text for each address, in their order. */
  readonly get: (emails: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string | undefined>, ServiceError>
}

/** A snapshot in memory. */
const contactSnapshotMemory = (): ContactSnapshot => {
  const kept = new Map<string, string>()
  return {
    put: (contacts) =>
      Effect.sync(() => {
        for (const [email, contact] of contacts) kept.set(email, contact)
      }),
    get: (emails) => Effect.sync(() => emails.map((email) => kept.get(email)))
  }
}

/** What is stored for an address. */
export interface Found {
  readonly contact: Contact | null
  /** The lists that the contact is on; `undefined` where the service does not show them. */
  readonly lists: ReadonlyArray<string> | undefined
}

/** No contact, on a service that does not show lists. */
export const nobody: Found = { contact: null, lists: undefined }

/** The key may not view contacts, which what is asked for needs. */
export const mayNotRead = new ServiceError({
  operation: "contactsGet",
  reason: new AccessDenied({ required: "ViewContacts" })
})

/** What is found, or that the key may not know. */
export interface Reading {
  readonly isExact: boolean
  /** In the order of the addresses; `undefined` if the key may not view contacts. */
  readonly found: ReadonlyArray<Found> | undefined
}

/** Why contacts cannot be read. */
export type ReadError = InvalidInput | InvalidRule | ServiceError | TooManyContacts

/** Reads contacts. */
export interface ContactReader {
  readonly read: (emails: ReadonlyArray<string>) => Effect.Effect<Reading, ReadError>
}

/** How contacts are read. */
export interface ReaderOptions {
  /** Where the whole account is kept, if it has to be read (default: in memory). */
  readonly snapshot?: ContactSnapshot | undefined
  /** Runs while the whole account is read. */
  readonly onRead?: ((read: number) => Effect.Effect<void>) | undefined
}

/** Its fields. */
export const readerFields: KnownFields.Names<ReaderOptions> = { snapshot: true, onRead: true }

/** The state of what was found. */
export const stateOfFound = (email: string, { contact, lists }: Found): ContactState | undefined =>
  contact === null ? undefined : ContactStates.stateOf(contact.email || email, contact, lists)

/** What an answer says of the contact as it is now; `undefined` if it hides it. */
export const foundIn = (answer: ChangeAnswer): Found | undefined =>
  answer._tag !== "Outdated"
    ? { contact: null, lists: answer.exact ? [] : undefined }
    : answer.contact === undefined
      ? undefined
      : { contact: answer.contact, lists: answer.lists ?? (answer.exact && answer.contact === null ? [] : undefined) }

/**
 * Reads contacts as they are now, on any service. A key that may not change them is refused if they are read to be changed, so
 * that nothing is recorded of it.
 */
export const readNow = Effect.fnUntraced(function* (
  service: ContactsService["Service"],
  emails: ReadonlyArray<string>,
  { isToChange = false }: { readonly isToChange?: boolean } = {}
): Effect.fn.Return<Reading, InvalidInput | ServiceError | TooManyContacts> {
  if (emails.length === 0) return { isExact: true, found: [] }
  const answers = yield* service
    .change(
      // The service checks the addresses.
      emails.map((email) => ({ email: email as EmailAddress, seen: null, delete: true as const })),
      { dryRun: true }
    )
    .pipe(
      withoutOwnKey,
      Effect.catchReason("ServiceError", "AccessDenied", (reason, error) =>
        isToChange && reason.required === "ModifyContacts" ? Effect.fail(error) : Effect.undefined
      )
    )
  if (answers === undefined) return { isExact: false, found: undefined }
  const found = answers.map(foundIn)
  return {
    isExact: answers.every(({ exact }) => exact),
    found: found.every((one) => one !== undefined) ? found : undefined
  }
})

/** A page of 1000 contacts costs about as much as this many single reads. */
const readsPerPage = 50

const ContactText = JsonParser.fromJsonString(Contact)
const encodeContact = Schema.encodeSync(ContactText)
const decodeContact = Schema.decodeUnknownEffect(ContactText)

/** Makes a reader for about so many addresses. What it reads of a service that is not exact may be as old as itself. */
export const makeContactReader = Effect.fnUntraced(function* (
  expected: number,
  { onRead, snapshot = contactSnapshotMemory() }: ReaderOptions = {}
): Effect.fn.Return<ContactReader, never, ContactsService> {
  const service = yield* ContactsService
  let isExact: boolean | undefined
  /** Whether many contacts that are not read by changes come in one answer. */
  let isAtOnce = false

  let read = 0
  const load = Stream.runForEach(Stream.grouped(service.stream(), maximumChanges), (contacts) => {
    read += contacts.length
    return Effect.andThen(
      snapshot.put(contacts.map((contact) => [canonicalEmail(contact.email), encodeContact(contact)] as const)),
      onRead?.(read) ?? Effect.void
    )
  })
  /** Whether the whole account is read; `undefined` if the key may not. */
  const isWhole = yield* Effect.cached(
    Effect.gen(function* () {
      if (isAtOnce || expected <= readsPerPage) return false
      const offset = Math.ceil(expected / readsPerPage) * 1000
      if ((yield* service.list({ limit: 1, offset })).length > 0) return false
      yield* load
      return true
    }).pipe(Effect.catchReason("ServiceError", "AccessDenied", () => Effect.undefined))
  )

  const readParts = Effect.fnUntraced(function* (emails: ReadonlyArray<string>) {
    const parts = yield* Effect.forEach(Arrays.chunksOf(emails, maximumChanges), (part) => readNow(service, part))
    const found = parts.flatMap((part) => part.found ?? [])
    return {
      isExact: parts.every((part) => part.isExact),
      found: found.length === emails.length ? found : undefined
    } satisfies Reading
  })
  const lookUp = Effect.fnUntraced(
    function* (emails: ReadonlyArray<string>) {
      const parts = yield* Effect.forEach(Arrays.chunksOf(emails, maximumLookup), (part) =>
        beforeWriting(service.getMany(part))
      )
      isAtOnce = parts.every((part) => part.isAtOnce)
      const contacts = parts.flatMap((part) => part.contacts)
      const found = new Map(contacts.map((contact) => [canonicalEmail(contact.email), contact]))
      return emails.map((email): Found => ({ contact: found.get(canonicalEmail(email)) ?? null, lists: undefined }))
    },
    Effect.catchReason("ServiceError", "AccessDenied", () => Effect.undefined)
  )
  const inSnapshot = Effect.fnUntraced(function* (emails: ReadonlyArray<string>) {
    const texts = yield* snapshot.get(emails.map(canonicalEmail))
    return yield* Effect.forEach(texts, (text) =>
      text === undefined
        ? Effect.succeed(nobody)
        : Effect.map(Effect.orDie(decodeContact(text)), (contact): Found => ({ contact, lists: undefined }))
    )
  })

  return {
    read: Effect.fnUntraced(function* (emails) {
      const [first] = emails
      if (first === undefined) return { isExact: isExact ?? true, found: [] }
      if (isExact === undefined) {
        const probe = yield* readNow(service, [first])
        isExact = probe.isExact
        if (isExact && probe.found === undefined) return { isExact, found: undefined }
        if (!isExact) yield* lookUp([first])
      }
      if (isExact) return yield* readParts(emails)
      const whole = yield* isWhole
      if (whole === undefined) return { isExact, found: undefined }
      return { isExact, found: yield* whole ? inSnapshot(emails) : lookUp(emails) }
    })
  }
})
