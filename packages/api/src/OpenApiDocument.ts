/** The interface as an OpenAPI document, for readers and for programs that make clients of it. */
import {
  type AcceptedEmail,
  type AccountOverview,
  type AccountSummary,
  AccessLevel,
  type ApiKey,
  type ApiKeyPayload,
  type ApiKeyUpdatePayload,
  type AuditEntry,
  type BegunRun,
  type CallingKey,
  type ChangeAnswerRecord,
  CompressionFormat,
  ConsentTracking,
  type Contact,
  type ContactChange,
  type ContactCount,
  type ContactHistory,
  type ContactList,
  type ContactLookup,
  type ContactSearch,
  type ContactPayload,
  ContactSource,
  ContactStatus,
  type ContactUpdatePayload,
  type EmailMessage,
  type EmailSend,
  type EmailsPayload,
  type EmailSummary,
  type ErasedNumbers,
  ExportFileFormat,
  type ExportLink,
  ExportStatus,
  type FieldsInUse,
  type FieldUse,
  type HistoryEntry,
  type ListPayload,
  type ListUpdatePayload,
  type Job,
  type KeptStatusRow,
  type KeyUse,
  maximumContactsPerAdd,
  maximumContactsPerPage,
  maximumSortedOffset,
  maximumCredentials,
  maximumIdempotencyKey,
  type NewApiKey,
  type NewSmtpCredentials,
  type RecordedChange,
  type RejectedRows,
  type RunPayload,
  type RunRecord,
  type RunStep,
  type SavedRule,
  type SavedRulePayload,
  type SmtpCredentials,
  type SmtpCredentialsPayload,
  type SmtpUpdatePayload
} from "@roster/domain"
import { toleratedText } from "@roster/domain/internal"
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { operations } from "./Operation.ts"
import type { Announcement } from "./OperationPolicy.ts"
import {
  callHeader,
  idempotencyKeyHeader,
  listsHonoured,
  resubscribeHeader,
  runHeader,
  sortHonoured
} from "./Parameters.ts"
import { RosterApi } from "./RosterApi.ts"
import { ErrorBody } from "./WireError.ts"

const description = `Contacts, and the API keys and SMTP credentials that give access to them.

Every operation needs an API key in the header \`X-Service-ApiKey\`, with the access level that the operation names.

A refusal has the body \`{"Error": "text"}\`, whose text says what to do next.

A rule selects contacts by their fields: \`status = Active AND city = 'Köln'\`. The word \`All\` selects every contact.`

const tagTexts: Readonly<Record<string, string>> = {
  Contacts: `People by their e-mail address. An add takes at most ${maximumContactsPerAdd} contacts, an import any number.`,
  "Access credentials":
    "API keys for programs that use HTTP, and SMTP credentials for programs that send mail: at most " +
    `${maximumCredentials} of each kind that have not ended. A secret is in the answer to its creation and in no other.`,
  "Mail sending": "Messages from senders that the account has verified.",
  Lists:
    "Named lists that contacts are on. A list is also made on first use, by an add that names it. Its name is found whatever the " +
    "case of its letters.",
  Account:
    "What the account has besides: the key that calls, the audit trail, imports and exports, the e-mails that were accepted, and " +
    "rules with names.",
  Runs:
    "What programs of several steps changed, such as an import. Begin a run, and name it with each write: the service records what " +
    "each contact was, so that the run can be seen and undone. A run is kept for 30 days."
}

const extension = ({ name, value }: Announcement): string =>
  "An extension of Roster, which other services of this interface do not have: a service that has it says " +
  `\`${name}: ${value}\` on each of its answers.`

