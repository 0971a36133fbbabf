/** Handles the operations on contacts. */
import { resubscribeHeader } from "@roster/api"
import {
  checkPage,
  type Contact,
  ContactFilter,
  contactFilterFromInput,
  ContactsService,
  ExportId,
  ExportNotFound,
  InvalidInput,
  parseRule,
  RuleText
} from "@roster/domain"
import { contactJson, contactsJson } from "@roster/domain/ContactJson"
import { DateTime, Effect, Option, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { bytesOfIds, pageBytes } from "../contacts/ContactPagination.ts"
import { FoundBefore } from "../contacts/RuleScans.ts"
import { readRule } from "../contacts/RuleSql.ts"
import { Caller } from "../credentials/Caller.ts"
import { freeWhenSent, largeRequest, LargeRequests, makeInTurn } from "../requests/LargeRequests.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { readImport, temporaryFileFailed } from "./ImportForm.ts"
import { makeUploads } from "../jobs/imports/Uploads.ts"
import { encodedBeforeCommit } from "../store/AnswerEncoding.ts"
import { errorResponse, type Handlers } from "./Routes.ts"
import { toWireError } from "./WireErrors.ts"

const contentType = "application/json"

const responseOfOne = (contact: Contact) => HttpServerResponse.text(contactJson(contact), { contentType })
const responseOfAll = (contacts: ReadonlyArray<Contact>) => {
  const json = contactsJson(contacts)
  // A text leaves in one write with the head, and a large one would be copied.
  return typeof json === "string"
    ? HttpServerResponse.text(json, { contentType })
    : HttpServerResponse.uint8Array(json, { contentType })
}

const isExportId = Schema.is(ExportId)

const ruleText = Effect.fnUntraced(function* (rule: string | undefined) {
  if (rule === undefined) return undefined
  yield* Effect.fromResult(parseRule(rule))
  return RuleText.make(rule)
})

/** Whether a request lets an add or an import resubscribe contacts; `undefined` if it does not say. */
const resubscribeOf = ({
  headers
}: HttpServerRequest.HttpServerRequest): Effect.Effect<boolean | undefined, InvalidInput> => {
  const said = headers[resubscribeHeader.toLowerCase()]
  if (said === undefined) return Effect.undefined
  return said === "allow" || said === "deny"
    ? Effect.succeed(said === "allow")
    : Effect.fail(new InvalidInput({ field: resubscribeHeader, issue: "it is allow or deny" }))
}

/** A page of at most so many contacts is not large: with more of the largest size it takes some 10 ms. */
const smallPage = 20

/**
 * Has large pages answered by the thread for large requests, where there is one. The others are then made in turn: many
 * that arrive together would keep the event loop.
 */
const makePages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const thread = yield* LargeRequests
  const inTurn = yield* makeInTurn
  return <E, R>(
    {
      limit = 0,
      offset = 0,
      rule
    }: {
      readonly limit?: number | undefined
      readonly offset?: number | undefined
      readonly rule?: RuleText | undefined
    },
    request: HttpServerRequest.HttpServerRequest,
    answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) => {
    if (thread === undefined) return answer
    const isSmall = limit <= smallPage
    const freed = Effect.tap(answer, (response) => Effect.sync(() => freeWhenSent(request, response)))
    return Effect.gen(function* () {
      yield* checkPage({ limit, offset })
      const { account } = yield* Caller
      const condition = rule === undefined ? undefined : yield* readRule(rule)
      let ids: Float64Array<ArrayBuffer> | undefined
      if (condition !== undefined && condition._tag !== "All") {
        // Nobody waits for a scan.
        if (isSmall) return yield* freed
        const now = (yield* DateTime.now).epochMilliseconds
        ids = yield* thread.find("contactsGet", { account, rule: condition, now, after: 0, offset, limit })
      }
      const answerUnlessLarge = Effect.gen(function* () {
        const bytes = isSmall ? 0 : yield* ids === undefined ? pageBytes(account, { limit, offset }) : bytesOfIds(ids)
        return bytes < largeRequest ? yield* Effect.provideService(freed, FoundBefore, ids) : undefined
      })
      return (
        (yield* inTurn("page", answerUnlessLarge)) ??
        (yield* thread.answer(request, { ids }, ({ status, text }) => Effect.succeed(errorResponse(status, text))))
      )
    }).pipe(Effect.provideService(SqlClient.SqlClient, sql), orStoreFailure("contactsGet"))
  }
})

export const contactsHandlers = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const beginUpload = makeUploads()
  const inPages = yield* makePages
  const inTurn = yield* makeInTurn
  const handlers: Handlers<"contacts"> = {
    contactsByEmailGet: ({ params }) => toWireError(Effect.map(contacts.get(params.email), responseOfOne)),
    contactsByEmailPut: ({ params, payload }) =>
      toWireError(encodedBeforeCommit(contacts.update(params.email, payload), responseOfOne)),
    contactsByEmailDelete: ({ params }) => toWireError(contacts.delete(params.email)),
    contactsGet: ({ query: { limit, offset, rule }, request }) =>
      ruleText(rule).pipe(
        Effect.flatMap((rule) => {
          const page = { limit, offset, rule }
          return inPages(page, request, Effect.map(contacts.list(page), responseOfAll))
        }),
        toWireError
      ),
    contactsPost: ({ payload, query, request }) =>
      resubscribeOf(request).pipe(
        Effect.flatMap((resubscribe) =>
          encodedBeforeCommit(contacts.add(payload, { listNames: query.listnames, resubscribe }), responseOfAll)
        ),
        toWireError
      ),
    contactsDeletePost: ({ payload: { emails, rule } }) =>
      // Some clients send both and leave one of them empty or null.
      contactFilterFromInput({ rule: rule || undefined, emails: emails?.length ? emails : undefined }).pipe(
        Effect.flatMap(Effect.fromOption),
        Effect.catchTag("NoSuchElementError", () =>
          Effect.fail(new InvalidInput({ field: "body", issue: "it says neither by which Rule nor which Emails" }))
        ),
        Effect.flatMap((filter) =>
          ContactFilter.$is("ByEmails")(filter)
            ? inTurn("write", contacts.deleteMany(filter))
            : // Nobody waits for a scan.
              contacts.deleteMany(filter)
        ),
        toWireError
      ),
    contactsExportPost: ({ query: { emails, rule, ...format } }) =>
      contactFilterFromInput({ rule, emails }).pipe(
        Effect.flatMap((filter) => contacts.export({ ...format, filter: Option.getOrUndefined(filter) })),
        toWireError
      ),
    contactsExportByIdStatusGet: ({ params: { id } }) =>
      toWireError(isExportId(id) ? contacts.exportStatus(id) : Effect.fail(new ExportNotFound({ id }))),
    contactsImportPost: ({ query, request }) =>
      Effect.flatMap(resubscribeOf(request), (resubscribe) =>
        Effect.flatMap(readImport(beginUpload, request, query), ({ options, source }) =>
          contacts.import(source, { ...options, resubscribe })
        )
      ).pipe(
        // The content of the source is the temporary file.
        Effect.catchTag("PlatformError", () => temporaryFileFailed),
        toWireError
      )
  }
  return handlers
})
