/**
 * The text of each documented refusal, which the server prints and the client parses. The status tells the kind of refusal,
 * the text which one it is.
 * (Service interface, Errors, 1, for the sender; docs/decisions/status-codes.md for the others.)
 */
import {
  ConflictingFilter,
  ContactNotFound,
  CredentialNotFound,
  ExceedsGrantor,
  ExportExpired,
  ExportNotFound,
  ImportRefused,
  InvalidInput,
  InvalidRule,
  LastManagingKey,
  ListNotFound,
  maximumContactsPerAdd,
  NameTaken,
  NotAllowedSender,
  StoreFailure,
  TooManyContacts,
  TooManyCredentials
} from "@roster/domain"

/** The errors that a caller can act on and that are sent over HTTP. */
export type Refusal =
  | ConflictingFilter
  | ContactNotFound
  | CredentialNotFound
  | ExportExpired
  | ExportNotFound
  | ImportRefused
  | InvalidInput
  | InvalidRule
  | LastManagingKey
  | ListNotFound
  | NameTaken
  | NotAllowedSender
  | TooManyContacts
  | TooManyCredentials

interface Text<E extends Refusal> {
  readonly status: 400 | 404 | 409
  readonly print: (error: E) => string
  /** Makes the error from the groups of the pattern. */
  readonly pattern: RegExp
  readonly read: (...parts: ReadonlyArray<string>) => E
}

type Texts = { readonly [Tag in Refusal["_tag"]]: Text<Extract<Refusal, { readonly _tag: Tag }>> }

const byMessage = <E extends Refusal>(status: Text<E>["status"], pattern: RegExp, read: Text<E>["read"]): Text<E> => ({
  status,
  print: (error) => error.message,
  pattern,
  read
})

/** The texts by tag. A pattern is looser than our text where a service is known to phrase it differently. */
export const refusalTexts: Texts = {
  TooManyContacts: byMessage(
    400,
    /^(\d+) contacts in one request, but at most (\d+) are allowed/,
    (count = "0", maximum = String(maximumContactsPerAdd)) =>
      new TooManyContacts({ count: Number(count), maximum: Number(maximum) })
  ),
  InvalidRule: {
    status: 400,
    print: ({ hint, position, problem }) =>
      `Invalid rule, at character ${position + 1}: ${problem}${hint === undefined ? "" : ` (hint: ${hint})`}`,
    pattern: /^Invalid rule, at character (\d+): (.*?)(?: \(hint: (.*)\))?$/s,
    read: (character = "1", problem = "", hint = "") =>
      new InvalidRule({
        rule: "",
        position: Number(character) - 1,
        length: 1,
        problem,
        expected: [],
        ...(hint === "" ? {} : { hint })
      })
  },
  ListNotFound: byMessage(400, /^There is no list "(.*)"\. Lists come/s, (name = "") => new ListNotFound({ name })),
  ImportRefused: byMessage(400, /^The import was refused: (.*)$/s, (reason = "") => new ImportRefused({ reason })),
  InvalidInput: byMessage(
    400,
    /^Invalid (\S+): (.*)$/s,
    (field = "", issue = "") => new InvalidInput({ field, issue })
  ),
  ContactNotFound: byMessage(404, /^There is no contact (.*)\.$/s, (email = "") => new ContactNotFound({ email })),
  CredentialNotFound: byMessage(
    404,
    /^There is no credential "(.*)"\.$/s,
    (name = "") => new CredentialNotFound({ name })
  ),
  ExportNotFound: byMessage(404, /^There is no export (\S+), or/, (id = "") => new ExportNotFound({ id })),
  ExportExpired: byMessage(404, /^Export (\S+) has expired/, (id = "") => new ExportExpired({ id })),
  NameTaken: byMessage(409, /^The name "(.*)" is taken\./s, (name = "") => new NameTaken({ name })),
  LastManagingKey: byMessage(
    409,
    /^The key "(.*)" is the last one that can manage keys,/s,
    (name = "") => new LastManagingKey({ name })
  ),
  TooManyCredentials: byMessage(
    409,
    /^This account holds (\d+) credentials of this kind already/,
    (maximum = "0") => new TooManyCredentials({ maximum: Number(maximum) })
  ),
  // These match anywhere in a text, so they come last: a list may have such a name.
  NotAllowedSender: byMessage(
    400,
    /from e-?mail address <?([^\s<>]+)>? is not allowed/i,
    (email = "") => new NotAllowedSender({ email })
  ),
  ConflictingFilter: byMessage(400, /either a rule or a list of e-?mails, not both/i, () => new ConflictingFilter({}))
}

/** Parses a refusal by its status and text; `undefined` for one without a tag of its own. */
export const readRefusal = (status: number, text: string): Refusal | undefined => {
  for (const entry of Object.values(refusalTexts)) {
    const match = entry.status === status ? entry.pattern.exec(text) : null
    if (match !== null) return entry.read(...match.slice(1))
  }
  return undefined
}

const exceedsExpiry = /^An API key gives no longer life than its own: Expires has to be (\S+) or earlier\./
const exceedsRanges =
  /^An API key opens no more addresses than its own: RestrictAccessToIPRange has to lie within (.+?)\. Give/

/** Parses the refusal of access that says how much a key can grant. */
export const readExceedsGrantor = (text: string): ExceedsGrantor | undefined => {
  const expiry = exceedsExpiry.exec(text)?.[1]
  if (expiry !== undefined) return new ExceedsGrantor({ field: "Expires", limit: expiry })
  const ranges = exceedsRanges.exec(text)?.[1]
  return ranges === undefined ? undefined : new ExceedsGrantor({ field: "RestrictAccessToIPRange", limit: ranges })
}

const storeFailed = /^The store failed: (.+)\. Nothing of this request was kept\.$/s

/** Parses the failure of a service that says what is wrong with its store. */
export const readStoreFailure = (text: string): StoreFailure | undefined => {
  const detail = storeFailed.exec(text)?.[1]
  return detail === undefined ? undefined : new StoreFailure({ detail })
}