/** The parameters by their names, which mean the same in every operation. */
const parameterTexts: Readonly<Record<string, string>> = {
  afterLine: "The line of a row: only later ones are given (default: 0, so all).",
  afterContact:
    "The address of the contact behind which the page begins (default: the beginning). By address nobody needs to have it. An " +
    `extension of Roster, as \`sort\` is.`,
  after: "Gives the changes with higher numbers, the lowest first (default: 0, so all).",
  before: "Gives the changes with lower numbers, the highest first; never beside `after`.",
  beforeEmail: "The id of an e-mail: only those that were accepted before it are given.",
  beforeEntry: "Gives the entries with lower numbers.",
  beforeJob: "The id of a job: only those that were asked for before it are given.",
  beforeRun: "The id of a run: only runs that were begun before it are given.",
  compressionFormat: "The compression of the file (default: None).",
  cursor: "The Next of the page before (default: the first page).",
  count: "`true` answers the number of all contacts of the rule in place of a page of them (default: false).",
  counts:
    "`true` adds the number of its contacts to each list. An extension of Roster: a service that has it says " +
    `\`${listsHonoured.name}: ${listsHonoured.value}\` on each of its answers.`,
  defaultStatus:
    "The status of new contacts that are given none (default: Active). Contacts that are there keep theirs.",
  dryRun: "`true` answers what each change would do, and changes nothing (default: false).",
  email: "The e-mail address of the contact.",
  emails: "The addresses to export, given several times or separated by commas; never beside a rule.",
  encodingName: "The encoding of the file, such as windows-1252 (default: utf-8).",
  fileFormat: "The format of the file (default: Csv).",
  fileName: "The name of the file with its extension.",
  fileUrl: "The address of a CSV to import, in place of a file in the body.",
  id: "The id of the export, which the answer to its request gives as PublicExportID, or of the run, the job or the e-mail.",
  key: "The name of a key: only what was done with it is given.",
  limit: `The number of records to return, at most ${maximumContactsPerPage}.`,
  lists:
    "`true` adds the names of its lists to each contact. An extension of Roster: a service that has it says " +
    `\`${listsHonoured.name}: ${listsHonoured.value}\` on each of its answers.`,
  listName: "The list to which the contacts are added. It exists already.",
  listnames: "The lists to which the contacts are added, given several times. They are made on first use.",
  name: "The name of the credential, of the list or of the saved rule.",
  only:
    "Leaves contacts of the other kind as they are: `new` those that are there, `existing` those that are not. They are " +
    "answered as they are, or with their address alone.",
  offset: "The number of records to skip.",
  resumable: "`true` leaves the run, so that the same input resumes it at once (default: false, which ends it).",
  rule: "Selects contacts, as in `status = Active`; without it, all are meant.",
  since: "The time from which on entries are given (default: all).",
  sort:
    "The order: as they were added, or by address, each forwards or, with `-`, backwards (default: added). In any but the default, or " +
    `behind a contact, \`offset\` is at most ${maximumSortedOffset}. An extension of Roster: a service that has it says ` +
    `\`${sortHonoured.name}: ${sortHonoured.value}\` on each of its answers.`,
  subaccount: "The e-mail address of the subaccount that has the credential (default: the account of the key)."
}

/** The schemas of parameters that are texts to Effect. */
const parameterSchemas: Readonly<Record<string, object>> = {
  // A single value is a list of one.
  afterLine: { type: "integer", minimum: 0 },
  beforeEntry: { type: "integer", minimum: 0 },
  after: { type: "integer", minimum: 0 },
  before: { type: "integer", minimum: 0 },
  count: { type: "boolean", default: false },
  counts: { type: "boolean", default: false },
  dryRun: { type: "boolean", default: false },
  lists: { type: "boolean", default: false },
  emails: { type: "array", items: { type: "string" } },
  resumable: { type: "boolean", default: false },
  limit: { type: "integer", minimum: 0, maximum: maximumContactsPerPage, default: 20 },
  listnames: { type: "array", items: { type: "string" } },
  offset: { type: "integer", minimum: 0, default: 0 }
}

