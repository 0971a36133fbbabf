/**
 * The operations on contacts: from the contract to the service. Contacts are answered as the text of their rows.
 */
import {
  contactFilterFromInput,
  ContactsService,
  ExportId,
  ExportNotFound,
  InvalidInput,
  parseRule,
  RuleText
} from "@roster/domain"
import { Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ContactRow } from "../contacts/ContactRow.ts"
import { makeContactRows } from "../contacts/ContactRepository.ts"
import { contactsText, contactText } from "../contacts/ContactJson.ts"
import type { Handlers } from "./Routes.ts"
import { temporaryFileFailed, readImport } from "./ImportForm.ts"
import { toWireError } from "./WireErrors.ts"

const json = (text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, { contentType: "application/json" })

const isExportId = Schema.is(ExportId)

const ruleText = Effect.fnUntraced(function* (rule: string | undefined) {
  if (rule === undefined) return undefined
  yield* Effect.fromResult(parseRule(rule))
  return RuleText.make(rule)
})

export const contactsHandlers = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const rows = yield* makeContactRows
  const answerOne = Effect.map((row: ContactRow) => json(contactText(row)))
  const answerAll = Effect.map((rows: ReadonlyArray<ContactRow>) => json(contactsText(rows)))
  const handlers: Handlers<"contacts"> = {
    contactsByEmailGet: ({ params }) => toWireError(answerOne(rows.get(params.email))),
    contactsByEmailPut: ({ params, payload }) => toWireError(answerOne(rows.update(params.email, payload))),
    contactsByEmailDelete: ({ params }) => toWireError(contacts.delete(params.email)),
    contactsGet: ({ query: { limit, offset, rule } }) =>
      ruleText(rule).pipe(
        Effect.flatMap((rule) => rows.list({ limit, offset, rule })),
        answerAll,
        toWireError
      ),
    contactsPost: ({ payload, query }) => toWireError(answerAll(rows.add(payload, { listNames: query.listnames }))),
    contactsDeletePost: ({ payload: { emails, rule } }) =>
      // Some clients send both, the one that is not meant empty or null.
      contactFilterFromInput({ rule: rule || undefined, emails: emails?.length ? emails : undefined }).pipe(
        Effect.flatMap(Effect.fromOption),
        Effect.catchTag("NoSuchElementError", () =>
          Effect.fail(new InvalidInput({ field: "body", issue: "it says neither by which Rule nor which Emails" }))
        ),
        Effect.flatMap(contacts.deleteMany),
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
      readImport(request, query).pipe(
        Effect.flatMap(({ options, source }) => contacts.import(source, options)),
        // Here the content is a file of our own.
        Effect.catchTag("PlatformError", () => temporaryFileFailed),
        toWireError
      )
  }
  return handlers
})
