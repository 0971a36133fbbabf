/** Handles the operations on contacts. */
import {
  type Contact,
  contactFilterFromInput,
  ContactsService,
  ExportId,
  ExportNotFound,
  InvalidInput,
  parseRule,
  RuleText
} from "@roster/domain"
import { contactJson, contactsJson } from "@roster/domain/ContactJson"
import { Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { readImport, temporaryFileFailed } from "./ImportForm.ts"
import { makeUploads } from "../jobs/imports/Uploads.ts"
import { encodedBeforeCommit } from "../store/AnswerEncoding.ts"
import type { Handlers } from "./Routes.ts"
import { toWireError } from "./WireErrors.ts"

const json = (text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, { contentType: "application/json" })

const responseOfOne = (contact: Contact) => json(contactJson(contact))
const responseOfAll = (contacts: ReadonlyArray<Contact>) => json(contactsJson(contacts))

const isExportId = Schema.is(ExportId)

const ruleText = Effect.fnUntraced(function* (rule: string | undefined) {
  if (rule === undefined) return undefined
  yield* Effect.fromResult(parseRule(rule))
  return RuleText.make(rule)
})

export const contactsHandlers = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const beginUpload = makeUploads()
  const handlers: Handlers<"contacts"> = {
    contactsByEmailGet: ({ params }) => toWireError(Effect.map(contacts.get(params.email), responseOfOne)),
    contactsByEmailPut: ({ params, payload }) =>
      toWireError(encodedBeforeCommit(contacts.update(params.email, payload), responseOfOne)),
    contactsByEmailDelete: ({ params }) => toWireError(contacts.delete(params.email)),
    contactsGet: ({ query: { limit, offset, rule } }) =>
      ruleText(rule).pipe(
        Effect.flatMap((rule) => contacts.list({ limit, offset, rule })),
        Effect.map(responseOfAll),
        toWireError
      ),
    contactsPost: ({ payload, query }) =>
      toWireError(encodedBeforeCommit(contacts.add(payload, { listNames: query.listnames }), responseOfAll)),
    contactsDeletePost: ({ payload: { emails, rule } }) =>
      // Some clients send both and leave one of them empty or null.
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
      readImport(beginUpload, request, query).pipe(
        Effect.flatMap(({ options, source }) => contacts.import(source, options)),
        // The content of the source is the temporary file.
        Effect.catchTag("PlatformError", () => temporaryFileFailed),
        toWireError
      )
  }
  return handlers
})