/** What the headers of a request mean that no schema describes. */
const headers: Readonly<Record<string, { readonly description: string; readonly schema: object }>> = {
  [idempotencyKeyHeader]: {
    description:
      "Names this request: sent again with the same key, it is carried out once. The answer is kept for an hour.",
    schema: { type: "string", minLength: 1, maxLength: maximumIdempotencyKey, pattern: "^[!-~]+$" }
  },
  [callHeader]: {
    description:
      "Names this call, the same on all its attempts: what another caller sends with the same idempotency key within two " +
      "seconds is refused with 409, since its secret would take the place of the one in the answer to this call.",
    schema: { type: "string", pattern: "^[0-9A-Za-z-]{1,64}$" }
  },
  [runHeader]: {
    description: "The id of the run that this write is a part of, which records what it changes.",
    schema: { type: "string", pattern: "^[0-9A-Za-z-]{1,64}$" }
  },
  [resubscribeHeader]: {
    description:
      "Which statuses are lifted: `deny` for none, `allow` for all but Abuse, or names such as `Bounced,NotConfirmed`. A status " +
      "that is not lifted gives way to stricter ones only, of Abuse, Unsubscribed, Bounced and NotConfirmed in this order, and " +
      "NotConfirmed is given to new contacts only.",
    schema: { type: "string", pattern: "^[A-Za-z, ]+$" }
  }
}

/** The form of an import. A service takes the options as fields too; they are left out, since pages fill in every field. */
const importForm = {
  "multipart/form-data": {
    schema: {
      type: "object",
      properties: { file: { type: "string", format: "binary", description: "A CSV file, or a zip that holds one." } }
    }
  }
}

const contact = {
  Email: "ada@example.com",
  Status: "Active",
  FirstName: "Ada",
  LastName: "Lovelace",
  CustomFields: { city: "London" }
} satisfies typeof ContactPayload.Encoded

const apiKey = {
  Name: "reporting",
  AccessLevel: ["ViewContacts", "Export"],
  DateCreated: "2026-01-02T03:04:05Z",
  LastUse: null,
  Expires: "2099-12-31T00:00:00Z",
  RestrictAccessToIPRange: ["192.0.2.0/24"]
} satisfies typeof ApiKey.Encoded

const smtp = {
  Name: "shop@example.com",
  AccessLevel: "SendSmtp",
  DateCreated: "2026-01-02T03:04:05Z",
  LastUse: null,
  Expires: null,
  RestrictAccessToIPRange: []
} satisfies typeof SmtpCredentials.Encoded

const fieldUse = {
  Name: "city",
  IsCustom: true,
  Contacts: 20417,
  Numbers: 0,
  Dates: 0,
  Examples: ["London", "Paris"]
} satisfies typeof FieldUse.Encoded

const historyEntry = {
  Date: "2026-11-20T09:30:00Z",
  Effect: "Changed",
  Fields: { Status: ["Active", "Unsubscribed"] },
  Key: "shop",
  Run: null
} satisfies typeof HistoryEntry.Encoded

const run = {
  Id: "20261128T101500Z-3fa85f64",
  Command: "import",
  About: "customers.csv",
  Key: "reporting",
  Began: "2026-11-28T10:15:00Z",
  Ended: null,
  IsTaken: true,
  Changes: 2,
  Created: 1,
  Changed: 1,
  Deleted: 0
} satisfies typeof RunRecord.Encoded

const summary = {
  Counted: "2026-11-28T10:15:00Z",
  Contacts: 20417,
  Statuses: [
    { Status: "Active", Contacts: 19240 },
    { Status: "Unsubscribed", Contacts: 1177 }
  ],
  Months: [{ Month: "2026-11", Contacts: 20417 }],
  Lists: [{ ListName: "newsletter", Contacts: 18000 }]
} satisfies typeof AccountSummary.Encoded

const job = {
  id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  kind: "Import",
  state: "Ready",
  running: false,
  created: "2026-11-28T10:15:00Z",
  ended: "2026-11-28T10:16:00Z",
  expires: null,
  rowsDone: 1001,
  rowsTotal: 1001,
  accepted: 1000,
  rejected: 1,
  rejectedKept: 1,
  duplicates: 0,
  statusesKept: 0,
  problem: null,
  request: { fileName: "customers.csv" }
} satisfies typeof Job.Encoded

const secret = "the secret, which is shown once"

