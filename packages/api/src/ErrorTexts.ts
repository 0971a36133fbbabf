/**
 * The text of each documented refusal: the server prints it, the client knows the error by it. The status says what kind
 * of refusal it is, the text which one.
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

/** Every error that a caller can act on and that the wire can carry. */
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
  /** Reads the error back. The parts are what the pattern caught. */
  readonly pattern: RegExp
  readonly read: (...parts: ReadonlyArray<string>) => E
}

type Texts = { readonly [Tag in Refusal["_tag"]]: Text<Extract<Refusal, { readonly _tag: Tag }>> }

/**
 * The texts by tag. A pattern is looser than what we print, where a service is known to say the same in other words.
 */
export const refusalTexts: Texts = {
  TooManyContacts: {
    status: 400,
    print: (error) => error.message,
    pattern: /^(\d+) contacts in one request, but at most (\d+) are allowed/,
    read: (count = "0", maximum = String(maximumContactsPerAdd)) =>
      new TooManyContacts({ count: Number(count), maximum: Number(maximum) })
  },
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
  ListNotFound: {
    status: 400,
    print: (error) => error.message,
    pattern: /^There is no list "(.*)"\. Lists come/s,
    read: (name = "") => new ListNotFound({ name })
  },
  ImportRefused: {
    status: 400,
    print: (error) => error.message,
    pattern: /^The import was refused: (.*)$/s,
    read: (reason = "") => new ImportRefused({ reason })
  },
  InvalidInput: {
    status: 400,
    print: (error) => error.message,
    pattern: /^Invalid (\S+): (.*)$/s,
    read: (field = "", issue = "") => new InvalidInput({ field, issue })
  },
  ContactNotFound: {
    status: 404,
    print: (error) => error.message,
    pattern: /^There is no contact (.*)\.$/s,
    read: (email = "") => new ContactNotFound({ email })
  },
  CredentialNotFound: {
    status: 404,
    print: (error) => error.message,
    pattern: /^There is no credential "(.*)"\.$/s,
    read: (name = "") => new CredentialNotFound({ name })
  },
  ExportNotFound: {
    status: 404,
    print: (error) => error.message,
    pattern: /^There is no export (\S+), or/,
    read: (id = "") => new ExportNotFound({ id })
  },
  ExportExpired: {
    status: 404,
    print: (error) => error.message,
    pattern: /^Export (\S+) has expired/,
    read: (id = "") => new ExportExpired({ id })
  },
  NameTaken: {
    status: 409,
    print: (error) => error.message,
    pattern: /^The name "(.*)" is taken\./s,
    read: (name = "") => new NameTaken({ name })
  },
  LastManagingKey: {
    status: 409,
    print: (error) => error.message,
    pattern: /^The key "(.*)" is the last one that can manage keys,/s,
    read: (name = "") => new LastManagingKey({ name })
  },
  TooManyCredentials: {
    status: 409,
    print: (error) => error.message,
    pattern: /^This account holds (\d+) credentials of this kind already/,
    read: (maximum = "0") => new TooManyCredentials({ maximum: Number(maximum) })
  },
  // Looked for anywhere in a text, so they come last: a list may be called "either a rule or a list of e-mails, not both".
  NotAllowedSender: {
    status: 400,
    print: (error) => error.message,
    pattern: /from e-?mail address <?([^\s<>]+)>? is not allowed/i,
    read: (email = "") => new NotAllowedSender({ email })
  },
  ConflictingFilter: {
    status: 400,
    print: (error) => error.message,
    pattern: /either a rule or a list of e-?mails, not both/i,
    read: () => new ConflictingFilter({})
  }
}

/** Knows a refusal by its status and text, or gives `undefined` for one that has no tag of its own. */
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

/** Knows by its text, among the refusals of access, the one that says how far a key can give. */
export const readExceedsGrantor = (text: string): ExceedsGrantor | undefined => {
  const expiry = exceedsExpiry.exec(text)?.[1]
  if (expiry !== undefined) return new ExceedsGrantor({ field: "Expires", limit: expiry })
  const ranges = exceedsRanges.exec(text)?.[1]
  return ranges === undefined ? undefined : new ExceedsGrantor({ field: "RestrictAccessToIPRange", limit: ranges })
}

const storeFailed = /^The store failed: (.+)\. Nothing of this request was kept\.$/s

/**
 * Knows by its text, among the failures of a service, the one that says what is wrong with its store.
 */
export const readStoreFailure = (text: string): StoreFailure | undefined => {
  const detail = storeFailed.exec(text)?.[1]
  return detail === undefined ? undefined : new StoreFailure({ detail })
}
