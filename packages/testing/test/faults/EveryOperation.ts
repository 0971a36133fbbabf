/**
 * The twenty operations of the interface and those of our own as calls over the services, each with the smallest valid
 * input and the response that it succeeds with.
 */
import { type OperationId, operations } from "@roster/api"
import {
  AccountService,
  ContactFilter,
  ContactsService,
  CredentialName,
  CredentialsService,
  EmailAddress,
  EmailMessage,
  EmailsService,
  ExportId,
  ImportSource,
  ListsService,
  RuleText,
  RunsService
} from "@roster/domain"
import { Effect, Stream, Struct } from "effect"
import { canary } from "./Canary.ts"
import type { Answer } from "./server/FaultScript.ts"

/** The fields of every failure of an operation. */
export interface OperationFailure {
  readonly _tag: string
  readonly message: string
}

/** The services that the calls use. */
export type Services =
  | AccountService
  | ContactsService
  | CredentialsService
  | EmailsService
  | RunsService
  | ListsService

/** A call of one operation, with the response that it succeeds with. */
export interface OperationCall {
  readonly id: OperationId
  readonly method: string
  readonly call: Effect.Effect<unknown, OperationFailure, Services>
  /** The response of a service that carries it out. */
  readonly answer: Answer
}

/** A rule that no address holds. */
export const longRule = RuleText.make(
  Array.from({ length: 250 }, (_, n) => `email = 'person${n}@example.com'`).join(" OR ")
)

/** The e-mail of the calls. It is personal data, so logs and spans must not contain it. */
export const canaryEmail = EmailAddress.make("canary.person@example.com")

/** The names of the credentials of the calls. */
export const credentialNames = {
  apiKey: CredentialName.make("reporting"),
  smtp: EmailAddress.make("mailer@example.com")
} as const

/** The id of the export in the calls. */
export const exportId = ExportId.make("3fa85f64-5717-4562-b3fc-2c963f66afa6")

const json = (status: number, body: unknown): Answer => ({ status, body: JSON.stringify(body) })
const contact = { Email: canaryEmail }
const apiKey = { Name: credentialNames.apiKey, AccessLevel: ["ViewContacts"], DateCreated: "2024-01-02T03:04:05Z" }
const smtp = { Name: credentialNames.smtp, AccessLevel: "SendSmtp", DateCreated: "2024-01-02T03:04:05Z" }
const apiKeyPayload = { name: credentialNames.apiKey, accessLevels: ["ViewContacts"] } as const
const smtpPayload = { name: credentialNames.smtp }
/** The id of the run in the calls. */
export const runId = "20261128T101500Z-3fa85f64"
const run = {
  Id: runId,
  Command: "import",
  Key: null,
  Began: "2026-11-28T10:15:00Z",
  Ended: null,
  IsTaken: false,
  Changes: 1,
  Created: 1,
  Changed: 0,
  Deleted: 0
}
const nothing: Answer = { status: 200 }

type Call = Pick<OperationCall, "call" | "answer">