/** An example of each record, by its name in the document. */
export const examples = {
  AcceptedEmail: {
    MessageID: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    TransactionID: "9b2d1c3e-0f6a-4a53-8f0e-6f7c0a1d2e3f",
    Accepted: "2026-11-28T10:15:00Z",
    Message: {
      Recipients: [{ Email: "ada@example.com" }],
      Content: { From: "Shop <shop@example.com>", Subject: "Hello" }
    }
  } satisfies typeof AcceptedEmail.Encoded,
  AuditEntry: {
    number: 42,
    time: "2026-11-28T10:15:00Z",
    account: "",
    actor: { _tag: "Key", name: "reporting", hint: "ee_a…3x9" },
    peer: "192.0.2.7",
    operation: "securityApikeysPost",
    subject: "ci-sync",
    outcome: "AccessDenied",
    details: { required: "ModifyAccessTokens" }
  } satisfies typeof AuditEntry.Encoded,
  CallingKey: {
    Name: "reporting",
    Account: "",
    AccessLevel: ["ViewContacts", "Export"],
    Expires: null
  } satisfies typeof CallingKey.Encoded,
  EmailSummary: {
    MessageID: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    Accepted: "2026-11-28T10:15:00Z",
    From: "Shop <shop@example.com>",
    To: ["ada@example.com"],
    Subject: "Hello"
  } satisfies typeof EmailSummary.Encoded,
  Job: job,
  KeptStatusRow: { line: 2, status: "Unsubscribed" } satisfies typeof KeptStatusRow.Encoded,
  KeyUse: {
    name: "reporting",
    levels: [{ level: "ViewContacts", lastUse: "2026-11-28T10:15:00Z" }]
  } satisfies typeof KeyUse.Encoded,
  RejectedRows: {
    header: { cells: ["Email", "FirstName"], delimiter: "," },
    rows: [{ line: 7, reason: "Email: it has no @", cells: ["no address", "Ada"] }]
  } satisfies typeof RejectedRows.Encoded,
  AccountOverview: { Summary: summary } satisfies typeof AccountOverview.Encoded,
  SavedRule: {
    Name: "vip",
    Rule: "plan = 'pro' AND status = Active",
    View: "column=plan&sort=-added"
  } satisfies typeof SavedRule.Encoded,
  SavedRulePayload: {
    Rule: "plan = 'pro' AND status = Active",
    View: "column=plan&sort=-added"
  } satisfies typeof SavedRulePayload.Encoded,
  ApiKey: apiKey,
  ApiKeyPayload: {
    Name: "reporting",
    AccessLevel: ["ViewContacts", "Export"],
    Expires: "2099-12-31T00:00:00Z",
    RestrictAccessToIPRange: ["192.0.2.0/24"]
  } satisfies typeof ApiKeyPayload.Encoded,
  Contact: {
    ...contact,
    Source: "ContactApi",
    DateAdded: "2026-01-02T03:04:05Z",
    DateUpdated: null,
    StatusChangeDate: null
  } satisfies typeof Contact.Encoded,
  ContactPayload: contact,
  ContactChange: {
    Email: "ada@example.com",
    Seen: { Status: "Active", FirstName: "Ada", LastName: "Lovelace", CustomFields: { city: "London" } },
    Write: { CustomFields: { city: "Paris" }, AddToLists: ["newsletter"] }
  } satisfies typeof ContactChange.Encoded,
  ContactCount: {
    Count: 20417,
    Unplaced: { Contacts: 312, Field: "Customer since", Kind: "date", Example: "25.07.2022" }
  } satisfies typeof ContactCount.Encoded,
  ContactSearch: {
    Rule: "email = 'ada@example.com' OR email = 'grace@example.com'"
  } satisfies typeof ContactSearch.Encoded,
  ContactLookup: { Emails: ["ada@example.com"] } satisfies typeof ContactLookup.Encoded,
  ContactsList: {
    ListName: "newsletter",
    PublicListID: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    DateAdded: "2026-01-02T03:04:05Z",
    AllowUnsubscribe: true
  } satisfies typeof ContactList.Encoded,
  ListPayload: { ListName: "newsletter", Emails: ["ada@example.com"] } satisfies typeof ListPayload.Encoded,
  ListUpdatePayload: { NewListName: "monthly newsletter" } satisfies typeof ListUpdatePayload.Encoded,
  FieldsInUse: { Contacts: 20417, Exact: true, Fields: [fieldUse] } satisfies typeof FieldsInUse.Encoded,
  ChangeAnswer: { Result: "Done" } satisfies typeof ChangeAnswerRecord.Encoded,
  ApiKeyUpdatePayload: { Expires: "2027-12-31T00:00:00Z" } satisfies typeof ApiKeyUpdatePayload.Encoded,
  SmtpUpdatePayload: { Expires: "2027-12-31T00:00:00Z" } satisfies typeof SmtpUpdatePayload.Encoded,
  ContactUpdatePayload: {
    FirstName: "Ada",
    CustomFields: { city: "Paris" }
  } satisfies typeof ContactUpdatePayload.Encoded,
  EmailMessageData: {
    Recipients: [{ Email: "ada@example.com", Fields: { name: "Ada" } }],
    Content: {
      From: "Shop <shop@example.com>",
      Subject: "Hello {name}",
      Body: [{ ContentType: "PlainText", Content: "Thank you for your order." }]
    }
  } satisfies typeof EmailMessage.Encoded,
  EmailSend: {
    TransactionID: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    MessageID: null
  } satisfies typeof EmailSend.Encoded,
  EmailsPayload: { Emails: ["ada@example.com"] } satisfies typeof EmailsPayload.Encoded,
  ExportLink: {
    Link: "https://roster.example.com/v4/exports/3fa85f64-5717-4562-b3fc-2c963f66afa6/contacts.csv",
    PublicExportID: "3fa85f64-5717-4562-b3fc-2c963f66afa6"
  } satisfies typeof ExportLink.Encoded,
  NewApiKey: { ...apiKey, Token: secret } satisfies typeof NewApiKey.Encoded,
  NewSmtpCredentials: { ...smtp, Token: secret } satisfies typeof NewSmtpCredentials.Encoded,
  Run: run,
  BegunRun: { ...run, IsResumed: false } satisfies typeof BegunRun.Encoded,
  RunPayload: { Command: "import", About: "customers.csv" } satisfies typeof RunPayload.Encoded,
  ContactHistory: {
    Exists: true,
    Entries: [historyEntry],
    Next: null
  } satisfies typeof ContactHistory.Encoded,
  RunChange: {
    Number: 2,
    Email: "ada@example.com",
    Effect: "Changed",
    Fields: { FirstName: ["Ada", "Augusta"], "Lists.newsletter": [null, ""] },
    After: "1s8d4kz0q7f3vj"
  } satisfies typeof RecordedChange.Encoded,
  RunStep: { State: "half of the contacts" } satisfies typeof RunStep.Encoded,
  ErasedNumbers: { Numbers: [2] } satisfies typeof ErasedNumbers.Encoded,
  SmtpCredentials: smtp,
  SmtpCredentialsPayload: { Name: "shop@example.com", Expires: null } satisfies typeof SmtpCredentialsPayload.Encoded
}

