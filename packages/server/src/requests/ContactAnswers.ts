/**
 * Answers that hold contacts. One of more than 1 MiB is read and written in pieces, each when the client has taken the one
 * before, so that neither a connection nor its text waits for a slow reader. (docs/decisions/paging.md)
 */
import {
  type AddOptions,
  type ChangeOptions,
  type Contact,
  type ContactChange,
  type ContactPayload,
  type ContactsPage,
  type GetOptions,
  type InvalidInput,
  type InvalidRule,
  type ListContactsPage,
  type ListNotFound,
  type ServiceError,
  type TooManyContacts
} from "@roster/domain"
import { fnRedacted } from "@roster/domain/internal"
import { answersJson, contactsJson } from "@roster/domain/ContactJson"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { SqlClient, type SqlError } from "effect/sql"
import { Caller, mayViewContacts } from "../credentials/Caller.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { inTurn, Turns } from "./Turns.ts"
import {
  answerBytesOf,
  contactsAt,
  contactsWith,
  LargeAnswer,
  makeListPages,
  makePages,
  type PlacedContact
} from "../contacts/ContactPagination.ts"
import { changeContacts, type JudgedChange } from "../contacts/ContactChanges.ts"
import { addContacts, shownTo } from "../contacts/ContactRepository.ts"
import { contactsByAddress, toContact } from "../contacts/ContactRow.ts"
import { listsOf } from "../contacts/ListMembers.ts"
import type { RuleScans } from "../contacts/RuleScans.ts"

/** The most bytes of an answer that is made at once. */
const mostAtOnce = 1024 * 1024

/** The bytes of a piece of a larger one. */
const pieceBytes = 256 * 1024

/** A page of at most so many contacts without their lists is made at once, without a look at their sizes. */
const smallPage = 20

const mostOf = ({ limit = 0, lists }: ContactsPage) => (limit <= smallPage && lists !== true ? undefined : mostAtOnce)

const contentType = "application/json"

