/**
 * Answers that hold contacts. One of more than 1 MiB is read and written in pieces, each when the client has taken the one
 * before, so that neither a connection nor its text waits for a slow reader. (docs/decisions/paging.md)
 */
import {
  type AddOptions,
  type Contact,
  type ContactPayload,
  type ContactsPage,
  fnRedacted,
  type InvalidInput,
  type InvalidRule,
  type ServiceError,
  type TooManyContacts
} from "@roster/domain"
import { contactsJson, contactsPiece } from "@roster/domain/ContactJson"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { inTurn, Turns } from "./Turns.ts"
import {
  answerBytesOf,
  contactsByIds,
  LargeAnswer,
  makePages,
  type PlacedContact
} from "../contacts/ContactPagination.ts"
import { addContacts } from "../contacts/ContactRepository.ts"
import { toContact } from "../contacts/ContactRow.generated.ts"
import type { RuleScans } from "../contacts/RuleScans.ts"

/** The most bytes of an answer that is made at once. */
const mostAtOnce = 1024 * 1024

/** The bytes of a piece of a larger one. */
const pieceBytes = 256 * 1024

/** A page of at most so many contacts is made at once, without a look at their sizes. */
const smallPage = 20

const contentType = "application/json"

/** The responses to calls of `ContactsService` that give many contacts. */
export class ContactAnswers extends Context.Service<
  ContactAnswers,
  {
    readonly list: (
      page: ContactsPage
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, InvalidRule | InvalidInput | ServiceError>
    readonly add: (
      contacts: ReadonlyArray<ContactPayload>,
      options: Omit<AddOptions, "idempotencyKey">
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, TooManyContacts | InvalidInput | ServiceError>
  }
>()("@roster/server/ContactAnswers") {}

const whole = (contacts: ReadonlyArray<Contact>) => {
  const json = contactsJson(contacts)
  // A text leaves in one write with the head, and a large one would be copied.
  return typeof json === "string"
    ? HttpServerResponse.text(json, { contentType })
    : HttpServerResponse.uint8Array(json, { contentType })
}

/** A contact that was written; without itself if it is one of too many bytes. */
interface Written extends PlacedContact {
  readonly contact: Contact | undefined
}

/** Reads rows that were written, and keeps those of them that can be answered at once. */
const makeReader = () => {
  let bytes = 0
  return (row: ReadonlyArray<unknown>): Written => {
    const own = answerBytesOf(row)
    bytes += own
    return { id: Number(row[0]), bytes: own, contact: bytes > mostAtOnce ? undefined : toContact(row) }
  }
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const inPageTurn = inTurn((yield* Turns).page)
  const pages = yield* makePages

  /** Reads contacts as they are when it is their turn; those that were deleted meanwhile are left out. */
  const inPieces = Effect.fnUntraced(function* (operation: string, { contacts }: LargeAnswer) {
    const caller = yield* Caller
    const read = (ids: ReadonlyArray<number>) =>
      Effect.gen(function* () {
        // One that is kept with its call is read within its transaction, for which others wait.
        const isWithin = Option.isSome(yield* Effect.serviceOption(sql.transactionService))
        return yield* isWithin ? contactsByIds(ids) : inPageTurn(contactsByIds(ids))
      }).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.provideService(Caller, caller),
        orStoreFailure(operation)
      )
    const pieces = Stream.paginate(
      { from: 0, before: "[" },
      Effect.fnUntraced(function* ({ before, from }) {
        let until = from
        for (let bytes = 0; until < contacts.length && bytes < pieceBytes; until++) bytes += contacts[until]?.bytes ?? 0
        const found = yield* read(contacts.slice(from, until).map(({ id }) => id))
        const isLast = until === contacts.length
        const piece = contactsPiece(found, found.length === 0 && before === "," ? "" : before, isLast ? "]" : "")
        const next = { from: until, before: found.length > 0 ? "," : before === "[" ? "" : before }
        return [[piece], isLast ? Option.none() : Option.some(next)] as const
      })
    )
    return HttpServerResponse.stream(pieces, { contentType })
  })

  return ContactAnswers.of({
    list: fnRedacted("ContactsService.list")(
      function* (page) {
        const find = pages(page, (page.limit ?? 0) <= smallPage ? undefined : mostAtOnce)
        // Nobody waits for the scan of a rule.
        const found = yield* page.rule === undefined ? inPageTurn(find) : find
        return found instanceof LargeAnswer ? yield* inPieces("contactsGet", found) : whole(found)
      },
      Effect.provideService(SqlClient.SqlClient, sql),
      orStoreFailure("contactsGet")
    ),
    add: fnRedacted("ContactsService.add")(
      function* (contacts, options) {
        return yield* addContacts(contacts, { ...options, isDecoded: true }, makeReader(), (written) => {
          const kept = written.flatMap(({ contact }) => (contact === undefined ? [] : [contact]))
          return kept.length === written.length
            ? Effect.sync(() => whole(kept))
            : inPieces("contactsPost", new LargeAnswer({ contacts: written.map(({ bytes, id }) => ({ bytes, id })) }))
        })
      },
      Effect.provideService(SqlClient.SqlClient, sql),
      orStoreFailure("contactsPost")
    )
  })
})

/** Provides the answers of a store. */
export const layer: Layer.Layer<ContactAnswers, never, SqlClient.SqlClient | RuleScans | Turns> = Layer.effect(
  ContactAnswers,
  make
)
