/**
 * The methods of the services, for what stands in front of them in tests: the operation of the interface that each is, and
 * what a client refuses before it sends anything. A fault plan leaves such calls alone.
 */
import { Array, Context, Effect, Predicate, Schema, type Stream } from "effect"
import { checkPlaces } from "../contacts/AddSize.ts"
import { ContactPayload, ContactUpdatePayload, maximumContactsPerAdd } from "../contacts/Contact.ts"
import { encodeChanges } from "../contacts/ContactChange.ts"
import { ListPayload, ListUpdatePayload } from "../lists/ContactList.ts"
import { EmailAddress } from "../contacts/EmailAddress.ts"
import { ApiKeyPayload, readApiKeyChanges, readApiKeyPayload } from "../credentials/ApiKey.ts"
import {
  readSmtpChanges,
  readSmtpPayload,
  SmtpCredentialsPayload,
  SmtpUpdatePayload
} from "../credentials/SmtpCredentials.ts"
import { EmailMessage } from "../emails/EmailMessage.ts"
import { isAddressable } from "../errors/InvalidInput.ts"
import { CompressionFormat, ExportFileFormat, ExportId } from "../jobs/Export.ts"
import { checkFilter, type ContactFilter } from "../rules/ContactFilter.ts"
import { checkRule, type ContactRule } from "../rules/RuleText.ts"
import { readHistoryPage } from "../runs/ContactHistory.ts"
import { checkRunPage, checkRunsPage, ErasedNumbers } from "../runs/RecordedChange.ts"
import { checkRuleName, checkRuleView } from "../saved/SavedRule.ts"
import { checkStep, RunPayload } from "../runs/RunRecord.ts"
import { AccountService, checkAuditPage } from "../services/AccountService.ts"
import { checkLookup } from "../services/ContactReads.ts"
import { checkPage } from "../services/ContactsPage.ts"
import { checkedMethods } from "../services/CheckedMethods.ts"
import type { CheckedService } from "../services/CheckedService.ts"
import { ContactsService } from "../services/ContactsService.ts"
import { CredentialsService } from "../services/CredentialsService.ts"
import { EmailsService } from "../services/EmailsService.ts"
import { checkIdempotencyKey, type KeyedCall } from "../services/KeyedCall.ts"
import { ListsService } from "../services/ListsService.ts"
import { RunsService } from "../services/RunsService.ts"
import { isRecordId } from "../values/Bytes.ts"

/** Fails, or dies, if the input would not be sent. */
export type Check = Effect.Effect<unknown, unknown>

/** Each method of a service, as the identifier of its operation and a check that takes what the method takes. */
type Methods<Service> = {
  readonly [
    Name in keyof Service as Service[Name] extends (...given: never) => unknown ? Name : never
  ]: Service[Name] extends (...given: infer Given) => unknown
    ? readonly [operation: string, check: (...given: Given) => Check]
    : never
}

const invalid = Effect.fail("invalid")

const holds = (isValid: boolean): Check => (isValid ? Effect.void : invalid)

/** Checks that a schema encodes a value. No schema of the interface needs a service for that. */
const encodes = (schema: Schema.Top): ((value: unknown) => Check) =>
  Schema.encodeUnknownEffect(schema as Schema.Codec<unknown>)

const text = Schema.String.check(Schema.makeFilter((value) => value.isWellFormed()))
const texts = encodes(Schema.optional(Schema.Array(text)))
const oneText = encodes(Schema.optional(text))
const subaccount = encodes(Schema.optional(EmailAddress))
const payloads = encodes(Schema.Array(ContactPayload))
const changes = encodes(ContactUpdatePayload)
const formats = encodes(
  Schema.Struct({
    fileFormat: Schema.optional(ExportFileFormat),
    compressionFormat: Schema.optional(CompressionFormat)
  })
)

const inPath = (value: string): Check => holds(isAddressable(value))

const sendableRule = (rule: ContactRule | undefined): Check =>
  rule === undefined ? Effect.void : Effect.flatMap(Effect.fromResult(checkRule(rule)), oneText)

const sendableFilter = (filter: ContactFilter): Check =>
  Effect.andThen(checkFilter(filter), filter._tag === "ByRule" ? sendableRule(filter.rule) : Effect.void)

const add: Methods<ContactsService["Service"]>["addWithoutAnswer"][1] = (
  contacts,
  { idempotencyKey, listNames } = {}
) => {
  const some = Array.fromIterable(contacts)
  return Effect.all([
    holds(some.length <= maximumContactsPerAdd),
    texts(listNames),
    checkPlaces(some, listNames),
    checkIdempotencyKey(idempotencyKey),
    payloads(some)
  ])
}

const page: Methods<ContactsService["Service"]>["list"][1] = (given = {}) =>
  Effect.andThen(checkPage(given), sendableRule(given.rule))