/** The responses to calls of `ContactsService` that give many contacts. */
export class ContactAnswers extends Context.Service<
  ContactAnswers,
  {
    readonly list: (
      page: ContactsPage
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, InvalidRule | InvalidInput | ServiceError>
    readonly onList: (
      name: string,
      page: ListContactsPage
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, ListNotFound | InvalidInput | ServiceError>
    readonly getMany: (
      emails: ReadonlyArray<string>,
      options: GetOptions
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, TooManyContacts | InvalidInput | ServiceError>
    readonly add: (
      contacts: ReadonlyArray<ContactPayload>,
      options: Omit<AddOptions, "idempotencyKey">
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, TooManyContacts | InvalidInput | ServiceError>
    readonly change: (
      changes: ReadonlyArray<ContactChange>,
      options: ChangeOptions
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, TooManyContacts | InvalidInput | ServiceError>
  }
>()("@roster/server/ContactAnswers") {}

const whole = (json: string) => HttpServerResponse.text(json, { contentType })

const utf8 = new TextEncoder()

/** Whether an answer shows a contact. */
const showsContact = ({ answer: { contact, lists } }: JudgedChange): boolean => lists !== undefined && contact !== null

/** What a large answer keeps of a change until it is written. */
const withoutContact = (one: JudgedChange): JudgedChange =>
  showsContact(one) ? { ...one, answer: { result: one.answer.result, lists: [] } } : one

/** A contact that was written; without itself if it is one of too many bytes. */
interface Written extends Pick<PlacedContact, "bytes"> {
  readonly contact: Contact | undefined
}

/** Keeps those of the contacts that were written that can be answered at once. */
const makeReader = (most: number) => {
  let bytes = 0
  return (contact: Contact): Written => {
    const own = answerBytesOf(contact)
    bytes += own
    return { bytes: own, contact: bytes > most ? undefined : contact }
  }
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const inPageTurn = inTurn((yield* Turns).page)
  const pages = yield* makePages
  const listPages = yield* makeListPages

  /** Reads the parts of an answer as they are when it is their turn. */
  const inPieces = Effect.fnUntraced(function* <Part extends { readonly bytes: number }, A>(
    operation: string,
    parts: ReadonlyArray<Part>,
    find: (some: ReadonlyArray<Part>) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError, SqlClient.SqlClient>,
    jsonOf: (values: ReadonlyArray<A>) => string
  ) {
    const caller = yield* Caller
    const read = (some: ReadonlyArray<Part>) =>
      Effect.gen(function* () {
        // A call with an Idempotency-Key reads its answer in its transaction. Others wait for that, so it takes no turn.
        const isWithin = Option.isSome(yield* Effect.serviceOption(sql.transactionService))
        return yield* isWithin ? find(some) : inPageTurn(find(some))
      }).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.provideService(Caller, caller),
        orStoreFailure(operation)
      )
    const pieces = Stream.paginate(
      { from: 0, before: "[" },
      Effect.fnUntraced(function* ({ before, from }) {
        let until = from
        for (let bytes = 0; until < parts.length && bytes < pieceBytes; until++) bytes += parts[until]?.bytes ?? 0
        const found = yield* read(parts.slice(from, until))
        const isLast = until === parts.length
        const begin = found.length === 0 && before === "," ? "" : before
        const piece = utf8.encode(begin + jsonOf(found).slice(1, -1) + (isLast ? "]" : ""))
        const next = { from: until, before: found.length > 0 ? "," : before === "[" ? "" : before }
        return [[piece], isLast ? Option.none() : Option.some(next)] as const
      })
    )
    return HttpServerResponse.stream(pieces, { contentType })
  })

  /** Those that were deleted meanwhile are left out. */
  const contactsInPieces = (operation: string, contacts: ReadonlyArray<PlacedContact>, lists = false) =>
    inPieces(operation, contacts, (some) => contactsAt(some, lists), contactsJson)

  const answerOf = (
    operation: string,
    found: LargeAnswer | ReadonlyArray<Contact>,
    { lists }: Pick<ContactsPage, "lists">
  ) =>
    found instanceof LargeAnswer
      ? contactsInPieces(operation, found.contacts, lists)
      : Effect.sync(() => whole(contactsJson(found)))

  /** What became of changes, with their contacts as they are when they are read. */
  const readAgain = Effect.fnUntraced(function* (some: ReadonlyArray<JudgedChange>) {
    const { account } = yield* Caller
    const identities = new Set(some.filter(showsContact).map(({ identity }) => identity))
    const rows = yield* contactsByAddress(account, [...identities])
    const lists = yield* listsOf(Array.from(rows.values(), ([id]) => Number(id)))
    return some.map((one) => {
      if (!showsContact(one)) return one.answer
      const row = rows.get(one.identity)
      const names = [...(lists.get(Number(row?.[0])) ?? [])].sort()
      return { ...one.answer, contact: row === undefined ? null : toContact(row), lists: names }
    })
  })

  return ContactAnswers.of({
    list: fnRedacted("ContactsService.list")(
      function* (page) {
        const find = pages(page, mostOf(page))
        // Nobody waits for the scan of a rule.
        const found = yield* page.rule === undefined ? inPageTurn(find) : find
        return yield* answerOf("contactsGet", found, page)
      },
      Effect.provideService(SqlClient.SqlClient, sql),
      orStoreFailure("contactsGet")
    ),
    onList: fnRedacted("ListsService.contacts")(
      function* (name, page) {
        const found = yield* inPageTurn(listPages(name, page, mostOf(page)))
        return yield* answerOf("listsByListnameContactsGet", found, page)
      },
      Effect.provideService(SqlClient.SqlClient, sql),
      orStoreFailure("listsByListnameContactsGet")
    ),
    getMany: fnRedacted("ContactsService.getMany")(
      function* (emails, options) {
        const found = yield* inPageTurn(contactsWith(emails, options.lists, mostAtOnce))
        return yield* answerOf("contactsLookupPost", found, options)
      },
      Effect.provideService(SqlClient.SqlClient, sql),
      orStoreFailure("contactsLookupPost")
    ),
    add: fnRedacted("ContactsService.add")(
      function* (contacts, options) {
        const caller = yield* Caller
        // What is shown is no larger than what was sent.
        const read = makeReader(mayViewContacts(caller) ? mostAtOnce : Infinity)
        return yield* addContacts(contacts, { ...options, isDecoded: true }, read, (written, sent) => {
          const kept = written.flatMap(({ contact }, index) => {
            const own = sent[index]
            return contact === undefined || own === undefined ? [] : [shownTo(caller, contact, own)]
          })
          return kept.length === written.length
            ? Effect.sync(() => whole(contactsJson(kept)))
            : contactsInPieces(
                "contactsPost",
                written.map(({ bytes, id }, index) => {
                  const email = sent[index]?.email
                  return { bytes, id, absent: id === 0 && email !== undefined ? { email } : undefined }
                })
              )
        })
      },
      Effect.provideService(SqlClient.SqlClient, sql),
      orStoreFailure("contactsPost")
    ),
    change: fnRedacted("ContactsService.change")(
      function* (changes, options) {
        return yield* changeContacts(changes, { ...options, isDecoded: true, mostBytes: mostAtOnce }, (judged) => {
          const isLarge = judged.some((one) => showsContact(one) && one.answer.contact === undefined)
          return isLarge
            ? inPieces("contactsChangesPost", judged.map(withoutContact), readAgain, answersJson)
            : Effect.sync(() => whole(answersJson(judged.map(({ answer }) => answer))))
        })
      },
      Effect.provideService(SqlClient.SqlClient, sql),
      orStoreFailure("contactsChangesPost")
    )
  })
})

/** Provides the answers of a store. */
export const layer: Layer.Layer<ContactAnswers, never, SqlClient.SqlClient | RuleScans | Turns> = Layer.effect(
  ContactAnswers,
  make
)
