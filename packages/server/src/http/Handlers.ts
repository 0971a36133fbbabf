/** Handles the operations: each translates a call of a service. */
import { callHeader, idempotencyKeyHeader, resubscribeHeader } from "@roster/api"
import {
  AccountService,
  type Contact,
  ContactFilter,
  ContactsService,
  CredentialsService,
  type EmailsPayload,
  EmailsService,
  type ExportLink,
  ExportNotFound,
  InvalidInput,
  CallName,
  ListsService,
  type KeyedCall,
  RunsService
} from "@roster/domain"
import { contactFilterFromInput, isRecordId, resubscribeIn } from "@roster/domain/internal"
import { contactJson } from "@roster/domain/ContactJson"
import { Effect, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { AuditRefusals } from "../credentials/AuditRefusals.ts"
import { eventOf } from "../credentials/AuditTrail.ts"
import { Caller } from "../credentials/Caller.ts"
import { ContactAnswers } from "../requests/ContactAnswers.ts"
import { inTurn, Turns } from "../requests/Turns.ts"
import { readImport, temporaryFileFailed } from "./ImportForm.ts"
import { makeUploadLimits } from "../requests/ImportUploadLimits.ts"
import { encodedBeforeCommit } from "../store/AnswerEncoding.ts"
import type { Handlers } from "./Routes.ts"
import { toWireError, toWireErrorOfList } from "./WireErrors.ts"

const contentType = "application/json"

const responseOfOne = (contact: Contact) => HttpServerResponse.text(contactJson(contact), { contentType })

/** The statuses that a request lifts; `undefined` if it does not say. */
const resubscribeOf = Effect.fnUntraced(function* ({ headers }: HttpServerRequest.HttpServerRequest) {
  const said = headers[resubscribeHeader.toLowerCase()]
  if (said === undefined) return undefined
  const resubscribe = resubscribeIn(said)
  if (resubscribe !== undefined) return resubscribe
  const issue = "it is allow, deny, or statuses that stop mail, such as Bounced,NotConfirmed"
  return yield* new InvalidInput({ field: resubscribeHeader, issue })
})

/** The contacts that an export is of. A body that chooses none would export everybody. */
const selectionOf = (body: EmailsPayload | void, query: EmailsPayload): Effect.Effect<EmailsPayload, InvalidInput> => {
  if (body === undefined) return Effect.succeed(query)
  const { emails, rule } = body
  const isInQuery = query.rule !== undefined || query.emails !== undefined
  const issue = isInQuery
    ? "Rule and Emails are given in the query or in the body, not in both"
    : "it says neither by which Rule nor which Emails"
  return isInQuery || (rule === undefined && emails === undefined)
    ? Effect.fail(new InvalidInput({ field: "body", issue }))
    : Effect.succeed({ rule, emails })
}

/** Makes the function that does something to the contacts of a body: those of addresses in turn with other writes. */
const makeBulkTurn = Effect.map(Turns, ({ write }) => {
  const inWriteTurn = inTurn(write)
  return <A, E, R>({ emails, rule }: EmailsPayload, act: (filter: ContactFilter) => Effect.Effect<A, E, R>) =>
    // Some clients send both and leave one of them empty or null.
    contactFilterFromInput({ rule: rule || undefined, emails: emails?.length ? emails : undefined }).pipe(
      Effect.flatMap(Effect.fromOption),
      Effect.catchTag("NoSuchElementError", () =>
        Effect.fail(new InvalidInput({ field: "body", issue: "it says neither by which Rule nor which Emails" }))
      ),
      // Nobody waits for the scan of a rule.
      Effect.flatMap((filter) => (ContactFilter.$is("ByEmails")(filter) ? inWriteTurn(act(filter)) : act(filter)))
    )
})

const contactsHandlers = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const beginUpload = yield* makeUploadLimits
  const answers = yield* ContactAnswers
  const inBulkTurn = yield* makeBulkTurn
  const trail = yield* AuditRefusals
  /** Contacts are about to leave. The owner within this process needs no trail. */
  const recordExport = ({ id }: ExportLink) =>
    Effect.flatMap(Caller, (caller) =>
      caller.key === undefined
        ? Effect.void
        : trail.record({ ...eventOf(caller, "contactsExportPost"), subject: id }, "Exported")
    )
  const handlers: Handlers<"contacts"> = {
    contactsByEmailGet: ({ params, query }) =>
      toWireError(Effect.map(contacts.get(params.email, query), responseOfOne)),
    contactsByEmailHistoryGet: ({ params, query }) => toWireError(contacts.history(params.email, query)),
    contactsByEmailPut: ({ params, payload }) =>
      toWireError(encodedBeforeCommit(contacts.update(params.email, payload), responseOfOne)),
    contactsByEmailDelete: ({ params }) => toWireError(contacts.delete(params.email)),
    contactsGet: ({ query: { afterContact: after, ...page } }) => toWireError(answers.list({ ...page, after })),
    contactsCountGet: ({ query }) => toWireError(contacts.count(query)),
    contactsFieldsGet: ({ query }) => toWireError(contacts.fields(query)),
    contactsLookupPost: ({ payload, query }) => toWireError(answers.getMany(payload.emails, query)),
    contactsSearchPost: ({ payload: { rule }, query: { afterContact: after, count = false, ...page } }) =>
      count ? toWireError(contacts.count({ rule })) : toWireError(answers.list({ ...page, after, rule })),
    contactsPost: ({ payload, query, request }) =>
      resubscribeOf(request).pipe(
        Effect.flatMap((resubscribe) => {
          const { defaultStatus, listnames: listNames, only } = query
          return answers.add(payload, { listNames, only, defaultStatus, resubscribe })
        }),
        toWireError
      ),
    contactsChangesPost: ({ payload, query }) => toWireError(answers.change(payload, query)),
    contactsDeletePost: ({ payload }) => toWireError(inBulkTurn(payload, contacts.deleteMany)),
    contactsExportPost: ({ payload, query: { emails, rule, ...format }, request }) =>
      selectionOf(payload, { rule, emails }).pipe(
        Effect.flatMap(contactFilterFromInput),
        Effect.flatMap((filter) =>
          contacts.export({ ...format, filter: Option.getOrUndefined(filter) }, keyOf(request))
        ),
        Effect.tap(recordExport),
        toWireError
      ),
    contactsExportByIdStatusGet: ({ params: { id } }) =>
      contacts.exportStatus(id).pipe(
        Effect.catchTag("InvalidInput", () => Effect.fail(new ExportNotFound({ id }))),
        toWireError
      ),
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

/** The key of a call whose answer is not kept. */
const keyOf = ({ headers }: HttpServerRequest.HttpServerRequest): KeyedCall => ({
  idempotencyKey: headers[idempotencyKeyHeader.toLowerCase()]
})

/** Names the call that a request is an attempt of. */
const ofCall = ({ headers }: HttpServerRequest.HttpServerRequest) => {
  const name = headers[callHeader.toLowerCase()]
  return Effect.provideService(CallName, name !== undefined && isRecordId(name) ? name : undefined)
}

const credentialsHandlers = Effect.gen(function* () {
  const { apiKeys, smtp } = yield* CredentialsService
  const handlers: Handlers<"security"> = {
    securityApikeysGet: ({ query }) => toWireError(apiKeys.list(query)),
    securityApikeysByNameGet: ({ params, query }) => toWireError(apiKeys.get(params.name, query)),
    securityApikeysPost: ({ payload, request }) =>
      toWireError(ofCall(request)(apiKeys.create(payload, keyOf(request)))),
    securityApikeysByNamePut: ({ params, payload }) => toWireError(apiKeys.update(params.name, payload)),
    securityApikeysByNameDelete: ({ params, query }) => toWireError(apiKeys.delete(params.name, query)),
    securitySmtpGet: ({ query }) => toWireError(smtp.list(query)),
    securitySmtpByNameGet: ({ params, query }) => toWireError(smtp.get(params.name, query)),
    securitySmtpPost: ({ payload, request }) => toWireError(ofCall(request)(smtp.create(payload, keyOf(request)))),
    securitySmtpByNamePut: ({ params, payload }) => toWireError(smtp.update(params.name, payload)),
    securitySmtpByNameDelete: ({ params, query }) => toWireError(smtp.delete(params.name, query))
  }
  return handlers
})

const emailsHandlers = Effect.map(EmailsService, (emails): Handlers<"emails"> => ({
  emailsPost: ({ payload }) => toWireError(emails.send(payload))
}))

const runsHandlers = Effect.map(RunsService, (runs): Handlers<"runs"> => ({
  runsPost: ({ payload }) => toWireError(runs.begin(payload)),
  runsGet: ({ query: { beforeRun, limit } }) => toWireError(runs.list({ limit, before: beforeRun })),
  runsByIdGet: ({ params }) => toWireError(runs.get(params.id)),
  runsByIdChangesGet: ({ params, query }) => toWireError(runs.changes(params.id, query)),
  runsByIdEndPost: ({ params, query }) => toWireError(runs.end(params.id, query)),
  runsByIdStepPost: ({ params, payload }) => toWireError(runs.step(params.id, payload.state)),
  runsByIdErasePost: ({ params, payload }) => toWireError(runs.erase(params.id, payload.numbers))
}))

const listsHandlers = Effect.gen(function* () {
  const lists = yield* ListsService
  const answers = yield* ContactAnswers
  const inBulkTurn = yield* makeBulkTurn
  const handlers: Handlers<"lists"> = {
    listsGet: ({ query }) => toWireError(lists.list(query)),
    listsPost: ({ payload }) => toWireError(lists.create(payload)),
    listsByNameGet: ({ params }) => toWireErrorOfList(lists.get(params.name)),
    listsByNamePut: ({ params, payload }) => toWireErrorOfList(lists.update(params.name, payload)),
    listsByNameDelete: ({ params }) => toWireErrorOfList(lists.delete(params.name)),
    listsByListnameContactsGet: ({ params, query }) => toWireErrorOfList(answers.onList(params.name, query)),
    listsByNameContactsPost: ({ params, payload }) =>
      toWireErrorOfList(inBulkTurn(payload, (filter) => lists.add(params.name, filter))),
    listsByNameContactsRemovePost: ({ params, payload }) =>
      toWireErrorOfList(inBulkTurn(payload, (filter) => lists.remove(params.name, filter)))
  }
  return handlers
})

const accountHandlers = Effect.map(AccountService, (account): Handlers<"account"> => ({
  accountKeyGet: () => toWireError(account.key),
  accountAuditGet: ({ query: { beforeEntry: before, ...query } }) =>
    toWireError(account.auditTrail({ ...query, before })),
  accountKeyUsesGet: ({ query }) => toWireError(account.keyUses(query)),
  accountJobsGet: ({ query: { beforeJob: before, limit } }) => toWireError(account.jobs({ before, limit })),
  accountJobsByIdGet: ({ params }) => toWireError(account.job(params.id)),
  accountJobsByIdCancelPost: ({ params }) => toWireError(account.cancelJob(params.id)),
  accountJobsByIdRejectedGet: ({ params, query: { afterLine: after, limit } }) =>
    toWireError(account.rejectedRows(params.id, { after, limit })),
  accountJobsByIdKeptGet: ({ params }) => toWireError(account.keptStatuses(params.id)),
  accountOverviewGet: () => toWireError(account.overview),
  accountEmailsGet: ({ query: { beforeEmail: before, limit } }) => toWireError(account.emails({ before, limit })),
  accountEmailsByIdGet: ({ params }) => toWireError(account.email(params.id)),
  accountRulesGet: () => toWireError(account.rules),
  accountRulesByNamePut: ({ params, payload }) =>
    toWireError(account.saveRule(params.name, payload.rule, { view: payload.view })),
  accountRulesByNameDelete: ({ params }) => toWireError(account.removeRule(params.name))
}))

/** The handlers of all operations. */
export const makeHandlers = Effect.all({
  contacts: contactsHandlers,
  security: credentialsHandlers,
  emails: emailsHandlers,
  runs: runsHandlers,
  lists: listsHandlers,
  account: accountHandlers
})