const contacts = <A, E>(use: (service: ContactsService["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(ContactsService, use)
const credentials = <A, E>(use: (service: CredentialsService["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(CredentialsService, use)

const runs = <A, E>(use: (service: RunsService["Service"]) => Effect.Effect<A, E>) => Effect.flatMap(RunsService, use)
const lists = <A, E>(use: (service: ListsService["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(ListsService, use)

/** The list of the calls. */
export const listName = "canary list"
const list = { ListName: listName, PublicListID: exportId, DateAdded: "2024-01-02T03:04:05Z", AllowUnsubscribe: true }
const one = ContactFilter.ByEmails({ emails: [canaryEmail] })

const account = <A, E>(use: (service: AccountService["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(AccountService, use)

/** The id of the job and of the e-mail in the calls. */
export const accountId = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
const at = "2026-11-28T10:15:00Z"
const job = {
  id: accountId,
  kind: "Import",
  state: "Ready",
  running: false,
  created: at,
  ended: at,
  expires: null,
  rowsDone: 1,
  rowsTotal: 1,
  accepted: 1,
  rejected: 0,
  rejectedKept: 0,
  duplicates: 0,
  statusesKept: 0,
  problem: null,
  request: { fileName: "contacts.csv" }
}

/** The file of the import call, which can be read repeatedly. */
export const importFile = `Email\r\n${canaryEmail}\r\n`

/** Every operation by its identifier: the bulk delete by rule, the import of a file that can be read repeatedly. */
const calls: Readonly<Record<OperationId, Call>> = {
  accountAuditGet: {
    call: account((service) => service.auditTrail()),
    answer: json(200, [
      {
        number: 1,
        time: at,
        account: "",
        actor: { _tag: "Owner" },
        peer: null,
        operation: "securityApikeysPost",
        subject: credentialNames.apiKey,
        outcome: "Done",
        details: {}
      }
    ])
  },
  accountEmailsByIdGet: {
    call: account((service) => service.email(accountId)),
    answer: json(200, {
      MessageID: accountId,
      TransactionID: "t-1",
      Accepted: at,
      Message: { Recipients: [{ Email: canaryEmail }], Content: { From: "john@example.com", Subject: "Hello" } }
    })
  },
  accountEmailsGet: {
    call: account((service) => service.emails()),
    answer: json(200, [
      { MessageID: accountId, Accepted: at, From: "john@example.com", To: [canaryEmail], Subject: "Hello" }
    ])
  },
  accountJobsByIdCancelPost: { call: account((service) => service.cancelJob(accountId)), answer: nothing },
  accountJobsByIdGet: { call: account((service) => service.job(accountId)), answer: json(200, job) },
  accountJobsByIdKeptGet: {
    call: account((service) => service.keptStatuses(accountId)),
    answer: json(200, [{ line: 2, status: "Unsubscribed" }])
  },
  accountJobsByIdRejectedGet: {
    call: account((service) => service.rejectedRows(accountId)),
    answer: json(200, {
      header: { cells: ["Email"], delimiter: "," },
      rows: [{ line: 2, reason: "no address", cells: [canaryEmail] }]
    })
  },
  accountJobsGet: { call: account((service) => service.jobs()), answer: json(200, [job]) },
  accountKeyGet: {
    call: account((service) => service.key),
    answer: json(200, { Name: credentialNames.apiKey, Account: "", AccessLevel: ["ViewContacts"], Expires: null })
  },
  accountKeyUsesGet: {
    call: account((service) => service.keyUses()),
    answer: json(200, [{ name: credentialNames.apiKey, levels: [{ level: "ViewContacts", lastUse: at }] }])
  },
  accountRulesByNameDelete: { call: account((service) => service.removeRule("vip")), answer: nothing },
  accountRulesByNamePut: {
    call: account((service) => service.saveRule("vip", "status = 'Active'")),
    answer: nothing
  },
  accountOverviewGet: {
    call: account((service) => service.overview),
    answer: json(200, { Summary: null })
  },
  accountRulesGet: {
    call: account((service) => service.rules),
    answer: json(200, [{ Name: "vip", Rule: "status = 'Active'" }])
  },
  contactsByEmailDelete: { call: contacts((service) => service.delete(canaryEmail)), answer: nothing },
  contactsByEmailGet: { call: contacts((service) => service.get(canaryEmail)), answer: json(200, contact) },
  contactsByEmailPut: {
    call: contacts((service) => service.update(canaryEmail, { firstName: "Ann" })),
    answer: json(200, { ...contact, FirstName: "Ann" })
  },
  contactsByEmailHistoryGet: {
    call: contacts((service) => service.history(canaryEmail)),
    answer: json(200, {
      Exists: true,
      Entries: [{ Date: "2026-11-20T09:30:00Z", Effect: "Created", Fields: {}, Key: null, Run: null }],
      Next: null
    })
  },
  contactsChangesPost: {
    call: contacts((service) => service.change([{ email: canaryEmail, seen: null, write: {} }])),
    answer: json(200, [{ Result: "Done" }])
  },
  contactsCountGet: { call: contacts((service) => service.count()), answer: json(200, { Count: 1 }) },
  contactsDeletePost: {
    call: contacts((service) =>
      service.deleteMany(ContactFilter.ByRule({ rule: RuleText.make("status = 'Bounced'") }))
    ),
    answer: nothing
  },
  contactsExportByIdStatusGet: {
    call: contacts((service) => service.exportStatus(exportId)),
    answer: json(200, "Ready")
  },
  contactsExportPost: {
    call: contacts((service) => service.export()),
    answer: json(202, { Link: "https://files.example.com/export.csv", PublicExportID: exportId })
  },
  contactsFieldsGet: {
    call: contacts((service) => service.fields()),
    answer: json(200, { Contacts: 0, Exact: true, Fields: [] })
  },
  contactsGet: { call: contacts((service) => service.list()), answer: json(200, [contact]) },
  contactsImportPost: {
    call: contacts((service) =>
      service.import(
        ImportSource.File({
          name: "contacts.csv",
          content: Stream.make(new TextEncoder().encode(importFile)),
          replayable: true
        })
      )
    ),
    answer: { status: 202 }
  },
  contactsLookupPost: { call: contacts((service) => service.getMany([canaryEmail])), answer: json(200, [contact]) },
  contactsSearchPost: {
    call: contacts((service) => service.list({ rule: longRule })),
    answer: json(200, [contact])
  },
  contactsPost: { call: contacts((service) => service.add([{ email: canaryEmail }])), answer: json(200, [contact]) },
  emailsPost: {
    call: Effect.flatMap(EmailsService, (service) =>
      service.send(
        EmailMessage.make({
          recipients: [{ email: canaryEmail }],
          content: { from: "john@example.com", subject: "Hello" }
        })
      )
    ),
    answer: json(200, { TransactionID: "t-1", MessageID: "m-1" })
  },
  listsByListnameContactsGet: { call: lists((service) => service.contacts(listName)), answer: json(200, [contact]) },
  listsByNameContactsPost: { call: lists((service) => service.add(listName, one)), answer: json(200, list) },
  listsByNameContactsRemovePost: { call: lists((service) => service.remove(listName, one)), answer: nothing },
  listsByNameDelete: { call: lists((service) => service.delete(listName)), answer: nothing },
  listsByNameGet: { call: lists((service) => service.get(listName)), answer: json(200, list) },
  listsByNamePut: {
    call: lists((service) => service.update(listName, { allowUnsubscribe: true })),
    answer: json(200, list)
  },
  listsGet: { call: lists((service) => service.list()), answer: json(200, [list]) },
  listsPost: { call: lists((service) => service.create({ listName })), answer: json(201, list) },
  runsByIdChangesGet: {
    call: runs((service) => service.changes(runId)),
    answer: json(200, [{ Number: 1, Email: canaryEmail, Effect: "Created", Fields: {}, After: "digest" }])
  },
  runsByIdEndPost: { call: runs((service) => service.end(runId)), answer: nothing },
  runsByIdErasePost: { call: runs((service) => service.erase(runId, [1])), answer: nothing },
  runsByIdGet: { call: runs((service) => service.get(runId)), answer: json(200, run) },
  runsByIdStepPost: { call: runs((service) => service.step(runId, "half")), answer: nothing },
  runsGet: { call: runs((service) => service.list()), answer: json(200, [run]) },
  runsPost: {
    call: runs((service) => service.begin({ command: "import" })),
    answer: json(200, { ...run, IsResumed: false })
  },
  securityApikeysByNameDelete: {
    call: credentials(({ apiKeys }) => apiKeys.delete(credentialNames.apiKey)),
    answer: nothing
  },
  securityApikeysByNameGet: {
    call: credentials(({ apiKeys }) => apiKeys.get(credentialNames.apiKey)),
    answer: json(200, apiKey)
  },
  securityApikeysByNamePut: {
    call: credentials(({ apiKeys }) => apiKeys.update(credentialNames.apiKey, apiKeyPayload)),
    answer: json(200, apiKey)
  },
  securityApikeysGet: { call: credentials(({ apiKeys }) => apiKeys.list()), answer: json(200, [apiKey]) },
  securityApikeysPost: {
    call: credentials(({ apiKeys }) => apiKeys.create(apiKeyPayload)),
    answer: json(201, { ...apiKey, Token: canary.token })
  },
  securitySmtpByNameDelete: {
    call: credentials((service) => service.smtp.delete(credentialNames.smtp)),
    answer: nothing
  },
  securitySmtpByNameGet: {
    call: credentials((service) => service.smtp.get(credentialNames.smtp)),
    answer: json(200, smtp)
  },
  securitySmtpByNamePut: {
    call: credentials((service) => service.smtp.update(credentialNames.smtp, smtpPayload)),
    answer: json(200, smtp)
  },
  securitySmtpGet: { call: credentials((service) => service.smtp.list()), answer: json(200, [smtp]) },
  securitySmtpPost: {
    call: credentials((service) => service.smtp.create(smtpPayload)),
    answer: json(201, { ...smtp, Token: canary.password })
  }
}

/** Returns one of them all. */
export const operationCall = (id: OperationId): OperationCall => {
  const operation = operations.get(id)
  if (operation === undefined) throw new Error(`no operation ${id}`)
  const { announcedBy, method } = operation
  const { answer, call } = calls[id]
  const words = announcedBy === undefined ? {} : { headers: { [announcedBy.name]: announcedBy.value } }
  return { id, method, call, answer: { ...answer, ...words } }
}

const isOwn = ({ id }: OperationCall): boolean => operations.get(id)?.announcedBy !== undefined
const all = Struct.keys(calls).map(operationCall)

/** The operations of the interface, each once. */
export const everyOperation: ReadonlyArray<OperationCall> = all.filter((operation) => !isOwn(operation))

/** The operations that only Roster has, whose answers say so. */
export const ownOperations: ReadonlyArray<OperationCall> = all.filter(isOwn)

/** A bulk delete by e-mails, which the retry table distinguishes from one by rule. */
export const deleteByEmails: OperationCall = {
  ...operationCall("contactsDeletePost"),
  call: contacts((service) => service.deleteMany(ContactFilter.ByEmails({ emails: [canaryEmail] })))
}

/** Changes that are only judged, which the retry table distinguishes. */
export const dryRun: OperationCall = {
  ...operationCall("contactsChangesPost"),
  call: contacts((service) => service.change([{ email: canaryEmail, seen: null, write: {} }], { dryRun: true }))
}

const postsToList: ReadonlySet<string> = new Set<OperationId>([
  "listsByNameContactsPost",
  "listsByNameContactsRemovePost"
])

/** Whether an operation is repeated after a failure that leaves the outcome open. */
export const repeatsAmbiguous = (operation: OperationCall): boolean =>
  operation.method !== "POST" ||
  operation === deleteByEmails ||
  ownOperations.includes(operation) ||
  postsToList.has(operation.id)

/** What the refusal of an operation is called whose path names nothing. */
export const notFoundTag = (id: string): string =>
  id.startsWith("contacts") ? "ContactNotFound" : id.startsWith("lists") ? "ListNotFound" : "CredentialNotFound"