/** What a status means, whatever the operation. */
const statusTexts: Readonly<Record<string, string>> = {
  200: "Done.",
  201: "Created. The secret of a credential is in this answer and in no other.",
  202: "Accepted: it is done in the background.",
  400: "The request is malformed or invalid, or the service refuses what it asks.",
  401: "The key is missing, unknown or expired.",
  403: "The key lacks the access level, is used from an address outside its ranges, or would grant more than it has.",
  404: "There is no such record.",
  408: "The request did not arrive in time. Nothing was done.",
  409:
    "The name is taken, the account is full, the last key that manages keys would be lost, or the idempotency " +
    "key names another request.",
  413: "The body is too large.",
  415: "The body is of a kind that the operation does not take.",
  421: "The service does not serve this host name.",
  429: "Too many requests. Retry-After says how long to wait.",
  500: "The service failed, and the request may have been carried out.",
  503: "The service cannot answer now, and nothing was done. Retry-After says how long to wait."
}

/** The lists of values, which the interface names. */
const valueLists = new Map(
  Object.entries({
    AccessLevel,
    CompressionFormat,
    ConsentTracking,
    ContactSource,
    ContactStatus,
    ExportFileFormats: ExportFileFormat,
    ExportStatus: ExportStatus.members[0]
  }).map(([name, { literals }]) => [literals.join(), { name, schema: { type: "string", enum: literals } }])
)