const contacts: Methods<ContactsService["Service"]> = {
  get: ["contactsByEmailGet", inPath],
  list: ["contactsGet", page],
  stream: ["contactsGet", page],
  count: ["contactsCountGet", page],
  fields: ["contactsFieldsGet", page],
  history: ["contactsByEmailHistoryGet", (email, given = {}) => Effect.andThen(inPath(email), readHistoryPage(given))],
  getMany: ["contactsLookupPost", checkLookup],
  add: ["contactsPost", add],
  addWithoutAnswer: ["contactsPost", add],
  update: ["contactsByEmailPut", (email, given) => Effect.andThen(inPath(email), changes(given))],
  delete: ["contactsByEmailDelete", inPath],
  change: [
    "contactsChangesPost",
    (given, { idempotencyKey } = {}) => Effect.andThen(checkIdempotencyKey(idempotencyKey), encodeChanges(given))
  ],
  deleteMany: ["contactsDeletePost", (filter) => sendableFilter(filter)],
  import: [
    "contactsImportPost",
    (_, { encodingName, listName } = {}) => Effect.andThen(oneText(listName), oneText(encodingName))
  ],
  export: [
    "contactsExportPost",
    ({ compressionFormat, fileFormat, fileName, filter } = {}, { idempotencyKey } = {}) =>
      Effect.all([
        oneText(fileName),
        checkIdempotencyKey(idempotencyKey),
        filter === undefined ? Effect.void : sendableFilter(filter),
        formats({ compressionFormat, fileFormat })
      ])
  ],
  exportStatus: ["contactsExportByIdStatusGet", ExportId.fromText],
  download: ["download", (link) => holds(/^https?:$/.test(URL.parse(link)?.protocol ?? ""))]
}

const named = (name: string, { subaccount: of }: { readonly subaccount?: unknown } = {}): Check =>
  Effect.andThen(inPath(name), subaccount(of))

const credentials = <Payload, Changes>(
  operations: string,
  payload: (given: Payload) => Check,
  changes: (given: Changes) => Check
) => {
  const record = <Given>(given: Given, check: (given: Given) => Check): Check =>
    Effect.andThen(holds(Predicate.isObject(given)), check(given))
  return {
    list: [`${operations}Get`, (of: { readonly subaccount?: unknown } = {}) => subaccount(of.subaccount)],
    get: [`${operations}ByNameGet`, named],
    create: [
      `${operations}Post`,
      (given: Payload, { idempotencyKey }: KeyedCall = {}) =>
        Effect.andThen(checkIdempotencyKey(idempotencyKey), record(given, payload))
    ],
    update: [
      `${operations}ByNamePut`,
      (name: string, given: Changes) => Effect.andThen(inPath(name), record(given, changes))
    ],
    delete: [`${operations}ByNameDelete`, named]
  } as const
}

const apiKey = encodes(ApiKeyPayload)

const apiKeys: Methods<CredentialsService["Service"]["apiKeys"]> = credentials(
  "securityApikeys",
  (given) => Effect.flatMap(readApiKeyPayload(given), apiKey),
  readApiKeyChanges
)

const smtp: Methods<CredentialsService["Service"]["smtp"]> = credentials(
  "securitySmtp",
  (given) => Effect.flatMap(readSmtpPayload(given), encodes(SmtpCredentialsPayload)),
  (given) => Effect.flatMap(readSmtpChanges(given), encodes(SmtpUpdatePayload))
)

const message = encodes(EmailMessage)

const emails: Methods<EmailsService["Service"]> = {
  send: [
    "emailsPost",
    (given, { idempotencyKey } = {}) => Effect.andThen(checkIdempotencyKey(idempotencyKey), message(given))
  ]
}

const recordId = (id: string): Check => holds(isRecordId(id))

const runs: Methods<RunsService["Service"]> = {
  begin: [
    "runsPost",
    (given, { idempotencyKey } = {}) => Effect.andThen(checkIdempotencyKey(idempotencyKey), encodes(RunPayload)(given))
  ],
  end: ["runsByIdEndPost", recordId],
  step: ["runsByIdStepPost", (id, state) => Effect.andThen(recordId(id), checkStep(state))],
  list: ["runsGet", (page = {}) => Effect.andThen(checkRunsPage(page), recordId(page.before ?? "none"))],
  get: ["runsByIdGet", recordId],
  changes: ["runsByIdChangesGet", (id, page = {}) => Effect.andThen(recordId(id), checkRunPage(page))],
  erase: ["runsByIdErasePost", (id, numbers) => Effect.andThen(recordId(id), encodes(ErasedNumbers)({ numbers }))]
}

const listName = encodes(ListPayload)
const listChanges = encodes(ListUpdatePayload)
const ofList = (name: string, filter: ContactFilter): Check => Effect.andThen(inPath(name), sendableFilter(filter))

