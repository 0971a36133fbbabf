/**
 * The operations on contacts: from the contract to the service.
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
import { HttpApiBuilder } from "effect/http-api"
import { readImport } from "./ImportRequest.ts"
import { ServedApi } from "./ServedApi.ts"
import { orWire } from "./WireAnswer.ts"

const isExportId = Schema.is(ExportId)

const ruleText = Effect.fnUntraced(function* (rule: string | undefined) {
  if (rule === undefined) return undefined
  yield* Effect.fromResult(parseRule(rule))
  return RuleText.make(rule)
})

/**
 * @internal
 */
export const ContactsHandlers = HttpApiBuilder.group(
  ServedApi,
  "contacts",
  Effect.fnUntraced(function* (handlers) {
    const contacts = yield* ContactsService
    return handlers
      .handle("contactsByEmailGet", ({ params }) => orWire(contacts.get(params.email)))
      .handle("contactsByEmailPut", ({ params, payload }) => orWire(contacts.update(params.email, payload)))
      .handle("contactsByEmailDelete", ({ params }) => orWire(contacts.delete(params.email)))
      .handle("contactsGet", ({ query: { limit, offset, rule } }) =>
        ruleText(rule).pipe(
          Effect.flatMap((rule) => contacts.list({ limit, offset, rule })),
          orWire
        )
      )
      .handle("contactsPost", ({ payload, query }) => orWire(contacts.add(payload, { listNames: query.listnames })))
      .handle("contactsDeletePost", ({ payload }) =>
        contactFilterFromInput({ rule: payload.rule ?? undefined, emails: payload.emails ?? undefined }).pipe(
          Effect.flatMap(Effect.fromOption),
          Effect.catchTag("NoSuchElementError", () =>
            Effect.fail(new InvalidInput({ field: "body", issue: "it says neither by which Rule nor which Emails" }))
          ),
          Effect.flatMap(contacts.deleteMany),
          orWire
        )
      )
      .handle("contactsExportPost", ({ query: { emails, rule, ...format } }) =>
        contactFilterFromInput({ rule, emails }).pipe(
          Effect.flatMap((filter) => contacts.export({ ...format, filter: Option.getOrUndefined(filter) })),
          orWire
        )
      )
      .handle("contactsExportByIdStatusGet", ({ params: { id } }) =>
        orWire(isExportId(id) ? contacts.exportStatus(id) : Effect.fail(new ExportNotFound({ id })))
      )
      .handleRaw("contactsImportPost", ({ query, request }) =>
        readImport(request, query).pipe(
          Effect.flatMap(({ options, source }) => contacts.import(source, options)),
          orWire
        )
      )
  })
)
