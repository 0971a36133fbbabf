/** What a client refuses before it sends anything, by the methods of the services. A fault plan leaves such calls alone. */
import { Array, Effect, Predicate, Schema } from "effect"
import { ContactPayload, maximumContactsPerAdd } from "../contacts/Contact.ts"
import { ContactUpdatePayload } from "../contacts/ContactRecord.ts"
import { EmailAddress } from "../contacts/EmailAddress.ts"
import { ApiKeyPayload, readApiKeyPayload } from "../credentials/ApiKey.ts"
import { SmtpCredentialsPayload } from "../credentials/SmtpCredentials.ts"
import { FastContacts } from "../csv/FastContacts.ts"
import { EmailMessage } from "../emails/EmailMessage.ts"
import { isAddressable } from "../errors/InvalidInput.ts"
import { CompressionFormat, ExportFileFormat } from "../jobs/Export.ts"
import { checkFilter, type ContactFilter } from "../rules/ContactFilter.ts"
import { checkRule, type ContactRule } from "../rules/RuleText.ts"
import { checkPage } from "../services/ContactsPage.ts"
import type { ContactsService } from "../services/ContactsService.ts"
import type { CredentialsService } from "../services/CredentialsService.ts"
import type { EmailsService } from "../services/EmailsService.ts"
import { checkIdempotencyKey } from "../services/KeyedCall.ts"

/** Fails, or dies, if the input would not be sent. */
export type Check = Effect.Effect<unknown, unknown>

/** The check of each method, which takes what the method takes. */
export type Checks<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...given: infer Given) => unknown
    ? (...given: Given) => Check
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

const sendableFilter = (filter: ContactFilter, sentIn: "query" | "body"): Check =>
  Effect.andThen(checkFilter(filter, sentIn), filter._tag === "ByRule" ? sendableRule(filter.rule) : Effect.void)

const add: Checks<ContactsService["Service"]>["addWithoutAnswer"] = (contacts, { idempotencyKey, listNames } = {}) => {
  // The contacts of rows have been encoded.
  const some = contacts instanceof FastContacts ? contacts : Array.fromIterable(contacts)
  return Effect.all([
    holds(some.length <= maximumContactsPerAdd),
    texts(listNames),
    checkIdempotencyKey(idempotencyKey),
    some instanceof FastContacts ? Effect.void : payloads(some)
  ])
}

const page: Checks<ContactsService["Service"]>["list"] = (given = {}) =>
  Effect.andThen(checkPage(given), sendableRule(given.rule))

/** The checks of the methods on contacts. */
export const contacts: Checks<ContactsService["Service"]> = {
  get: inPath,
  list: page,
  stream: page,
  add,
  addWithoutAnswer: add,
  update: (email, given) => Effect.andThen(inPath(email), changes(given)),
  delete: inPath,
  deleteMany: (filter) => sendableFilter(filter, "body"),
  import: (_, { encodingName, listName } = {}) => Effect.andThen(oneText(listName), oneText(encodingName)),
  export: ({ compressionFormat, fileFormat, fileName, filter } = {}, { idempotencyKey } = {}) =>
    Effect.all([
      oneText(fileName),
      checkIdempotencyKey(idempotencyKey),
      filter === undefined ? Effect.void : sendableFilter(filter, "query"),
      formats({ compressionFormat, fileFormat })
    ]),
  exportStatus: inPath,
  download: (link) => holds(/^https?:$/.test(URL.parse(link)?.protocol ?? ""))
}

const credentials = <Payload>(payload: (given: Payload) => Check) => ({
  list: (of: { readonly subaccount?: unknown } = {}) => subaccount(of.subaccount),
  get: (name: string, of: { readonly subaccount?: unknown } = {}) =>
    Effect.andThen(inPath(name), subaccount(of.subaccount)),
  create: (given: Payload) => Effect.andThen(holds(Predicate.isObject(given)), payload(given)),
  update: (name: string, given: Payload) =>
    Effect.all([inPath(name), holds(Predicate.isObject(given)), payload(given)]),
  delete: (name: string, of: { readonly subaccount?: unknown } = {}) =>
    Effect.andThen(inPath(name), subaccount(of.subaccount))
})

const apiKey = encodes(ApiKeyPayload)

/** The checks of the methods on API keys. */
export const apiKeys: Checks<CredentialsService["Service"]["apiKeys"]> = credentials((given) =>
  Effect.flatMap(readApiKeyPayload(given), apiKey)
)

/** The checks of the methods on SMTP credentials. */
export const smtp: Checks<CredentialsService["Service"]["smtp"]> = credentials(encodes(SmtpCredentialsPayload))

const message = encodes(EmailMessage)

/** The checks of the methods on messages. */
export const emails: Checks<EmailsService["Service"]> = {
  send: (given, { idempotencyKey } = {}) => Effect.andThen(checkIdempotencyKey(idempotencyKey), message(given))
}