type Document = OpenApi.OpenAPISpec

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/**
 * Gives the schemas their names in the interface, since Effect calls what is sent `ContactEncoded` and has no names for
 * lists, and leaves out what is only read.
 */
const named = (document: Document): Document => {
  const text = JSON.stringify(document).replaceAll(/"(#\/components\/schemas\/)?(\w+)Encoded"/g, '"$1$2"')
  return JSON.parse(text, (_, value) => {
    const union: unknown = value?.anyOf
    if (Array.isArray(union)) {
      const sent = union.filter((member) => member?.description !== toleratedText)
      return sent.length === 1 ? sent[0] : { ...value, anyOf: sent }
    }
    const list = valueLists.get(Array.isArray(value?.enum) ? value.enum.join() : "")
    return list === undefined ? value : reference(list.name)
  })
}

const operationsOf = ({ paths }: Document): ReadonlyArray<OpenApi.OpenAPISpecOperation> =>
  Object.values(paths).flatMap((path) =>
    [path.get, path.post, path.put, path.delete].filter((operation) => operation !== undefined)
  )

const describe = (operation: OpenApi.OpenAPISpecOperation): void => {
  const { operationId, parameters, requestBody, responses } = operation
  const described = operations.get(operationId)
  operation.description = `Access level: ${described?.requiredAccess}`
  if (described?.announcedBy !== undefined) operation.description += `. ${extension(described.announcedBy)}`
  for (const parameter of parameters) {
    const text = parameterTexts[parameter.name]
    if (text !== undefined) parameter.description = text
    parameter.schema = parameterSchemas[parameter.name] ?? parameter.schema
  }
  for (const name of described?.headers ?? []) {
    const header = headers[name]
    if (header !== undefined) parameters.push({ name, in: "header", required: false, ...header })
  }
  for (const [status, response] of Object.entries(responses)) {
    response.description = statusTexts[status] ?? response.description
    // The tag that tells errors of one status apart in code is never sent.
    if (Number(status) >= 400) response.content = { "application/json": { schema: reference("Error") } }
  }
  // An import may name the address of a file and have no body.
  if (operationId === "contactsImportPost") Object.assign(requestBody ?? {}, { required: false, content: importForm })
}

const complete = (generated: Document): Document => {
  const document = named(generated)
  const { components, tags } = document
  for (const operation of operationsOf(document)) describe(operation)
  for (const tag of tags) Object.assign(tag, { description: tagTexts[tag.name] })
  const isSent = ([, schema]: [string, object]) => !("_tag" in Object(Object(schema).properties))
  const lists = Array.from(valueLists.values(), ({ name, schema }) => [name, schema] as const)
  components.schemas = {
    ...Object.fromEntries(lists),
    ...Object.fromEntries(Object.entries(components.schemas).filter(isSent)),
    Error: Schema.toJsonSchemaDocument(ErrorBody).schema
  }
  for (const { properties = {} } of Object.values<{ properties?: Record<string, unknown> }>(components.schemas)) {
    // A field that every request is refused for is left out.
    for (const name of Object.keys(properties)) {
      if (JSON.stringify(properties[name]).includes('{"not":{}}')) delete properties[name]
    }
  }
  for (const [name, example] of Object.entries(examples)) {
    Object.assign(components.schemas[name] ?? {}, { examples: [example] })
  }
  return document
}

/** The interface with the annotations of its OpenAPI document, for a service at these addresses. */
export const documentedApi = (servers: ReadonlyArray<OpenApi.OpenAPISpecServer>) =>
  RosterApi.annotateMerge(
    OpenApi.annotations({
      description,
      license: { name: "MIT", identifier: "MIT" },
      servers,
      // The value that a transform gets is the document.
      transform: (document) => complete(document as Document)
    })
  )

/** The OpenAPI document of a service at these addresses. */
export const openApiDocument = (servers: ReadonlyArray<OpenApi.OpenAPISpecServer>): OpenApi.OpenAPISpec =>
  OpenApi.fromApi(documentedApi(servers))