const lists: Methods<ListsService["Service"]> = {
  list: ["listsGet", (page = {}) => checkPage(page)],
  get: ["listsByNameGet", inPath],
  create: [
    "listsPost",
    (given, { idempotencyKey } = {}) => Effect.andThen(checkIdempotencyKey(idempotencyKey), listName(given))
  ],
  update: ["listsByNamePut", (name, given) => Effect.andThen(inPath(name), listChanges(given))],
  delete: ["listsByNameDelete", inPath],
  contacts: ["listsByListnameContactsGet", (name, page = {}) => Effect.andThen(inPath(name), checkPage(page))],
  add: ["listsByNameContactsPost", ofList],
  remove: ["listsByNameContactsRemovePost", ofList]
}

const account: Methods<AccountService["Service"]> &
  Readonly<Record<"key" | "overview" | "rules", readonly [string, () => Check]>> = {
  key: ["accountKeyGet", () => Effect.void],
  auditTrail: ["accountAuditGet", (page = {}) => Effect.andThen(checkAuditPage(page), subaccount(page.subaccount))],
  keyUses: ["accountKeyUsesGet", (of = {}) => subaccount(of.subaccount)],
  jobs: ["accountJobsGet", (page = {}) => Effect.andThen(checkRunsPage(page), recordId(page.before ?? "none"))],
  job: ["accountJobsByIdGet", recordId],
  cancelJob: ["accountJobsByIdCancelPost", recordId],
  rejectedRows: ["accountJobsByIdRejectedGet", (id, page = {}) => Effect.andThen(recordId(id), checkRunPage(page))],
  keptStatuses: ["accountJobsByIdKeptGet", recordId],
  emails: ["accountEmailsGet", (page = {}) => Effect.andThen(checkRunsPage(page), recordId(page.before ?? "none"))],
  email: ["accountEmailsByIdGet", recordId],
  overview: ["accountOverviewGet", () => Effect.void],
  rules: ["accountRulesGet", () => Effect.void],
  saveRule: [
    "accountRulesByNamePut",
    (name, rule, { view } = {}) =>
      Effect.all([checkRuleName(name), sendableRule(rule), checkRuleView(view)], { discard: true })
  ],
  removeRule: ["accountRulesByNameDelete", checkRuleName]
}

/** The methods by the names of their services in a fault plan. */
export const methods = { contacts, apiKeys, smtp, emails, runs, lists, account }

/** The name of a service in a fault plan. */
export type Kind = keyof typeof methods

/** A method of any service, for code that is the same for all. */
export type AnyMethod = (
  ...given: ReadonlyArray<unknown>
) => Effect.Effect<unknown, unknown> | Stream.Stream<unknown, unknown>

/** Makes a method by its name, such as `contacts.get`, from the one that a service has. */
export type Replace = (name: string, check: (...given: ReadonlyArray<unknown>) => Check, method: AnyMethod) => AnyMethod

/** The methods without input, which are effects. */
export const values: ReadonlySet<string> = new Set(["key", "overview", "rules"])

const noStream = (called: ReturnType<AnyMethod>) =>
  Effect.isEffect(called) ? called : Effect.die(new Error("a method without input is no stream"))

const replaced = <Service extends object>(kind: Kind, service: Service, replace: Replace): Service => {
  const has = new Map(Object.entries(service))
  const replacements = Object.entries(methods[kind]).map(([name, [, check]]) => {
    const method = has.get(name)
    const replacing = (method: AnyMethod) => replace(`${kind}.${name}`, check, method)
    if (values.has(name)) return [name, Effect.suspend(() => noStream(replacing(() => method)()))]
    return [name, method === undefined ? method : replacing(method)]
  })
  // Each method is replaced by one of its type.
  return { ...service, ...Object.fromEntries(replacements) } as Service
}

/** Replaces the methods of the services of a context. Objects with unknown fields are refused before. */
export const replaceMethods = <Services>(
  context: Context.Context<Services>,
  replace: Replace
): Context.Context<Services> => {
  let all = context
  const one = <Self, Id extends string, Service extends object>(kind: Kind, tag: CheckedService<Self, Id, Service>) => {
    const service = Context.getOrUndefined(context, tag)
    if (service !== undefined) all = Context.add(all, tag, checkedMethods(tag, replaced(kind, service, replace)))
  }
  one("contacts", ContactsService)
  one("emails", EmailsService)
  one("runs", RunsService)
  one("lists", ListsService)
  const credentials = Context.getOrUndefined(context, CredentialsService)
  if (credentials !== undefined) {
    const apiKeys = replaced("apiKeys", credentials.apiKeys, replace)
    const smtp = replaced("smtp", credentials.smtp, replace)
    all = Context.add(all, CredentialsService, checkedMethods(CredentialsService, { ...credentials, apiKeys, smtp }))
  }
  const account = Context.getOrUndefined(context, AccountService)
  if (account !== undefined)
    all = Context.add(all, AccountService, checkedMethods(AccountService, replaced("account", account, replace)))
  return all
}
